import { scopesOf } from '../accounts/service.ts'
import type { BudgetView } from '../budgets/schema.ts'
import { toLimits, type Budget } from '../budgets/service.ts'
import type { Invitation, Member } from './schema.ts'
import type { InvitationRow, ShownMember } from './sql.ts'

const shared = (row: ShownMember) => ({
  id: row.user_id,
  email: row.email,
  name: row.name,
  role: row.role,
  scopes: [...scopesOf(row)],
  createdAt: row.created_at.toISOString(),
})

export const toMember = (row: ShownMember, budget: BudgetView | null): Member => ({
  ...shared(row),
  twoFactorEnabled: row.has_totp,
  inherited: row.is_inherited,
  budget,
})

export const toEventMember = (row: ShownMember, budget: Budget | null) => ({ ...shared(row), budget: budget && toLimits(budget) })

export const toInvitation = (row: InvitationRow, budget: Budget | null): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  scopes: [...scopesOf(row)],
  budget: budget && toLimits(budget),
  invitedBy: row.inviter_name,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
})
