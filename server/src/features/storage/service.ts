// Storage backends: pools of Ceph that hold disks apart from hosts. Operators add them; Berth watches how much can be written to them, and
// books what it sells of them. Simulated ones hold the disks of simulated hosts.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GIB } from '../../hypervisor/driver.ts'
import { accessFolder, type RbdBackend } from '../../hypervisor/rbd/access.ts'
import { openRbdPool, type RbdPool } from '../../hypervisor/rbd/pool.ts'
import { openSimulatedPool } from '../../hypervisor/simulated/pool.ts'
import type { PoolSpace, StoragePool } from '../../hypervisor/storage-pool.ts'
import type { StorageSource } from '../../hypervisor/storage-source.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Db, Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { noCapacityError } from '../../kernel/no-capacity.ts'
import { getRegion, type RegionRow } from '../catalog/service.ts'
import * as sql from './sql.ts'
import { counted } from '../../kernel/counted.ts'

export { backendsOfHost } from './sql.ts'
export type { StorageBackendRow } from './sql.ts'
export const listStorageBackends = sql.listBackends

export async function getStorageBackend(db: Queries, idOrName: string): Promise<sql.StorageBackendRow> {
  const row = await sql.findBackend(db, idOrName)
  if (!row) throw notFound('Storage backend')
  return row
}

/** What an operator says of a pool. */
export interface StorageBackendInput {
  monitors: string[]
  user: string
  /** As Ceph prints it, in base64. */
  key: string
  reservePercent: number
}

export interface NewStorageBackend extends StorageBackendInput {
  name: string
  region: string
  pool: string
}

/** Rejects what `checkAccess` rejects, before anything is written. */
type CheckAccess = (backend: RbdBackend) => Promise<unknown>

export async function addStorageBackend(
  db: Db,
  vault: Vault,
  now: Date,
  { name, region, pool, ...input }: NewStorageBackend,
  checkAccess: CheckAccess,
): Promise<sql.StorageBackendRow> {
  requireName(name)
  if (!/^[A-Za-z0-9][\w.-]{0,127}$/.test(pool)) throw invalid('pool must be the name of a pool of Ceph', 'pool')
  const { monitors, user, key, reservePercent } = checked(input)
  const { id: regionId } = await getRegion(db, region)
  if (await sql.findBackend(db, name)) throw taken(name)
  const id = newId()
  await checkAccess({ id, monitors, pool, user, key })
  const row = { id, region_id: regionId, name, monitors, pool, user_name: user, reserve_percent: reservePercent, created_at: now }
  return db.tx((tx) => insert(tx, { ...row, kind: 'RBD', sealed_key: vault.seal(key, contextOf(id)) }))
}

/** For demos and tests: of a region whose hosts are simulated. */
export async function addSimulatedStorage(
  tx: Tx,
  now: Date,
  { name, region, sizeGiB, reservePercent }: { name: string; region: string; sizeGiB: number; reservePercent: number },
): Promise<sql.StorageBackendRow> {
  requireName(name)
  requirePercent(reservePercent)
  const { id: regionId, network_controller } = await getRegion(tx, region)
  if (network_controller !== null) throw apiError('incompatible', `The hosts of ${region} are real: they need a pool of Ceph`)
  const row = { id: newId(), region_id: regionId, name, reserve_percent: reservePercent, created_at: now }
  const nothing = { monitors: [simulatedUri(sizeGiB)], pool: name, user_name: name, sealed_key: Buffer.alloc(0) }
  const added = await insert(tx, { ...row, ...nothing, kind: 'SIMULATED' })
  await sql.recordSpace(tx, added.id, now, { capacityGiB: sizeGiB, freeGiB: sizeGiB })
  return getStorageBackend(tx, added.id)
}

const simulatedUri = (sizeGiB: number): string => `simulated:///?diskGiB=${sizeGiB}`
const simulatedSize = ([uri]: string[]): number => Number(new URL(uri!).searchParams.get('diskGiB'))

async function insert(tx: Tx, row: Parameters<typeof sql.insertBackend>[1]): Promise<sql.StorageBackendRow> {
  if ((await sql.insertBackend(tx, row)) === 0) throw taken(row.name)
  return getStorageBackend(tx, row.id)
}

const taken = (name: string) => apiError('already_exists', `There is a storage backend ${name} already`)

function requireName(name: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) throw invalid('name must be 1-63 lower-case letters, digits or hyphens', 'name')
}

function requirePercent(reservePercent: number): void {
  if (!Number.isInteger(reservePercent) || reservePercent < 0 || reservePercent > 90)
    throw invalid('reserve must be between 0 and 90 percent', 'reserve')
}

/** The pool and the region stay: the images are there. */
export async function changeStorageBackend(
  db: Db,
  vault: Vault,
  idOrName: string,
  change: Partial<StorageBackendInput>,
  checkAccess: CheckAccess,
): Promise<sql.StorageBackendRow> {
  const row = await getStorageBackend(db, idOrName)
  if (row.kind === 'SIMULATED') throw apiError('incompatible', `Storage backend ${row.name} is simulated: there is nothing to change`)
  const changed = checked({
    monitors: change.monitors ?? row.monitors,
    user: change.user ?? row.user_name,
    key: change.key ?? toBackend(vault, row).key,
    reservePercent: change.reservePercent ?? row.reserve_percent,
  })
  const { monitors, user, key } = changed
  await checkAccess({ id: row.id, monitors, pool: row.pool, user, key })
  return db.tx(async (tx) => {
    await sql.updateBackend(tx, {
      ...row,
      monitors,
      user_name: user,
      sealed_key: vault.seal(key, contextOf(row.id)),
      reserve_percent: changed.reservePercent,
    })
    return getStorageBackend(tx, row.id)
  })
}

/** What the pool holds stays in it, so it must hold nothing of ours any more. */
export async function removeStorageBackend(tx: Tx, idOrName: string): Promise<sql.StorageBackendRow> {
  const row = await getStorageBackend(tx, idOrName)
  const { vms, snapshots, volumes, images } = await sql.countUses(tx, row.id)
  if (vms + snapshots + volumes + images > 0) {
    const what = `the disks of ${counted(vms, 'VM')}, ${counted(snapshots, 'snapshot')}, ${counted(volumes, 'volume')} and ${counted(images, 'image')}`
    throw apiError('in_use', `Storage backend ${row.name} has ${what}: delete them first`)
  }
  await sql.deleteBackend(tx, row.id)
  return row
}

/** They become lines of a configuration file and arguments of programs. */
function checked(input: StorageBackendInput): StorageBackendInput {
  const isMonitor = (text: string): boolean => /^(\[[0-9a-f:.]{2,45}\]|[A-Za-z0-9][A-Za-z0-9.-]{0,252})(:\d{1,5})?$/.test(text)
  if (input.monitors.length === 0 || !input.monitors.every(isMonitor))
    throw invalid('monitors must be addresses such as 10.0.0.1 or [fd00::1]:3300', 'monitors')
  if (!/^(?!client\.)[A-Za-z0-9][\w.-]{0,63}$/.test(input.user))
    throw invalid('user must be the name of a Ceph user without client.', 'user')
  if (!/^[A-Za-z0-9+/]{38}==$/.test(input.key)) throw invalid('key must be the key of a Ceph user, as `ceph auth get-key` prints it', 'key')
  requirePercent(input.reservePercent)
  return input
}

const contextOf = (id: string): string => `storage backend ${id}`

/** The key is opened at its first use: one that cannot be opened concerns only what uses the backend, not the other VMs of its region. */
export const toBackend = (vault: Vault, row: sql.StorageBackendRow): RbdBackend => ({
  id: row.id,
  monitors: row.monitors,
  pool: row.pool,
  user: row.user_name,
  get key() {
    return vault.open(row.sealed_key, contextOf(row.id))
  },
})

export interface StoragePools extends StorageSource {
  open(row: sql.StorageBackendRow): StoragePool
  /** Deletes the keys of backends that were removed from this machine. */
  removeUnusedKeys(): Promise<void>
}

/** Pools are opened once, and again when their settings change. */
export function openStoragePools({ db, vault, dataDir }: { db: Db; vault: Vault; dataDir: string }): StoragePools {
  const opened = new Map<string, { settings: string; pool: RbdPool }>()
  const folder = accessFolder(dataDir)
  const openRbd = (row: sql.StorageBackendRow): RbdPool => {
    const settings = JSON.stringify([row.monitors, row.pool, row.user_name, row.sealed_key.toString('base64')])
    const known = opened.get(row.id)
    if (known?.settings === settings) return known.pool
    const pool = openRbdPool(toBackend(vault, row), folder)
    opened.set(row.id, { settings, pool })
    return pool
  }
  return {
    open: (row) => (row.kind === 'RBD' ? openRbd(row) : openSimulatedPool(db, row.id, simulatedSize(row.monitors))),
    poolsOf: async (hostId) => (await sql.backendsOfHost(db, hostId)).map(openRbd),
    removeUnusedKeys: async () => {
      const files = await readdir(folder).catch(() => []) // before the rows are read: the key of a new one is not in it, or its row is there
      if (files.length === 0) return
      const ids = new Set((await sql.listBackends(db)).map(({ id }) => id))
      for (const file of files) if (!ids.has(file.split('.')[0]!)) await rm(join(folder, file), { force: true })
    },
  }
}

/** Rounded down: half a GiB cannot be sold. */
export const recordSpace = (db: Queries, id: string, now: Date, { capacityBytes, availableBytes }: PoolSpace) =>
  sql.recordSpace(db, id, now, { capacityGiB: Math.floor(capacityBytes / GIB), freeGiB: Math.floor(availableBytes / GIB) })

export const markStorageUnreachable = sql.markUnreachable

type Measured = Pick<sql.StorageBackendRow, 'capacity_gib' | 'free_gib' | 'reserve_gib' | 'used_gib'>

/** How much more can be written: the less of what can be booked and what was measured. Negative below the reserve; null until it was measured. */
export const storageAboveReserveGiB = ({ capacity_gib, free_gib, reserve_gib, used_gib }: Measured): number | null =>
  capacity_gib === null || free_gib === null || reserve_gib === null ? null : Math.min(capacity_gib - used_gib, free_gib) - reserve_gib

/** The driver of a region's hosts decides which pools they reach. */
const kindOf = (region: RegionRow): sql.StorageBackendRow['kind'] => (region.network_controller === null ? 'SIMULATED' : 'RBD')

export const hasReplicatedStorage = async (db: Queries, region: RegionRow): Promise<boolean> =>
  (await sql.backendsIn(db, region.id, kindOf(region))).length > 0

export async function requireReplicatedStorage(db: Queries, region: RegionRow): Promise<void> {
  if (!(await hasReplicatedStorage(db, region)))
    throw apiError('unavailable', `Region ${region.slug} has no replicated storage: choose a plan with local storage, or another region`)
}

/** How large a disk there is room for now, by the rule of `reserveStorageInRegion`, booking nothing; null where the region has no pools. */
export async function largestStorageRoom(db: Queries, region: RegionRow): Promise<number | null> {
  const rows = await sql.backendsIn(db, region.id, kindOf(region))
  const roomOf = ({ capacity_gib, free_gib, reserve_gib, used_gib, unreachable_since }: sql.StorageBackendRow): number =>
    capacity_gib === null || free_gib === null || reserve_gib === null || free_gib < reserve_gib || unreachable_since !== null
      ? 0
      : capacity_gib - reserve_gib - used_gib
  return rows.length === 0 ? null : Math.max(...rows.map(roomOf))
}

/** Books room in the pool that has most of it. Pools are locked before hosts, by every transaction that locks both. */
export async function reserveStorageInRegion(tx: Tx, region: RegionRow, gib: number): Promise<sql.StorageBackendRow> {
  const rows = await sql.backendsIn(tx, region.id, kindOf(region))
  for (const row of rows) if (await sql.reserve(tx, row.id, gib)) return row
  const unreachable = rows.filter((row) => row.unreachable_since !== null).length
  const reasons = [`${rows.length - unreachable} full`, ...(unreachable > 0 ? [`${unreachable} unreachable`] : [])]
  throw noCapacityError(`No capacity in ${region.slug} for ${gib} GiB of replicated storage: ${reasons.join(', ')}`, ['replicated_storage'])
}

/** False when the pool has too little room left. */
export const reserveStorage = sql.reserve
/** Locks nothing. */
export const canReserveStorage = sql.canReserve
export const reserveStorageForATime = sql.reserveForATime
export const releaseStorage = sql.release
export const reserveImageInStorage = sql.reserveImage
export const releaseImageInStorage = sql.releaseImage
export const backendsOfImage = sql.imageRooms
export const { bookUncountedImages, volumesOnMachine, leaveVolumes, moveVolumes } = sql
