// The customer of quickstart: an account with test credit, and a token stored in the data folder for the next run.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAccount, createToken, listAccounts } from '../../features/accounts/service.ts'
import { recordByOperator } from '../../features/audit-log/operator.ts'
import type { EventDeps } from '../../features/deps.ts'
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

export async function ensureCustomer(admin: Admin, email: string, address: string): Promise<Customer> {
  const path = join(admin.config.dataDir, 'quickstart.token')
  const kept = await readFile(path, 'utf8').catch(() => '')
  if (await belongsTo(address, kept.trim(), email)) return { token: kept.trim(), email, created: [] }
  const deps = await loadEventDeps(admin)
  const made = await admin.db.tx((tx) => createCustomer(tx, deps, admin, email))
  await writeFile(path, `${made.token}\n`, { mode: 0o600 })
  return { ...made, email }
}

async function belongsTo(address: string, token: string, email: string): Promise<boolean> {
  if (!token) return false
  const account = await apiAt(address, token)
    .get<{ email: string }>('/account')
    .catch(() => null) // revoked, or of another database
  return account?.email === email
}

async function createCustomer(tx: Tx, deps: EventDeps, { now, config }: Admin, email: string): Promise<Omit<Customer, 'email'>> {
  const created: string[] = []
  const known = (await listAccounts(tx)).find((each) => each.email.toLowerCase() === email.toLowerCase())
  const account = known ?? (await createAccount(tx, now, { email }))
  if (!known) {
    const { creditByOperator } = await import('../../features/wallet/adjustments.ts')
    const { currency } = config
    await creditByOperator(tx, deps, { accountId: account.id, amount: CREDIT, reason: 'Test credit', currency })
    created.push('account', `${formatCents(CREDIT)} ${currency} of test credit`)
  }
  const { id, token } = await createToken(tx, now, account.id, { name: 'quickstart', scopes: ['*'] })
  recordByOperator(tx, now, { accountId: account.id, action: 'quickstart', resourceIds: [account.id, id] })
  return { token, created: [...created, 'API key'] }
}
