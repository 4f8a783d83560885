import { scopesOf } from '../accounts/service.ts'
import type { Invitation, Member } from './schema.ts'
import type { InvitationRow, ShownMember } from './sql.ts'

export const toMember = (row: ShownMember): Member => ({
  id: row.user_id,
  email: row.email,
  name: row.name,
  role: row.role,
  scopes: [...scopesOf(row)],
  twoFactorEnabled: row.has_totp,
  createdAt: row.created_at.toISOString(),
})

export const toInvitation = (row: InvitationRow): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  scopes: [...scopesOf(row)],
  invitedBy: row.inviter_name,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
})
