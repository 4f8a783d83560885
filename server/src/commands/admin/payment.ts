import type { Command } from 'commander'
import { getAccount } from '../../features/accounts/service.ts'
import { recordByOperator } from '../../features/audit-log/operator.ts'
import { formatCents, parseCents } from '../../kernel/money.ts'
import { adminCommand, loadEventDeps, type Admin } from '../admin-command.ts'
import { table, type Result } from '../output.ts'

export function paymentCommands(program: Command): void {
  const payment = program.command('payment').description('customer deposits')
  adminCommand(
    payment
      .command('list')
      .description('list deposits, open ones first, then newest first')
      .option('--account <id or email>')
      .option('--unrecovered', 'only refunds and chargebacks that the wallet could not cover'),
    'payment list --unrecovered',
    list,
  )
  adminCommand(
    payment
      .command('confirm')
      .description('credit a deposit to its wallet after the money arrived (BERTH_PAYMENTS=manual)')
      .argument('<id>')
      .option('--amount <amount>', 'amount received, when it differs from the amount announced'),
    'payment confirm cabc123 --amount 25.00',
    confirm,
  )
}

async function list({ db }: Admin, { account, unrecovered }: { account?: string; unrecovered?: boolean }): Promise<Result> {
  const { listAllPayments } = await payments()
  const accountId = account === undefined ? null : (await getAccount(db, account)).id
  const rows = await listAllPayments(db, { accountId, onlyLosses: unrecovered ?? false })
  return table(
    rows.map((row) => ({
      id: row.id,
      account: row.email,
      provider: row.provider,
      status: row.status,
      amount: formatCents(row.received_cents ?? row.amount_cents),
      currency: row.currency,
      takenBack: formatCents(row.reversed_cents),
      lost: formatCents(row.lost_cents),
      createdAt: row.created_at.toISOString(),
    })),
    ['id', 'account', 'provider', 'status', 'amount', 'currency', 'takenBack', 'lost', 'createdAt'],
    unrecovered ? 'No unrecovered payments' : 'No deposits',
  )
}

async function confirm(admin: Admin, { amount }: { amount?: string }, id: string): Promise<Result> {
  const { db, config, now } = admin
  const deps = { ...(await loadEventDeps(admin)), config }
  const { confirmPayment } = await payments()
  const row = await db.tx(async (tx) => {
    const confirmed = await confirmPayment(tx, deps, id, amount === undefined ? null : parseCents(amount))
    recordByOperator(tx, now, { accountId: confirmed.account_id, action: 'payment confirm', resourceIds: [id] })
    return confirmed
  })
  const received = formatCents(row.received_cents ?? 0n)
  const data = { id, account: row.account_id, amount: received, currency: row.currency, transactionId: row.transaction_id }
  return { data, text: `${received} ${row.currency} were credited to the wallet of ${row.account_id}` }
}

/** Imported on demand: it loads the API schemas, which other commands do not need. */
const payments = () => import('../../features/payments/service.ts')
