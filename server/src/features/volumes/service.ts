// Disks of an account that move between its VMs. Lock order: VM, volume, quotas, storage backend or host, event log, wallet.
import { DryRunResult } from '../../http/api/api.ts'
import type { Paged, PageRequest } from '../../http/api/schema.ts'
import { moneyKey, numberKey, sortedPageOf, textKey, type Keys } from '../../http/api/sorted-list.ts'
import type { VolumeData, VolumeSpec } from '../../hypervisor/driver.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { type Cents, prorateUp } from '../../kernel/money.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { releaseQuotas, reserveQuotas } from '../accounts/service.ts'
import { catalogNumbers, type RegionRow } from '../catalog/service.ts'
import type { Deps, EventDeps } from '../deps.ts'
import { releaseDisk, reserveDisk, reserveDiskInRegion } from '../hosts/capacity.ts'
import { firstPeriod, quoteRemoval, refundUnused, unusedDays } from '../renewals/service.ts'
import {
  getStorageBackend,
  hasReplicatedStorage,
  leaveVolumes,
  releaseStorage,
  reserveStorage,
  reserveStorageInRegion,
} from '../storage/service.ts'
import { COPIES_QUOTA } from '../backup-targets/service.ts'
import { findOtherRunner, lockVmById, secondsLeft, type VmDetails } from '../vms/service.ts'
import { charge, type Quote, requireFunds, toQuote } from '../wallet/service.ts'
import { recordVolumeEvent } from './events.ts'
import { lockOwnVolume, requireIdleVolume, requireVolume } from './guards.ts'
import type { CreateVolume, Volume, VolumeQuery } from './schema.ts'
import * as sql from './sql.ts'
import { toVolume } from './view.ts'

export { requirePaid, requirePaidPeriod, requireVolume, startVolumeAction } from './guards.ts'
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
  await requireFunds(tx, now, accountId, price, currency)
  const place = await allocatePlace(tx, storage, owner, sizeGiB)
  const id = newId()
  await writeVolume(tx, now, { id, account_id: accountId, region_id: region.id, storage, ...place }, input, price)
  await begin((await sql.volumeById(tx, id))!)
  const shown = await recordVolumeEvent(tx, deps, id, 'volume.created')
  const paid = await payFirstMonth(tx, deps, accountId, { id, name: input.name, price })
  if (dryRun) return new DryRunResult(toQuote(tx, currency, { charge: price, monthly: price, balanceAfter: paid.balance_after_cents }))
  return shown
}

/** Its row. It is paid by `payFirstMonth` in the same transaction, once everything else is written. */
export async function writeVolume(
  tx: Tx,
  now: Date,
  where: Pick<sql.VolumeRow, 'id' | 'account_id' | 'region_id' | 'storage' | 'host_id' | 'storage_id'>,
  { name, labels = {}, isProtected = false, sizeGiB }: Pick<CreateVolume, 'name' | 'labels' | 'isProtected' | 'sizeGiB'>,
  price: Cents,
): Promise<void> {
  const period = firstPeriod(now, price)
  await sql.insertVolume(tx, {
    ...where,
    name,
    labels,
    is_protected: isProtected,
    size_gib: sizeGiB,
    renewal_day: period.renewalDay,
    period_started_at: period.startsAt,
    period_price_cents: price,
    next_renewal_at: period.endsAt,
    created_at: now,
  })
}

export async function payFirstMonth(
  tx: Tx,
  { clock, config: { currency } }: Pick<Deps, 'clock' | 'config'>,
  accountId: string,
  { id, name, price }: { id: string; name: string; price: Cents },
) {
  const now = clock.now()
  const entry = { type: 'VOLUME_CHARGE', description: `First month of volume ${name}`, ...referenceTo(id), currency } as const
  const paid = await charge(tx, now, accountId, price, entry)
  await sql.insertPeriod(tx, id, firstPeriod(now, price), paid.id)
  return paid
}

export async function storageFor(
  tx: Tx,
  region: RegionRow,
  wanted: sql.VolumeRow['storage'] | undefined,
): Promise<sql.VolumeRow['storage']> {
  const isReplicated = await hasReplicatedStorage(tx, region)
  if (wanted === 'REPLICATED' && !isReplicated)
    throw apiError('unavailable', `Region ${region.slug} has no replicated storage: choose local storage, or another region`)
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

export const proratedForRest = ({ period_started_at, next_renewal_at }: sql.VolumeRow, now: Date, monthly: Cents): Cents =>
  prorateUp(monthly, secondsLeft(now, next_renewal_at), secondsLeft(period_started_at, next_renewal_at))

export const referenceTo = (id: string) => ({ referenceType: 'VOLUME', referenceId: id }) as const

const SORT_KEYS: Keys<Volume, sql.VolumeField> = {
  name: textKey(({ name }) => name),
  sizeGiB: numberKey(({ sizeGiB }) => sizeGiB),
  region: textKey(({ region }) => region.name),
  status: textKey(({ status }) => status),
  priceMonthly: moneyKey(({ billing }) => billing.priceMonthly),
}

export const listVolumes = (db: Queries, accountId: string, { sort, ...filter }: VolumeQuery, page: PageRequest): Promise<Paged<Volume>> =>
  sortedPageOf(
    page,
    sort,
    SORT_KEYS,
    () => sql.countVolumes(db, accountId, filter),
    async (range) => (await sql.listVolumes(db, accountId, filter, range)).map(toVolume),
  )

export const getVolume = async (db: Queries, accountId: string, id: string): Promise<Volume> =>
  toVolume(await requireVolume(db, accountId, id))

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

/** A deleted VM leaves its volumes to its owner. Its machine on a lost host may still write to them. */
export async function keepVolumes(
  tx: Tx,
  vm: { id: string; host_id: string | null; isLeft: boolean },
  { clock }: EventDeps,
): Promise<void> {
  if (vm.isLeft) await leaveVolumes(tx, clock.now(), vm.id, vm.host_id!)
  await sql.detachAll(tx, clock.now(), vm.id, await findOtherRunner(tx, vm.id, vm.host_id))
}
