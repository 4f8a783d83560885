import { VERSION } from '../../kernel/version.ts'
import type { Deps } from '../deps.ts'
import type { UserRow } from '../users/service.ts'
import type { Session, SessionEntry } from './schema.ts'
import type { SessionRow } from './sql.ts'

export const toSession = (
  { config, payments }: Pick<Deps, 'config' | 'payments'>,
  account: { id: string; name: string },
  person: UserRow,
  row: SessionRow,
): Session => ({
  user: {
    id: person.id,
    email: person.email,
    name: person.name,
    isOperator: person.is_operator,
    totpEnabled: person.totp_enabled_at !== null,
  },
  account: { id: account.id, name: account.name },
  settings: { signUpOpen: config.signUp === 'open', depositsOpen: payments !== null, currency: config.currency, version: VERSION },
  reauthenticatedAt: row.authenticated_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
})

export const toEntry = (row: SessionRow, currentId: string): SessionEntry => ({
  id: row.id,
  isCurrent: row.id === currentId,
  ip: row.ip,
  userAgent: row.user_agent,
  createdAt: row.created_at.toISOString(),
  lastSeenAt: row.last_seen_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
})
