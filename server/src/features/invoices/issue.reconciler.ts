// Issues invoices one hour after the month ends, oldest first. The counter's row lock serialises concurrent processes.
import { subtractDuration } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import { reconciler, type Deps } from '../deps.ts'
import { sellerOf } from './service.ts'
import * as sql from './sql.ts'

const BATCH = 500
const SETTLE = '1h'

export const issueInvoices = reconciler('invoices.issue', '10m', async (deps) => {
  while ((await issueSome(deps)) > 0); // accounts may have several missed months
})

async function issueSome(deps: Deps): Promise<number> {
  const now = deps.clock.now()
  const until = monthOf(subtractDuration(now, SETTLE))
  if ((await sql.dueInvoices(deps.db, until, 1)).length === 0) return 0
  return deps.db.tx(async (tx) => {
    const last = await sql.lockCounter(tx)
    const due = await sql.dueInvoices(tx, until, BATCH)
    const common = { currency: deps.config.currency, seller: sellerOf(deps.config), issued_at: now }
    await Promise.all(due.map((each, i) => sql.insertInvoice(tx, { ...each, ...common, id: newId(), number: last + 1 + i })))
    await sql.setCounter(tx, last + due.length)
    return due.length
  })
}

const monthOf = (date: Date): Date => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth()))
