// Backups of the control plane itself in a backup target: the archive of `berthd backup`, stored as the disk of a VM would be, in a repository
// of its own. Its data key lies in the bucket, sealed by the master key: bucket and master key together restore a lost site.
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBandwidthLimit } from '../../backup-target/bandwidth.ts'
import { ensureDataKey, openDataKey, type DataKey } from '../../backup-target/data-key.ts'
import { bytesOf, extentsOf } from '../../backup-target/file-content.ts'
import type { ObjectStore } from '../../backup-target/object-store.ts'
import { BackupRepository, type BackupStored } from '../../backup-target/repository.ts'
import { addDuration, parseDurationMs, systemClock } from '../../kernel/clock.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Db, Queries } from '../../kernel/database/db.ts'
import { apiError, invalid } from '../../kernel/errors.ts'
import type { TargetRow } from '../backup-targets/service.ts'
import type { Deps } from '../deps.ts'
import { macOf, writeControlPlane } from './archive.ts'
import * as sql from './sql.ts'

export { EXCLUDED, KIND, macOf, writeControlPlane } from './archive.ts'
export { ownImagesOutside, type BackupStateRow } from './sql.ts'
export const listControlPlaneBackups = sql.listStates

/** Repositories of VMs have ids of another form. */
const REPOSITORY = { id: 'control-plane', vmId: 'control-plane' }
/** Longer than one takes. */
const CLAIM = '1h'
const DAY = '24h'
const RETRY = '1h'
const MAX_DAYS = 3_650

/** An operator should look at it from then on. */
const OVERDUE_MS = parseDurationMs('36h')
export const isOverdue = (row: sql.BackupStateRow, now: Date): boolean => row.keep_days !== null && ageMsOf(row, now) > OVERDUE_MS
export const ageMsOf = ({ done_at, created_at }: sql.BackupStateRow, now: Date): number => now.getTime() - (done_at ?? created_at).getTime()

export async function setControlPlaneDays(db: Queries, now: Date, targetId: string, keepDays: number | null): Promise<void> {
  if (keepDays !== null && !(Number.isInteger(keepDays) && keepDays >= 1 && keepDays <= MAX_DAYS))
    throw invalid(`controlPlaneDays must be a whole number from 1 to ${MAX_DAYS}`, 'controlPlaneDays')
  await sql.setKeepDays(db, now, targetId, keepDays)
}

export interface StoredControlPlane {
  id: string
  rows: number
  addedBytes: number
  /** Older ones that were removed. */
  removed: number
}

/** Makes one now. Fails while another process does. */
export async function backUpControlPlane(deps: Deps, target: TargetRow, signal: AbortSignal): Promise<StoredControlPlane> {
  const { db, clock } = deps
  const now = clock.now()
  const id = now.toISOString()
  const before = await sql.claim(db, now, addDuration(now, CLAIM), target.id, id)
  if (!before) throw apiError('busy', 'Another process is making a backup of the control plane in this target')
  try {
    const stored = await store(deps, target, id, before, signal)
    await sql.markDone(db, target.id, now, addDuration(now, DAY))
    return stored
  } catch (error) {
    await sql.markFailed(db, target.id, (error as Error).message, addDuration(clock.now(), RETRY))
    throw error
  }
}

async function store(
  { db, vault, clock, backupTargets }: Deps,
  target: TargetRow,
  id: string,
  { upload_id, keep_days }: sql.BackupStateRow,
  signal: AbortSignal,
): Promise<StoredControlPlane> {
  const { store: bucket, bandwidth } = await backupTargets.get(target)
  const dataKey = await ensureDataKey(bucket, vault, REPOSITORY, signal)
  const repository = new BackupRepository({ store: bucket, clock, bandwidth }, dataKey, REPOSITORY.id)
  if (upload_id !== null && !(await isStored(repository, upload_id, signal))) await repository.discard(upload_id, signal)
  const folder = await mkdtemp(join(tmpdir(), 'berth-backup-'))
  try {
    const file = join(folder, 'archive')
    const { rows } = await writeControlPlane(db, file, macOf(vault))
    const { size } = await stat(file)
    const request = { backupId: id, parentId: null, sizeBytes: size, extents: extentsOf(file), lockDays: target.lock_days }
    const { addedBytes } = await repository.upload(request, signal)
    return { id, rows, addedBytes, removed: await removeOld(repository, id, keep_days, signal) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** It was finished, but not noted. */
async function isStored(repository: BackupRepository, id: string, signal: AbortSignal): Promise<boolean> {
  for await (const { backupId } of repository.list(signal)) if (backupId === id) return true
  return false
}

async function removeOld(repository: BackupRepository, newest: string, keepDays: number | null, signal: AbortSignal): Promise<number> {
  if (keepDays === null) return 0
  const oldest = new Date(new Date(newest).getTime() - keepDays * parseDurationMs('1d')).toISOString()
  const old: string[] = []
  for await (const { backupId } of repository.list(signal)) if (backupId < oldest) old.push(backupId)
  const { lockedIds } = await repository.remove(old, signal)
  return old.length - lockedIds.length
}

/** Where only bucket and master key are left. */
export async function openControlPlaneBackups(bucket: ObjectStore, vault: Vault, signal: AbortSignal): Promise<BackupRepository> {
  const dataKey: DataKey = await openDataKey(bucket, vault, REPOSITORY.id, signal)
  return new BackupRepository({ store: bucket, clock: systemClock, bandwidth: createBandwidthLimit(null) }, dataKey, REPOSITORY.id)
}

/** Newest first. */
export const listStored = async (repository: BackupRepository, signal: AbortSignal): Promise<BackupStored[]> =>
  (await Array.fromAsync(repository.list(signal))).toSorted((a, b) => (a.backupId < b.backupId ? 1 : -1))

/** Writes the archive to a new file. */
export async function fetchArchive(repository: BackupRepository, id: string, file: string, signal: AbortSignal): Promise<void> {
  await pipeline(bytesOf(await repository.read(id, signal)), createWriteStream(file, { flags: 'wx', mode: 0o600 }))
}

export const dueTargets = async (db: Db, now: Date): Promise<string[]> => (await sql.dueStates(db, now)).map(({ target_id }) => target_id)
