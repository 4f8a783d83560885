// What was earned in a month, from the ledger, and what stands now.
import type { Queries } from '../../kernel/database/db.ts'
import { formatCents } from '../../kernel/money.ts'
import { TRANSACTION_TYPES, type TransactionType } from '../wallet/schema.ts'
import { showCapacity } from './fleet.ts'
import type { Revenue } from './revenue.schema.ts'
import * as sql from './revenue.sql.ts'

/** Every type of entry is decided here, or it does not compile. */
const KINDS: Record<TransactionType, 'charge' | 'refund' | 'deposit' | 'credit'> = {
  DEPOSIT: 'deposit',
  CREDIT: 'credit',
  ADJUSTMENT: 'credit',
  VM_CHARGE: 'charge',
  VM_RENEWAL: 'charge',
  VM_UPGRADE: 'charge',
  VM_UNSHELVE: 'charge',
  VM_REFUND: 'refund',
  BANDWIDTH_PACK: 'charge',
  ADDON_CHARGE: 'charge',
  ADDRESS_CHARGE: 'charge',
  ADDRESS_RENEWAL: 'charge',
  ADDRESS_REFUND: 'refund',
  IMAGE_CHARGE: 'charge',
  IMAGE_RENEWAL: 'charge',
  IMAGE_REFUND: 'refund',
  VOLUME_CHARGE: 'charge',
  VOLUME_UPGRADE: 'charge',
  VOLUME_RENEWAL: 'charge',
  VOLUME_REFUND: 'refund',
}
const EARNED = TRANSACTION_TYPES.filter((type) => ['charge', 'refund'].includes(KINDS[type]))

const TOP = 20

/** `month`: such as 2027-03, in UTC; the current one where none is given. */
export async function showRevenue(db: Queries, now: Date, currency: string, month = now.toISOString().slice(0, 7)): Promise<Revenue> {
  const from = new Date(`${month}-01T00:00:00Z`)
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1))
  const rows = await sql.revenueRows(db, from, to)
  const top = await sql.topAccounts(db, from, to, EARNED, TOP)
  const { balances, monthly, outstanding } = await sql.standing(db)
  const sumOf = (kind: (typeof KINDS)[TransactionType]): bigint =>
    rows.reduce((sum, { type, cents }) => (KINDS[type] === kind ? sum + cents : sum), 0n)
  const [charges, refunds] = [-sumOf('charge'), sumOf('refund')]
  return {
    month,
    currency,
    rows: rows.map(({ type, region, cents, count }) => ({ type, region, amount: formatCents(cents), count })),
    charges: formatCents(charges),
    refunds: formatCents(refunds),
    net: formatCents(charges - refunds),
    deposits: formatCents(sumOf('deposit')),
    credits: formatCents(sumOf('credit')),
    change: formatCents(rows.reduce((sum, { cents }) => sum + cents, 0n)),
    balances: formatCents(balances),
    monthly: formatCents(monthly),
    outstanding: formatCents(outstanding),
    topAccounts: top.map(({ account_id, email, cents }) => ({ accountId: account_id, email: email ?? '', net: formatCents(cents) })),
    capacity: await showCapacity(db, now),
  }
}
