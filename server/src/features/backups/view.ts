import type { Backup } from './schema.ts'
import type { BackupRow } from './sql.ts'

const BESIDE_VM = 'It is kept on the host of its VM: if that host is lost, so is this backup'

export const toBackup = (row: BackupRow): Backup => ({
  id: row.id,
  vmId: row.vm_id,
  name: row.name,
  type: row.type,
  status: row.status,
  size: row.size_bytes.toString(),
  startedAt: row.started_at?.toISOString() ?? null,
  completedAt: row.completed_at?.toISOString() ?? null,
  expiresAt: row.expires_at?.toISOString() ?? null,
  error: row.error,
  consistency: row.consistency,
  warning: row.host_id === row.vm_host_id && row.status !== 'FAILED' ? BESIDE_VM : null,
  createdAt: row.created_at.toISOString(),
})
