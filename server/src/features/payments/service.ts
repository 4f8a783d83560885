// Deposits: customers add money to their wallets.
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { parseCents, type Cents } from '../../kernel/money.ts'
import { requirePayer } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import type { Checkout } from './provider.ts'
import type { Deposit } from './schema.ts'
import * as sql from './sql.ts'
import { toDeposit } from './view.ts'

export { confirmPayment, listAllPayments } from './operator.ts'

const LEAST = 100n
const MOST = 5_000_000n
const OPEN_PER_ACCOUNT = 10

export interface BegunDeposit {
  id: string
  amount: Cents
  provider: sql.PaymentRow['provider']
  checkout: Checkout
}

/** Calls the provider first, outside of a transaction: a checkout whose page no customer received cannot be paid. */
export async function beginDeposit({ db, config, payments }: Deps, accountId: string, text: string): Promise<BegunDeposit> {
  if (!payments) throw apiError('unavailable', 'Deposits are not open here: ask support how to put money into your wallet')
  const amount = parseCents(text)
  if (amount < LEAST || amount > MOST) throw invalid('amount must be from 1.00 to 50000.00', 'amount')
  await requireRoom(db, accountId)
  const { email } = await requirePayer(db, accountId)
  const id = newId()
  return { id, amount, provider: payments.name, checkout: await payments.createCheckout({ id, email, amount, currency: config.currency }) }
}

export async function recordDeposit(
  tx: Tx,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  accountId: string,
  { id, amount, provider, checkout }: BegunDeposit,
): Promise<Deposit> {
  await sql.lockDepositsOf(tx, accountId)
  await requireRoom(tx, accountId)
  const row = {
    id,
    account_id: accountId,
    provider,
    amount_cents: amount,
    currency: config.currency,
    session_id: checkout.sessionId,
    checkout_url: checkout.checkoutUrl,
    instructions: checkout.instructions,
    created_at: clock.now(),
  }
  return toDeposit(await sql.insertPayment(tx, row))
}

async function requireRoom(db: Queries, accountId: string): Promise<void> {
  if ((await sql.countOpen(db, accountId)) < OPEN_PER_ACCOUNT) return
  throw apiError(
    'quota_exceeded',
    `Quota exceeded: ${OPEN_PER_ACCOUNT} deposits of this account are not paid yet. Pay one of them, or wait until they expire`,
  )
}

export async function getDeposit(db: Queries, accountId: string, id: string): Promise<Deposit> {
  const row = await sql.findPayment(db, accountId, id)
  if (!row) throw notFound('Deposit')
  return toDeposit(row)
}

export async function listDeposits(db: Queries, accountId: string, page: PageRequest): Promise<Paged<Deposit>> {
  return pageOf(
    page,
    () => sql.countPayments(db, accountId),
    async (range) => (await sql.listPayments(db, accountId, range)).map(toDeposit),
  )
}
