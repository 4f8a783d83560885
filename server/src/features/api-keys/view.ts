import type { TokenRow } from '../accounts/service.ts'
import type { ApiKey } from './schema.ts'

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

export const toApiKey = (row: TokenRow, now: Date): ApiKey => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  isActive: row.revoked_at === null && (row.expires_at === null || row.expires_at > now),
  expiresAt: iso(row.expires_at),
  revokedAt: iso(row.revoked_at),
  lastUsedAt: iso(row.last_used_at),
  lastUsedFrom: row.last_used_ip,
  allowedIps: row.allowed_ips,
  createdAt: row.created_at.toISOString(),
})
