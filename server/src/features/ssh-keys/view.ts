import type { SshKey } from './schema.ts'
import type { CountedRow } from './sql.ts'

export const toSshKey = (row: CountedRow): SshKey => ({
  id: row.id,
  name: row.name,
  labels: row.labels,
  type: row.type,
  fingerprint: row.fingerprint,
  publicKey: row.public_key,
  vmCount: row.vm_count,
  createdAt: row.created_at.toISOString(),
})
