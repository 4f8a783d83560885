import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { formatCents, type Cents } from '../../kernel/money.ts'
import type { Deps } from '../deps.ts'
import type { PRICE_PARTS, ReferenceType, TransactionType } from './schema.ts'
import type { NewTransaction, TransactionRow } from './sql.ts'

/** A ledger entry without its amount. The reference names what caused it. */
export interface Entry {
  type: TransactionType
  description: string
  referenceType: ReferenceType
  referenceId: string
  /** What the price was made of. */
  parts?: PricePart[] | undefined
}

export interface PricePart {
  part: (typeof PRICE_PARTS)[number]
  /** Negative: it costs so much less. */
  cents: Cents
}

function partsOf(amount: Cents, parts: PricePart[]) {
  if (parts.reduce((sum, { cents }) => sum + cents, 0n) !== -amount)
    throw new Error(`BUG: the parts of a price do not make up its ${formatCents(-amount)}`)
  return parts.map(({ part, cents }) => ({ part, cents: cents.toString() }))
}

/** Call it after money has come in, or when an account may spend again. */
export async function notifyCredited(tx: Tx, { hooks }: Pick<Deps, 'hooks'>): Promise<void> {
  for (const hook of hooks.onCredit) await hook(tx)
}

export const toRow = (now: Date, accountId: string, amount: Cents, entry: Entry): NewTransaction => ({
  id: newId(),
  account_id: accountId,
  type: entry.type,
  amount_cents: amount,
  description: entry.description,
  reference_type: entry.referenceType,
  reference_id: entry.referenceId,
  created_at: now,
  price_parts: entry.parts ? partsOf(amount, entry.parts) : null,
})

export function requireEntry(row: TransactionRow | undefined): TransactionRow {
  if (!row) throw new Error('BUG: money was added and no entry was written')
  return row
}
