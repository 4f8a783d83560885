// The buckets that backups of VMs go to, one for a region. Settings are stored only after they were tried.
import { ensureDataKey } from '../../backup-target/data-key.ts'
import { requireAccess } from '../../backup-target/probe.ts'
import { BackupRepository } from '../../backup-target/repository.ts'
import type { S3Store } from '../../backup-target/s3-store.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Db, Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { recountQuota } from '../accounts/service.ts'
import { getRegion } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { countShelvedDisksIn } from './shelved-disks.ts'
import * as sql from './sql.ts'

export type { RepositoryRow, TargetRow } from './sql.ts'
export {
  claimRepository,
  deleteRepository,
  findRepository,
  findTarget,
  findTargetOfRegion,
  listTargets,
  lockedByTarget,
  lockedOf,
  releaseRepository,
  restorableIn,
  scheduleSweep,
  scheduleSweepsOfVm,
  setLocked,
} from './sql.ts'
export {
  discardShelvedDisks,
  findShelvedDisk,
  forgetShelvedDisks,
  insertShelvedDisk,
  setShelvedChecksum,
  unwantedShelvedDisks,
  type ShelvedDiskRow,
} from './shelved-disks.ts'

/** Of snapshots and backups, and of what object lock keeps of deleted backups. */
export const COPIES_QUOTA = 'copies_gib'

export interface TargetInput {
  endpoint: string
  bucket: string
  prefix: string
  regionName: string
  accessKey: string
  secretKey: string
  bandwidthMib: number | null
  lockDays: number | null
}

interface TargetDeps {
  db: Db
  vault: Vault
  now: Date
}

export async function addTarget(
  { db, vault, now }: TargetDeps,
  region: string,
  input: TargetInput,
  signal: AbortSignal,
): Promise<sql.TargetRow> {
  const { id: regionId, slug } = await getRegion(db, region)
  const id = newId()
  const target: sql.TargetRow = { id, region_id: regionId, kind: 's3', ...toColumns(vault, id, input), created_at: now }
  if (await sql.findTargetOfRegion(db, regionId)) throw alreadyThere(slug)
  await tryTarget(vault, target, signal)
  await db.tx(async (tx) => {
    if ((await sql.insertTarget(tx, target)) === 0) throw alreadyThere(slug)
  })
  return target
}

const alreadyThere = (slug: string) =>
  apiError('already_exists', `Region ${slug} has a backup target already: change it with backup-target set`)

export async function changeTarget(
  { db, vault }: Omit<TargetDeps, 'now'>,
  region: string,
  change: Partial<TargetInput>,
  signal: AbortSignal,
): Promise<sql.TargetRow> {
  const row = await getTarget(db, region)
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<TargetInput>
  // A secret that another master key sealed can be replaced.
  const secretKey = given.secretKey ?? openSecret(vault, row)
  const changed = { ...row, ...toColumns(vault, row.id, { ...toInput(row), ...given, secretKey }) }
  await tryTarget(vault, changed, signal)
  await db.tx((tx) => sql.updateTarget(tx, changed))
  return changed
}

/** Refused while it has backups. Objects stay in the bucket. */
export async function removeTarget(db: Db, region: string): Promise<sql.TargetRow> {
  return db.tx(async (tx) => {
    const row = await getTarget(tx, region)
    const count = await sql.countBackupsIn(tx, row.id)
    if (count > 0)
      throw apiError(
        'in_use',
        `The backup target has ${count === 1 ? 'a backup' : `${count} backups`} of VMs: delete them first${row.lock_days === null ? '' : '. A deleted one stays until its lock ends'}`,
      )
    const shelved = await countShelvedDisksIn(tx, row.id)
    if (shelved > 0)
      throw apiError(
        'in_use',
        `The backup target has the ${shelved === 1 ? 'disk of a shelved VM: it' : `disks of ${shelved} shelved VMs: these`} must be unshelved or deleted first`,
      )
    for (const { account_id, gib } of await sql.deleteRepositoriesIn(tx, row.id))
      await recountQuota(tx, account_id, COPIES_QUOTA, BigInt(-gib))
    await sql.deleteTarget(tx, row.id)
    return row
  })
}

export async function getTarget(db: Queries, region: string): Promise<sql.TargetRow> {
  const row = await sql.findTargetOfRegion(db, (await getRegion(db, region)).id)
  if (!row) throw notFound('Backup target')
  return row
}

/** In the transaction that makes the VM's backup. */
export const ensureRepository = (tx: Tx, now: Date, targetId: string, vm: { id: string; account_id: string }) =>
  sql.ensureRepository(tx, { id: newId(), target_id: targetId, vm_id: vm.id, account_id: vm.account_id, created_at: now })

export interface OpenRepository {
  repository: BackupRepository
  lockDays: number | null
}

/** The backups of a VM in a target. */
export async function openRepository(deps: Deps, targetId: string, vmId: string, signal: AbortSignal): Promise<OpenRepository> {
  const { db, vault, clock, backupTargets } = deps
  const [target, row] = [await sql.findTarget(db, targetId), await sql.findRepository(db, targetId, vmId)]
  if (!target || !row) throw new Error(`BUG: VM ${vmId} has no repository in backup target ${targetId}`)
  const { store, bandwidth } = await backupTargets.get(target)
  const dataKey = await ensureDataKey(store, vault, { id: row.id, vmId }, signal)
  return { repository: new BackupRepository({ store, clock, bandwidth }, dataKey, row.id), lockDays: target.lock_days }
}

export async function openTarget(vault: Vault, row: sql.TargetRow): Promise<S3Store> {
  const { openS3Store } = await import('../../backup-target/s3-store.ts') // imported on demand: the client of AWS takes long to load
  return openS3Store({
    endpoint: row.endpoint,
    region: row.region_name,
    bucket: row.bucket,
    prefix: row.prefix,
    accessKeyId: row.access_key,
    secretAccessKey: openSecret(vault, row),
  })
}

/** Rejects where backups would fail. */
export async function tryTarget(vault: Vault, row: sql.TargetRow, signal: AbortSignal): Promise<void> {
  const store = await openTarget(vault, row)
  try {
    await requireAccess(store, { needsLock: row.lock_days !== null }, signal)
  } finally {
    store.close()
  }
}

const contextOf = (id: string): string => `backup target ${id}`

function openSecret(vault: Vault, { id, secret_key }: sql.TargetRow): string {
  try {
    return vault.open(secret_key, contextOf(id))
  } catch (error) {
    throw new Error(
      'The secret key of the backup target was sealed by another master key: give it again with backup-target set --secret-file',
      {
        cause: error,
      },
    )
  }
}

function toInput(row: sql.TargetRow): Omit<TargetInput, 'secretKey'> {
  return {
    endpoint: row.endpoint,
    bucket: row.bucket,
    prefix: row.prefix,
    regionName: row.region_name,
    accessKey: row.access_key,
    bandwidthMib: row.bandwidth_mib,
    lockDays: row.lock_days,
  }
}

const PRINTABLE = /^[\x21-\x7e]{1,256}$/
const MAX_LOCK_DAYS = 3_650

function toColumns(vault: Vault, id: string, input: TargetInput) {
  const url = URL.parse(input.endpoint)
  if (!url || !/^https?:$/.test(url.protocol) || url.origin !== input.endpoint.replace(/\/$/, ''))
    throw invalid('endpoint must be a URL without path, such as https://s3.example.com', 'endpoint')
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(input.bucket)) throw invalid(`"${input.bucket}" cannot be the name of a bucket`, 'bucket')
  if (!/^([\w.-]+\/)*$/.test(input.prefix) || input.prefix.length > 200)
    throw invalid('prefix must be names with a slash after each, such as berth/fra1/', 'prefix')
  for (const field of ['regionName', 'accessKey', 'secretKey'] as const)
    if (!PRINTABLE.test(input[field])) throw invalid(`${field} must be 1-256 printable characters without spaces`, field)
  requireWhole('bandwidthMib', input.bandwidthMib, 100_000)
  requireWhole('lockDays', input.lockDays, MAX_LOCK_DAYS)
  return {
    endpoint: url.origin,
    bucket: input.bucket,
    prefix: input.prefix,
    region_name: input.regionName,
    access_key: input.accessKey,
    secret_key: vault.seal(input.secretKey, contextOf(id)),
    bandwidth_mib: input.bandwidthMib,
    lock_days: input.lockDays,
  }
}

function requireWhole(field: string, value: number | null, most: number): void {
  if (value !== null && !(Number.isInteger(value) && value >= 1 && value <= most))
    throw invalid(`${field} must be a whole number from 1 to ${most}`, field)
}
