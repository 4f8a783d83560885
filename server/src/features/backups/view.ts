import type { ScreenshotRow } from './proofs.ts'
import type { Backup, BackupScreenshot } from './schema.ts'
import type { BackupRow } from './sql.ts'

const BESIDE_VM = 'It is kept on the host of its VM: if that host is lost, so is this backup'

export const toBackup = (row: BackupRow): Backup => ({
  id: row.id,
  vmId: row.vm_id,
  name: row.name,
  labels: row.labels,
  type: row.type,
  status: row.status,
  size: row.size_bytes.toString(),
  disk: row.disk_gib ?? row.vm_disk_gib,
  startedAt: row.started_at?.toISOString() ?? null,
  completedAt: row.completed_at?.toISOString() ?? null,
  expiresAt: row.expires_at?.toISOString() ?? null,
  error: row.error,
  consistency: row.consistency,
  warning: row.host_id !== null && row.host_id === row.vm_host_id && row.status !== 'FAILED' ? BESIDE_VM : null,
  verification: row.verification,
  verifiedAt: row.verified_at?.toISOString() ?? null,
  verificationError: row.verification_error,
  restoreSeconds: toTenths(row.restore_seconds),
  bootSeconds: toTenths(row.boot_seconds),
  hasScreenshot: row.has_screenshot,
  createdAt: row.created_at.toISOString(),
})

const toTenths = (seconds: number | null): number | null => (seconds === null ? null : Math.round(seconds * 10) / 10)

export const toScreenshot = ({ taken_at, png }: ScreenshotRow): BackupScreenshot => ({
  takenAt: taken_at.toISOString(),
  png: png.toString('base64'),
})
