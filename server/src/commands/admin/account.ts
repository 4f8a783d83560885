import type { Command } from 'commander'
import { createAccount, listAccounts, listQuotas, requirePayer, setQuotaLimit } from '../../features/accounts/service.ts'
import { fieldChanges, recordByOperator } from '../../features/audit-log/operator.ts'
import { hasOperator, issueWelcomeLink } from '../../features/users/service.ts'
import { invalid, apiError } from '../../kernel/errors.ts'
import { formatCents, parseCents } from '../../kernel/money.ts'
import { adminCommand, loadEventDeps, type Admin } from '../admin-command.ts'
import { table, type Result } from '../output.ts'
import { dashboardUrl } from '../dashboard-url.ts'

export function ownerCommands(program: Command): void {
  const owner = program.command('owner').description('the first operator')
  adminCommand(
    owner.command('invite').description('print the one-time link with which the owner signs in first, valid for 15 minutes'),
    'owner invite',
    invite,
  )
}

export function accountCommands(program: Command): void {
  const account = program.command('account').description('customer accounts, balances and limits')
  adminCommand(
    account.command('create').description('create an account').requiredOption('--email <address>').option('--name <name>'),
    'account create --email you@example.com --name "Ada Lovelace"',
    create,
  )
  adminCommand(account.command('list').description('list accounts with their balance'), 'account list', list)
  adminCommand(
    account
      .command('credit')
      .description('add funds to a wallet')
      .requiredOption('--account <id or email>')
      .requiredOption('--amount <amount>', 'such as 100.00')
      .option('--reason <text>', 'what the customer reads in the ledger', 'Credit'),
    'account credit --account you@example.com --amount 100.00 --reason "Welcome"',
    change('creditByOperator'),
  )
  adminCommand(
    account
      .command('adjust')
      .description('adjust a balance; a negative amount debits at most what is there')
      .requiredOption('--account <id or email>')
      .requiredOption('--amount <amount>', 'such as 12.50 or -12.50')
      .requiredOption('--reason <text>', 'what the customer reads in the ledger'),
    'account adjust --account you@example.com --amount -12.50 --reason "Credited twice on 3 May"',
    change('adjustByOperator'),
  )
  adminCommand(
    account
      .command('limit')
      .description('change how many of a thing an account may hold')
      .requiredOption('--account <id or email>')
      .requiredOption('--name <limit>', 'such as vms, vcpu or ssh_keys')
      .requiredOption('--value <number>', 'or "default" for the catalog\'s'),
    'account limit --account you@example.com --name vms --value 50',
    limit,
  )
}

async function create({ db, now }: Admin, input: { email: string; name?: string }): Promise<Result> {
  const { id, email, name, created_at } = await db.tx(async (tx) => {
    const account = await createAccount(tx, now, input)
    recordByOperator(tx, now, { accountId: account.id, action: 'account create', resourceIds: [account.id] })
    return account
  })
  return { data: { id, email, name, createdAt: created_at }, text: `Account ${email} is ${id}` }
}

async function invite({ db, config, now }: Admin): Promise<Result> {
  if (await hasOperator(db))
    throw apiError(
      'already_exists',
      'The owner already exists. For another user: npx berthd user link; for a lost second factor: npx berthd user set',
    )
  const link = await issueWelcomeLink(db, now, dashboardUrl(config))
  return { data: link, text: `${link.url}\nIt works once, until ${link.expiresAt.toISOString()}` }
}

async function list({ db, config }: Admin): Promise<Result> {
  const { listBalances } = await wallet()
  const balances = await listBalances(db)
  const accounts = await listAccounts(db)
  const emails = new Map(accounts.map(({ id, email }) => [id, email]))
  const rows = accounts.map(({ id, email, name, payer_account_id: payer, created_at }) => ({
    id,
    email: email ?? emails.get(payer!) ?? null,
    name,
    paidBy: payer,
    balance: payer === null ? formatCents(balances.get(id) ?? 0n) : null,
    currency: config.currency,
    createdAt: created_at.toISOString(),
  }))
  return table(
    rows,
    ['id', 'email', 'name', 'paidBy', 'balance', 'currency', 'createdAt'],
    'There is no account yet: npx berthd account create --help',
  )
}

type Change = 'creditByOperator' | 'adjustByOperator'

const change =
  (how: Change) =>
  async (admin: Admin, input: { account: string; amount: string; reason: string }): Promise<Result> => {
    const amount = parseCents(input.amount)
    const { db, config, now } = admin
    const { currency } = config
    const deps = await loadEventDeps(admin)
    const corrections = await import('../../features/wallet/adjustments.ts')
    const { account, entry } = await db.tx(async (tx) => {
      const found = await requirePayer(tx, input.account)
      const written = await corrections[how](tx, deps, { accountId: found.id, amount, reason: input.reason, currency })
      const action = how === 'creditByOperator' ? 'account credit' : 'account adjust'
      recordByOperator(tx, now, { accountId: found.id, action, resourceIds: [written.id] })
      return { account: found, entry: written }
    })
    const balance = formatCents(entry.balance_after_cents)
    const data = { account: account.id, email: account.email, amount: formatCents(amount), balance, currency, transactionId: entry.id }
    return { data, text: `${account.email} has ${balance} ${currency}` }
  }

async function limit({ db, now }: Admin, input: { account: string; name: string; value: string }): Promise<Result> {
  if (!/^(\d{1,15}|default)$/.test(input.value)) throw invalid(`--value must be a whole number or "default", not "${input.value}"`)
  return db.tx(async (tx) => {
    const account = await requirePayer(tx, input.account)
    const quotas = await listQuotas(tx, account.id)
    const names = quotas.map(({ name }) => name)
    const before = quotas.find(({ name }) => name === input.name)
    if (!before) throw invalid(`there is no limit named "${input.name}". The limits are: ${names.join(', ')}`)
    await setQuotaLimit(tx, account.id, input.name, input.value === 'default' ? null : BigInt(input.value))
    const quota = (await listQuotas(tx, account.id)).find(({ name }) => name === input.name)!
    const changes = fieldChanges({ [quota.name]: null }, { [quota.name]: before.limit }, { [quota.name]: quota.limit })
    recordByOperator(tx, now, { accountId: account.id, action: 'account limit', resourceIds: [account.id], changes })
    const used = quota.used === null ? null : Number(quota.used)
    const data = { account: account.id, email: account.email, name: quota.name, limit: Number(quota.limit), used }
    return { data, text: `${account.email} may hold ${data.limit} ${data.name}${used === null ? '' : ` and holds ${used}`}` }
  })
}

/** Imported on demand: it loads the API schemas, which other commands do not need. */
const wallet = () => import('../../features/wallet/service.ts')
