import { formatCents } from '../../kernel/money.ts'
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { reconciler, type Deps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { FORECAST } from './service.ts'
import * as sql from './sql.ts'

/** Warns an account, at most once a day, when its balance does not cover the renewals due within a week. */
export const lowBalance = reconciler('billing.low_balance', '10m', async (deps) => {
  const now = deps.clock.now()
  const toldBefore = subtractDuration(now, '24h')
  for (const account of await sql.lowBalanceAccounts(deps.db, addDuration(now, FORECAST), toldBefore))
    await warn(deps, now, toldBefore, account)
})

const warn = (deps: Deps, now: Date, toldBefore: Date, { account_id, balance_cents, due_cents }: sql.ShortAccount) =>
  deps.db.tx(async (tx) => {
    if (!(await sql.markWarned(tx, now, account_id, toldBefore))) return
    const wallet = { balance: formatCents(balance_cents), currency: deps.config.currency }
    const data = { transaction: null, wallet, dueNext7Days: formatCents(due_cents) }
    await recordEvent(tx, deps, { accountId: account_id, type: 'billing.low_balance', data })
  })
