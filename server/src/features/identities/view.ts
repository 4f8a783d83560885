import type { Identity } from './schema.ts'
import type { ListedIdentity } from './sql.ts'

export const toIdentity = ({ id, name, title, label, created_at, last_used_at }: ListedIdentity): Identity => ({
  id,
  provider: { name, title },
  label,
  createdAt: created_at.toISOString(),
  lastUsedAt: last_used_at.toISOString(),
})
