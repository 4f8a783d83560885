import type { BudgetView } from '../budgets/schema.ts'
import type { Account, AccountLimit } from './schema.ts'
import type { AccountRow, QuotaRow } from './sql.ts'

export const toAccount = (row: AccountRow, budget: BudgetView | null): Account => ({
  id: row.id,
  email: row.email,
  name: row.name,
  isProject: row.payer_account_id !== null,
  requireTwoFactor: row.requires_totp,
  budget,
  createdAt: row.created_at.toISOString(),
})

export const toLimit = ({ name, limit, used }: QuotaRow): AccountLimit => ({
  name: wireName(name),
  limit: Number(limit),
  used: used === null ? null : Number(used),
})

/** Maps `ram_mib` to `ram` and `ssh_keys` to `sshKeys`, the names used elsewhere in the API. */
const wireName = (name: string): string => name.replace(/_[mg]ib$/, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
