import type { Snapshot } from './schema.ts'
import type { SnapshotRow } from './sql.ts'

export const toSnapshot = (row: SnapshotRow): Snapshot => ({
  id: row.id,
  vmId: row.vm_id,
  name: row.name,
  description: row.description,
  labels: row.labels,
  status: row.status,
  size: row.size_bytes.toString(),
  sizeRefreshedAt: row.size_refreshed_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
})
