import type { Backup } from '@berth/sdk'

/** The newest that can be restored, when one was last proved by a trial restore, and what went wrong since. */
export function backupState(backups: Backup[]): { latest: string | null; proved: string | null; failed: string | null } {
  const newest = (times: (string | null)[]): string | null =>
    times.reduce((max, at) => (at !== null && (max === null || at > max) ? at : max), null)
  const latest = newest(backups.map(({ status, completedAt }) => (status === 'AVAILABLE' ? completedAt : null)))
  const failed = backups.find(
    ({ status, verification, createdAt }) => (status === 'FAILED' && (latest === null || createdAt > latest)) || verification === 'FAILED',
  )
  return { latest, proved: newest(backups.map(({ verifiedAt }) => verifiedAt)), failed: failed?.name ?? null }
}
