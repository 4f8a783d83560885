// The customer of quickstart: an account with test credit, and a token stored in the data folder for the next run.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAccount, createToken, findAccount, requirePayer } from '../../features/accounts/service.ts'
import { recordByOperator } from '../../features/audit-log/operator.ts'
import type { EventDeps } from '../../features/deps.ts'
import { listUsers, QUICKSTART_EMAIL } from '../../features/users/service.ts'
import { balanceOf } from '../../features/wallet/service.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { formatCents, parseCents } from '../../kernel/money.ts'
import { loadEventDeps, type Admin } from '../admin-command.ts'
import { apiAt } from './api-client.ts'

const CREDIT = parseCents('100.00')

export interface Customer {
  token: string
  email: string
  /** What this run created. */
  created: string[]
}

/** Without `email`: the account of the stored token, else the owner's, else one that the owner takes over. */
export async function ensureCustomer(admin: Admin, email: string | undefined, address: string): Promise<Customer> {
  const path = join(admin.config.dataDir, 'quickstart.token')
  const kept = (await readFile(path, 'utf8').catch(() => '')).trim()
  const keptEmail = await emailOf(address, kept)
  if (keptEmail && (email === undefined || keptEmail === email)) return { token: kept, email: keptEmail, created: [] }
  const deps = await loadEventDeps(admin)
  const made = await admin.db.tx((tx) => createCustomer(tx, deps, admin, email))
  await writeFile(path, `${made.token}\n`, { mode: 0o600 })
  return made
}

async function emailOf(address: string, token: string): Promise<string | null> {
  if (!token) return null
  const account = await apiAt(address, token)
    .get<{ email: string }>('/account')
    .catch(() => null) // revoked, or of another database
  return account?.email ?? null
}

async function createCustomer(tx: Tx, deps: EventDeps, { now, config }: Admin, email: string | undefined): Promise<Customer> {
  const created: string[] = []
  const owner = email === undefined ? (await listUsers(tx, null)).find(({ is_operator }) => is_operator) : undefined
  const known = await findAccount(tx, owner?.account_id ?? email ?? QUICKSTART_EMAIL)
  const account = known ? await requirePayer(tx, known.id) : await createAccount(tx, now, { email: email ?? QUICKSTART_EMAIL })
  if (!known) created.push('account')
  if (!known || (owner && (await balanceOf(tx, account.id)) === 0n)) {
    const { creditByOperator } = await import('../../features/wallet/adjustments.ts')
    const { currency } = config
    await creditByOperator(tx, deps, { accountId: account.id, amount: CREDIT, reason: 'Test credit', currency })
    created.push(`${formatCents(CREDIT)} ${currency} of test credit`)
  }
  const { id, token } = await createToken(tx, now, account.id, { name: 'quickstart', scopes: ['*'] })
  recordByOperator(tx, now, { accountId: account.id, action: 'quickstart', resourceIds: [account.id, id] })
  return { token, email: account.email, created: [...created, 'API key'] }
}
