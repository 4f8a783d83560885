import type { VolumeSnapshot } from './schema.ts'
import type { VolumeSnapshotRow } from './sql.ts'

export const toVolumeSnapshot = (row: VolumeSnapshotRow): VolumeSnapshot => ({
  id: row.id,
  volumeId: row.volume_id,
  name: row.name,
  description: row.description,
  labels: row.labels,
  status: row.status,
  size: row.size_bytes.toString(),
  sizeRefreshedAt: row.size_refreshed_at?.toISOString() ?? null,
  volumeSizeGiB: row.size_gib,
  createdAt: row.created_at.toISOString(),
})
