// Accounts and their VMs for operators. Operator actions appear in the customer's audit log.
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { formatCents, parseCents } from '../../kernel/money.ts'
import { createAccount, listQuotas, requirePayer, SCOPES, setQuotaLimit, setSuspended } from '../accounts/service.ts'
import type { AuditEntry, AuditFilter } from '../audit-log/schema.ts'
import { fieldChanges, listAuditLog, recordByOperator } from '../audit-log/service.ts'
import type { Deps } from '../deps.ts'
import { listVisits } from '../sessions/service.ts'
import { issuePasswordLink, listUsers, ensureUser } from '../users/service.ts'
import { unsuspendAccountVms, suspendAccountVms, type SuspensionOutcome } from '../vms/service.ts'
import type { Transaction } from '../wallet/schema.ts'
import { listTransactions, notifyCredited } from '../wallet/service.ts'
import { adjustByOperator, creditByOperator } from '../wallet/adjustments.ts'
import type { AccountDetails, AccountSuspended, CreateAccount, MoneyOrder, OperatorAccount, OperatorVm, Visit } from './customers.schema.ts'
import * as sql from './sql.ts'
import { toAccount, toLimit, toUser, toVisit, toVm } from './view.ts'

/** Lifetime of an invite link. */
const LINK_LIFE = '24h'

type Place = Pick<Deps, 'clock' | 'config' | 'hooks'>

export async function showAccounts(db: Queries, currency: string, text: string, page: PageRequest): Promise<Paged<OperatorAccount>> {
  return pageOf(
    page,
    () => sql.countAccounts(db, text),
    async (range) => (await sql.listAccounts(db, text, range)).map((row) => toAccount(row, currency)),
  )
}

async function requireAccount(db: Queries, id: string): Promise<sql.AccountRow> {
  const row = await sql.findAccount(db, id)
  if (!row) throw notFound('Account')
  return row
}

export async function showAccount(db: Queries, currency: string, id: string): Promise<AccountDetails> {
  const account = toAccount(await requireAccount(db, id), currency)
  const [limits, users] = [await listQuotas(db, id), await listUsers(db, id)]
  return { ...account, limits: limits.map(toLimit), users: users.map(toUser) }
}

export async function makeAccount(tx: Tx, { clock, config }: Place, input: CreateAccount): Promise<OperatorAccount> {
  const now = clock.now()
  const { id } = await createAccount(tx, now, input)
  recordByOperator(tx, now, { accountId: id, action: 'account create', resourceIds: [id] })
  return toAccount(await requireAccount(tx, id), config.currency)
}

const WAYS = { credit: creditByOperator, adjust: adjustByOperator }

export async function adjustBalance(tx: Tx, deps: Place, way: keyof typeof WAYS, id: string, order: MoneyOrder) {
  const now = deps.clock.now()
  const { currency } = deps.config
  await requirePayer(tx, id)
  const amount = parseCents(order.amount)
  const written = await WAYS[way](tx, deps, { accountId: id, amount, reason: order.reason, currency })
  recordByOperator(tx, now, { accountId: id, action: `account ${way}`, resourceIds: [written.id] })
  return { transactionId: written.id, amount: formatCents(amount), balance: formatCents(written.balance_after_cents), currency }
}

export async function changeLimit(tx: Tx, now: Date, id: string, name: string, limit: number | null) {
  await requirePayer(tx, id)
  const quotas = await listQuotas(tx, id)
  const names = quotas.map((quota) => quota.name)
  const before = quotas.find((quota) => quota.name === name)
  if (!before) throw invalid(`there is no limit named "${name}". The limits are: ${names.join(', ')}`, 'name')
  await setQuotaLimit(tx, id, name, limit === null ? null : BigInt(limit))
  const after = await listQuotas(tx, id)
  const changes = fieldChanges({ [name]: limit }, { [name]: before.limit }, { [name]: after.find((quota) => quota.name === name)!.limit })
  recordByOperator(tx, now, { accountId: id, action: 'account limit', resourceIds: [id], changes })
  return after.map(toLimit)
}

/** For a customer without a password, or one who lost it where no email is configured. */
export async function createInviteLink(tx: Tx, now: Date, id: string, dashboard: URL): Promise<{ url: string; expiresAt: string }> {
  const person = await ensureUser(tx, now, await requirePayer(tx, id))
  recordByOperator(tx, now, { accountId: id, action: 'person link', resourceIds: [person.id] })
  const { url, expiresAt } = await issuePasswordLink(tx, now, person.id, dashboard.href.replace(/\/$/, ''), LINK_LIFE)
  return { url, expiresAt: expiresAt.toISOString() }
}

/** Stops all VMs and blocks new ones. Returns the busy VMs, which are suspended when their actions end. */
export async function suspendAccount(tx: Tx, deps: Deps, id: string, reason: string): Promise<AccountSuspended> {
  const now = deps.clock.now()
  await setSuspended(tx, id, now, reason)
  recordByOperator(tx, now, { accountId: id, action: 'account suspend', resourceIds: [id] })
  return showOutcome(tx, deps, id, await suspendAccountVms(tx, deps, id))
}

/** Includes VMs that were suspended individually. Unpaid VMs are resumed by the renewal reconciler if the balance suffices. */
export async function unsuspendAccount(tx: Tx, deps: Deps, id: string): Promise<AccountSuspended> {
  await setSuspended(tx, id, null, null)
  recordByOperator(tx, deps.clock.now(), { accountId: id, action: 'account unsuspend', resourceIds: [id] })
  const outcome = await unsuspendAccountVms(tx, deps, id)
  await notifyCredited(tx, deps)
  return showOutcome(tx, deps, id, outcome)
}

async function showOutcome(tx: Tx, { config }: Place, id: string, { actionIds, skipped }: SuspensionOutcome): Promise<AccountSuspended> {
  return { account: toAccount(await requireAccount(tx, id), config.currency), actionIds, skipped }
}

export async function showVms(db: Queries, filter: sql.VmFilter, page: PageRequest): Promise<Paged<OperatorVm>> {
  return pageOf(
    page,
    () => sql.countVms(db, filter),
    async (range) => (await sql.listVms(db, filter, range)).map(toVm),
  )
}

export async function showTransactions(db: Queries, id: string, page: PageRequest): Promise<Paged<Transaction>> {
  const account = await sql.findAccount(db, id)
  if (!account) throw notFound('Account')
  const payerId = account.payer_account_id ?? account.id
  return listTransactions(db, { accountId: payerId, payerId }, {}, page)
}

export async function showAuditLog(db: Queries, id: string, filter: AuditFilter, page: PageRequest): Promise<Paged<AuditEntry>> {
  const account = await sql.findAccount(db, id)
  if (!account) throw notFound('Account')
  return listAuditLog(db, { accountId: account.id, scopes: new Set(SCOPES) }, filter, page)
}

export async function showVisits(db: Queries, now: Date, accountId: string): Promise<Visit[]> {
  if (!(await sql.findAccount(db, accountId))) throw notFound('Account')
  return (await listVisits(db, accountId)).map((row) => toVisit(row, now))
}
