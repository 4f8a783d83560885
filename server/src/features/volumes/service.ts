// Disks of an account that move between its VMs. Lock order: VM, volume, quotas, storage backend or host, event log, wallet.
import { DryRunResult } from '../../http/api/api.ts'
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { VolumeData, VolumeSpec } from '../../hypervisor/driver.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { type Cents, prorateUp } from '../../kernel/money.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { releaseQuotas, reserveQuotas } from '../accounts/service.ts'
import { catalogNumbers, type RegionRow } from '../catalog/service.ts'
import type { Deps, EventDeps } from '../deps.ts'
import type { EventType } from '../events/schema.ts'
import { recordEvent } from '../events/service.ts'
import { releaseDisk, reserveDisk, reserveDiskInRegion } from '../hosts/capacity.ts'
import { findHost } from '../hosts/service.ts'
import { firstPeriod, GRACE, isOver, quoteRemoval, refundUnused, unusedDays } from '../renewals/service.ts'
import {
  getStorageBackend,
  hasReplicatedStorage,
  leaveVolumes,
  releaseStorage,
  reserveStorage,
  reserveStorageInRegion,
} from '../storage/service.ts'
import { COPIES_QUOTA, lockVmById, secondsLeft, startAction, type StartRun, type VmDetails } from '../vms/service.ts'
import { charge, type Quote, requireFunds, toQuote } from '../wallet/service.ts'
import type { CreateVolume, Volume, volumeEvents } from './schema.ts'
import * as sql from './sql.ts'
import { toVolume } from './view.ts'

export { RENEWAL_PRICE, volumesOn } from './sql.ts'

export const PURGE = 'volumes.purge'

export const quotasOf = (gib: number, volumes: bigint): Record<string, bigint> => ({
  ...(volumes > 0n && { volumes }),
  volume_storage_gib: BigInt(gib),
})

type Place = Pick<sql.VolumeRow, 'host_id' | 'storage_id'>

export async function reserveRoom(tx: Tx, { host_id, storage_id }: Place, gib: number): Promise<void> {
  const isReserved = storage_id === null ? await reserveDisk(tx, [host_id!], gib) : await reserveStorage(tx, storage_id, gib)
  if (isReserved) return
  const where = storage_id === null ? 'The host of this volume or VM' : 'The storage of this volume'
  throw apiError('no_capacity', `${where} has no room for ${gib} GiB more at the moment: try again later`)
}

export const releaseRoom = async (tx: Tx, { host_id, storage_id }: Place, gib: number): Promise<unknown> =>
  storage_id === null ? releaseDisk(tx, new Map([[host_id!, gib]])) : releaseStorage(tx, storage_id, gib)

export const monthlyPrice = async (db: Queries, storage: sql.VolumeRow['storage'], gib: number): Promise<Cents> =>
  BigInt(gib) * (await catalogNumbers(db))(storage === 'LOCAL' ? 'price.volume_gib' : 'price.volume_replicated_gib')

interface Owner {
  accountId: string
  region: RegionRow
  /** The locked one that it is to be attached to. */
  vm: VmDetails | null
  /** Where the snapshot is that it is made from. */
  place?: Place & Pick<sql.VolumeRow, 'storage'>
}

/** `begin` runs once it exists. */
export async function insertVolume(
  tx: Tx,
  deps: Deps,
  owner: Owner,
  input: CreateVolume,
  begin: (row: sql.ShownVolume) => Promise<unknown>,
  dryRun: boolean,
): Promise<Volume | DryRunResult<Quote>> {
  const now = deps.clock.now()
  const { currency } = deps.config
  const { accountId, region } = owner
  if (!region.available) throw apiError('unavailable', `Region ${region.slug} takes nothing new at the moment`)
  const storage = owner.place?.storage ?? (await storageFor(tx, region, input.storage))
  const { sizeGiB } = input
  const price = await monthlyPrice(tx, storage, sizeGiB)
  await reserveQuotas(tx, accountId, quotasOf(sizeGiB, 1n))
  await requireFunds(tx, accountId, price, currency)
  const place = await allocatePlace(tx, storage, owner, sizeGiB)
  const id = newId()
  const period = firstPeriod(now, price)
  await sql.insertVolume(tx, {
    id,
    account_id: accountId,
    region_id: region.id,
    name: input.name,
    labels: input.labels ?? {},
    is_protected: input.isProtected ?? false,
    size_gib: sizeGiB,
    storage,
    ...place,
    renewal_day: period.renewalDay,
    period_started_at: period.startsAt,
    period_price_cents: price,
    next_renewal_at: period.endsAt,
    created_at: now,
  })
  await begin((await sql.volumeById(tx, id))!)
  const shown = await recordVolumeEvent(tx, deps, id, 'volume.created')
  const entry = { type: 'VOLUME_CHARGE', description: `First month of volume ${input.name}`, ...referenceTo(id), currency } as const
  const paid = await charge(tx, now, accountId, price, entry)
  await sql.insertPeriod(tx, id, period, paid.id)
  if (dryRun) return new DryRunResult(toQuote(currency, { charge: price, monthly: price, balanceAfter: paid.balance_after_cents }))
  return shown
}

async function storageFor(tx: Tx, region: RegionRow, wanted: sql.VolumeRow['storage'] | undefined): Promise<sql.VolumeRow['storage']> {
  const isReplicated = await hasReplicatedStorage(tx, region)
  if (wanted === 'REPLICATED' && !isReplicated)
    throw apiError('unavailable', `Region ${region.slug} has no replicated storage: choose LOCAL, or another region`)
  return wanted ?? (isReplicated ? 'REPLICATED' : 'LOCAL')
}

/** Without a VM, a LOCAL one lies where the account has VMs. */
async function allocatePlace(
  tx: Tx,
  storage: sql.VolumeRow['storage'],
  { accountId, region, vm, place: source }: Owner,
  gib: number,
): Promise<Place> {
  if (source) {
    const { host_id, storage_id } = source
    await reserveRoom(tx, source, gib)
    return { host_id, storage_id }
  }
  if (storage === 'REPLICATED') return { host_id: null, storage_id: (await reserveStorageInRegion(tx, region, gib)).id }
  if (vm === null) return { host_id: await reserveDiskInRegion(tx, region, gib, await sql.hostsOf(tx, accountId)), storage_id: null }
  const place = { host_id: vm.host_id, storage_id: null }
  await reserveRoom(tx, place, gib)
  return place
}

export const referenceTo = (id: string) => ({ referenceType: 'VOLUME', referenceId: id }) as const

export async function listVolumes(db: Queries, accountId: string, filter: sql.VolumeFilter, page: PageRequest): Promise<Paged<Volume>> {
  const total = await sql.countVolumes(db, accountId, filter)
  return pageOf(page, total, async (range) => (await sql.listVolumes(db, accountId, filter, range)).map(toVolume))
}

export async function requireVolume(db: Queries, accountId: string, id: string): Promise<sql.ShownVolume> {
  const row = await sql.findVolume(db, accountId, id)
  if (!row) throw notFound('Volume')
  return row
}

export const getVolume = async (db: Queries, accountId: string, id: string): Promise<Volume> =>
  toVolume(await requireVolume(db, accountId, id))

export async function lockOwnVolume(tx: Tx, accountId: string, id: string): Promise<sql.ShownVolume> {
  const row = await sql.lockVolume(tx, accountId, id)
  if (!row) throw notFound('Volume')
  return row
}

/** One action at a time. */
export function requireIdleVolume({ name, run_id, open_run }: sql.ShownVolume): void {
  if (run_id === null) return
  const what = open_run === null ? 'an action' : `action ${open_run.label}`
  throw apiError('busy', `The volume ${name} is busy: ${what} (${run_id}) is running. Wait until it has ended`)
}

/** Refunds the unused whole days. */
export async function deleteVolume(
  tx: Tx,
  deps: Deps,
  accountId: string,
  id: string,
  dryRun = false,
): Promise<{ id: string } | DryRunResult<Quote>> {
  const now = deps.clock.now()
  const row = await lockOwnVolume(tx, accountId, id)
  requireIdleVolume(row)
  if (row.vm_id !== null) throw apiError('in_use', `The volume ${row.name} is attached to VM ${row.vm_name}: detach it first`)
  if (row.is_protected) throw apiError('protected', 'The volume is protected against deletion: set isProtected to false first')
  const unused = await unusedDays(tx, now, row)
  if (dryRun) return quoteRemoval(tx, deps, accountId, unused)
  await removeVolume(tx, deps, now, row, null)
  await refundUnused(tx, now, row, unused, { type: 'VOLUME_REFUND', what: `volume ${row.name}`, referenceType: 'VOLUME' })
  return { id }
}

/** Of a locked, detached volume, with its snapshots. Its data is removed by a reconciler, and keeps its room until then. */
export async function removeVolume(tx: Tx, deps: EventDeps, now: Date, row: sql.ShownVolume, reason: string | null): Promise<void> {
  const copies = await sql.deleteSnapshotsOf(tx, row.id)
  await releaseQuotas(tx, row.account_id, { ...quotasOf(row.size_gib, 1n), ...(copies > 0 && { [COPIES_QUOTA]: BigInt(copies) }) })
  if (!row.has_data) await releaseRoom(tx, row, row.size_gib + copies)
  await recordVolumeEvent(tx, deps, row.id, 'volume.deleted', { reason })
  if (!row.has_data) return void (await sql.deleteVolume(tx, row.id))
  await sql.markDeleted(tx, now, row.id)
  await triggerReconciler(tx, PURGE)
}

/** Where its data is: on its host, or in its storage backend. */
export const placeOfVolume = async ({ db, hypervisors, storage }: Deps, { host_id, storage_id }: Place): Promise<VolumeData> =>
  storage_id === null ? hypervisors.get(host_id!) : storage.open(await getStorageBackend(db, storage_id))

export const toVolumeSpec = ({ id, generation, size_gib, storage_id }: sql.VolumeRow): VolumeSpec => ({
  volumeId: id,
  generation,
  sizeGiB: size_gib,
  storageId: storage_id,
})

export const movedError = () => apiError('busy', 'The volume was moved by another request: look which VM has it now, and try again')

const unpaidError = (name: string) =>
  apiError('invalid_state', `The renewal of volume ${name} is not paid: deposit what is due, it renews by itself within a minute`)

/** Within the grace period, also before it is suspended: an action under way keeps it from that. */
export function requirePaid(row: sql.ShownVolume, now: Date): void {
  if (isOver(now, row, GRACE)) throw unpaidError(row.name)
}

/** A prorated price would be zero after the period has ended. */
export function requirePaidPeriod({ name, billing_status, next_renewal_at }: sql.VolumeRow, now: Date): void {
  if (billing_status !== 'ACTIVE') throw unpaidError(name)
  if (next_renewal_at <= now)
    throw apiError('invalid_state', `The month of volume ${name} is over and being renewed: try again in a minute`)
}

export const proratedForRest = ({ period_started_at, next_renewal_at }: sql.VolumeRow, now: Date, monthly: Cents): Cents =>
  prorateUp(monthly, secondsLeft(now, next_renewal_at), secondsLeft(period_started_at, next_renewal_at))

/** Of a detached one: nothing else may write to it. */
export async function requireReachable(tx: Tx, row: sql.ShownVolume): Promise<void> {
  if (await sql.isLeft(tx, row))
    throw apiError(
      'busy',
      `The VM that had volume ${row.name} may still write to it on a host that is out of reach: try again when the host is back, or ask support`,
    )
}

/** Nothing is reached on a host that was removed. */
export async function requireHost(tx: Tx, { host_id }: Place): Promise<void> {
  if (host_id !== null && (await findHost(tx, host_id))?.removed_at)
    throw apiError('invalid_state', 'The host of this volume is out of service: ask support when it returns')
}

interface VolumeActionRequest<F, T> {
  /** Of the VM that has it; null: allowed in every state but UNMANAGED, and to a suspended account. */
  verb: 'snapshot' | null
  label: string
  /** Finds the other resources the request names: their 404 takes precedence over the 409 of a busy volume. */
  find?: () => Promise<F>
  act: (row: sql.ShownVolume, start: StartRun, found: F) => Promise<T>
}

/** Of the VM that has the volume, or of the volume itself: one action at a time of either. */
export async function startVolumeAction<T, F = undefined>(
  tx: Tx,
  deps: Deps,
  who: Pick<Principal, 'accountId'>,
  id: string,
  { verb, label, find, act }: VolumeActionRequest<F, T>,
): Promise<T> {
  const { accountId } = who
  const { vm_id: vmId } = await requireVolume(tx, accountId, id)
  const lock = async () => ({ row: await lockOwnVolume(tx, accountId, id), found: (await find?.()) as F })
  const begin = ({ row, found }: Awaited<ReturnType<typeof lock>>, start: StartRun): Promise<T> => {
    requireIdleVolume(row)
    if (row.vm_id !== vmId) throw movedError()
    return act(row, start, found)
  }
  if (vmId !== null)
    return startAction(tx, deps, who, vmId, {
      verb,
      label,
      find: lock,
      act: async (vm, start, locked) => {
        if (vm.status === 'UNMANAGED')
          throw apiError('invalid_state', 'The VM of this volume is UNMANAGED: nothing is done with it until the operator adopts it again')
        return begin(locked, start)
      },
    })
  const locked = await lock()
  await requireHost(tx, locked.row)
  if (verb !== null) {
    if (await sql.isOwnerSuspended(tx, accountId))
      throw apiError('invalid_state', 'This account is suspended, so nothing of it is changed: open a ticket to ask why')
    await requireReachable(tx, locked.row)
  }
  return begin(locked, startRunOfVolume(tx, deps, locked.row, label))
}

/** Of a volume that no VM has. */
export const startRunOfVolume =
  (tx: Tx, { workflows }: Deps, { id, account_id }: sql.ShownVolume, label: string): StartRun =>
  async (workflow, input, runId) => ({
    actionId: await workflows.start(tx, workflow, input, {
      label,
      ownerId: account_id,
      subjectId: id,
      ...(runId !== undefined && { runId }),
    }),
  })

export const { addPeriodPrice, beginRun, endRun, lockVolumeById, nextGeneration, setGeneration, volumeById } = sql
export { toVolume } from './view.ts'
export type { ShownVolume } from './sql.ts'

/** Those whose data was on a destroyed host; unused days are refunded. Returns false while an action works on it. */
export const loseVolume = (deps: Deps, id: string, vmId: string | null, reason: string): Promise<boolean> =>
  deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    if (vmId !== null) await lockVmById(tx, vmId)
    const row = await sql.lockVolumeById(tx, id)
    if (!row || row.deleted_at !== null) return true
    if (row.run_id !== null || row.vm_id !== vmId) return false
    const unused = await unusedDays(tx, now, row)
    await sql.markDetached(tx, now, id)
    await sql.forgetData(tx, id)
    await removeVolume(tx, deps, now, { ...row, has_data: false }, reason)
    await refundUnused(tx, now, row, unused, { type: 'VOLUME_REFUND', what: `volume ${row.name}`, referenceType: 'VOLUME' })
    return true
  })

interface EventDetail {
  actionId?: string | null
  reason?: string | null
}

/** Call it after the change: the event shows the volume as it is now. */
export async function recordVolumeEvent(
  tx: Tx,
  deps: EventDeps,
  id: string,
  type: keyof typeof volumeEvents & EventType,
  { actionId = null, reason = null }: EventDetail = {},
): Promise<Volume> {
  const row = await sql.volumeById(tx, id)
  if (!row) throw new Error(`BUG: volume ${id} is gone while an event is recorded`)
  const volume = toVolume(row)
  await recordEvent(tx, deps, { accountId: row.account_id, type, subjectId: id, data: { volume, actionId, reason } })
  return volume
}

/** A deleted VM leaves its volumes to its owner. Its machine on a lost host may still write to them. */
export async function keepVolumes(
  tx: Tx,
  vm: { id: string; host_id: string | null; isLeft: boolean },
  { clock }: EventDeps,
): Promise<void> {
  if (vm.isLeft) await leaveVolumes(tx, clock.now(), vm.id, vm.host_id!)
  await sql.detachAll(tx, clock.now(), vm.id)
}
