import type { TokenRow } from '../accounts/service.ts'
import { toLimits, type Budget } from '../budgets/service.ts'
import type { BudgetView } from '../budgets/schema.ts'
import type { EventToken, Token } from './schema.ts'

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

const shared = (row: TokenRow, now: Date) => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  isActive: row.revoked_at === null && (row.expires_at === null || row.expires_at > now),
  expiresAt: iso(row.expires_at),
  revokedAt: iso(row.revoked_at),
  allowedIps: row.allowed_ips,
  requestsPerMinute: row.requests_per_minute,
  parentId: row.ancestor_ids.at(-1) ?? null,
  createdAt: row.created_at.toISOString(),
})

export const toEventToken = (row: TokenRow, now: Date, budget: Budget | undefined): EventToken => ({
  ...shared(row, now),
  budget: budget ? toLimits(budget) : null,
})

export const toToken = (row: TokenRow, now: Date, budget: BudgetView | undefined): Token => ({
  ...shared(row, now),
  budget: budget ?? null,
  lastUsedAt: iso(row.last_used_at),
  lastUsedIp: row.last_used_ip,
})
