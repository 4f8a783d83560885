// Volumes that VMs are created with: made and charged in the transaction of their VM, or free ones of the account. The run that provisions the VM
// makes their data before the first start. Of a VM that cannot be built those made for it are deleted and refunded, and the others are free again.
import type { Principal } from '../../http/api/principal.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { apiError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Cents } from '../../kernel/money.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { releaseQuotas, reserveQuotas } from '../accounts/service.ts'
import type { RegionRow } from '../catalog/service.ts'
import type { Deps, ReservedVolumes, VmVolumes, VmVolumesEnd } from '../deps.ts'
import { reserveStorageInRegion } from '../storage/service.ts'
import { numbered } from '../vms/service.ts'
import type { VmVolume } from '../vms/schema.ts'
import { refund, refundable } from '../wallet/service.ts'
import { recordVolumeEvent } from './events.ts'
import { lockOwnVolume, requireFree, requireHost } from './guards.ts'
import { monthlyPrice, payFirstMonth, PURGE, quotasOf, referenceTo, storageFor, writeVolume } from './service.ts'
import * as sql from './sql.ts'

type NewVolume = VmVolume & { name: string; sizeGiB: number }

const isNew = (each: VmVolume): each is NewVolume => each.volumeId === undefined

export async function openVmVolumes(tx: Tx, deps: Deps, who: Principal, wanted: VmVolume[], count: number): Promise<VmVolumes> {
  for (const [index, each] of wanted.entries()) requireComplete(each, `volumes.${index}`, count)
  const ids = wanted.flatMap(({ volumeId }) => volumeId ?? [])
  if (new Set(ids).size < ids.length) throw invalid('volumes must name no volume twice', 'volumes')
  const made = wanted.filter(isNew)
  if (made.length > 0) requireScope(who, 'volumes:create')
  if (ids.length > 0) requireScope(who, 'volumes:update')
  const rows: sql.ShownVolume[] = []
  for (const id of ids.toSorted()) {
    const row = await lockOwnVolume(tx, who.accountId, id)
    await requireFree(tx, row, deps.clock.now())
    await requireHost(tx, row)
    rows.push(row)
  }
  const [first, ...others] = rows.filter(({ host_id }) => host_id !== null)
  const apart = others.find(({ host_id }) => host_id !== first!.host_id)
  if (apart)
    throw apiError(
      'incompatible',
      `The volumes ${first!.name} and ${apart.name} are on the local storage of two hosts: no VM can have both`,
    )
  return {
    host: first ? { id: first.host_id!, volumeName: first.name } : null,
    requireIn(region) {
      const other = rows.find(({ region_id }) => region_id !== region.id)
      if (other) throw apiError('region_mismatch', `The volume ${other.name} is in another region than ${region.slug}`)
    },
    reserve: (region) => reserve(tx, deps, { accountId: who.accountId, region, rows, made, count }),
  }
}

function requireComplete({ volumeId, ...ofNew }: VmVolume, field: string, count: number): void {
  const isGiven = Object.values(ofNew).some((each) => each !== undefined)
  if (volumeId === undefined && (ofNew.name === undefined || ofNew.sizeGiB === undefined))
    throw invalid(`${field} must have a volumeId, or name and sizeGiB of a new volume`, field)
  if (volumeId !== undefined && isGiven) throw invalid(`${field} must have a volumeId alone, or nothing but what a new volume has`, field)
  if (volumeId !== undefined && count > 1) throw invalid(`${field}.volumeId must not be given for several VMs: a volume has one`, field)
}

function requireScope(who: Principal, scope: 'volumes:create' | 'volumes:update'): void {
  if (!who.scopes.has(scope)) throw apiError('missing_scope', `This token lacks the required scope: ${scope}`)
}

interface Wanted {
  accountId: string
  region: RegionRow
  rows: sql.ShownVolume[]
  /** Of each VM. */
  made: NewVolume[]
  count: number
}

interface Planned {
  id: string
  name: string
  input: NewVolume
  price: Cents
  storage: sql.VolumeRow['storage']
  storageId: string | null
}

async function reserve(tx: Tx, deps: Deps, { accountId, region, rows, made, count }: Wanted): Promise<ReservedVolumes> {
  const now = deps.clock.now()
  const shapes: Pick<Planned, 'input' | 'storage' | 'price'>[] = []
  for (const input of made) {
    const storage = await storageFor(tx, region, input.storage)
    shapes.push({ input, storage, price: await monthlyPrice(tx, storage, input.sizeGiB) })
  }
  const gibOf = (some: typeof shapes): number => some.reduce((sum, { input }) => sum + input.sizeGiB, 0)
  if (made.length > 0) await reserveQuotas(tx, accountId, quotasOf(gibOf(shapes) * count, BigInt(made.length * count)))
  const planned: Planned[][] = []
  for (let number = 1; number <= count; number++) {
    const ofVm: Planned[] = []
    for (const shape of shapes) {
      const { input, storage } = shape
      const storageId = storage === 'LOCAL' ? null : (await reserveStorageInRegion(tx, region, input.sizeGiB)).id
      ofVm.push({ ...shape, id: newId(), name: numbered(input.name, number, count), storageId })
    }
    planned.push(ofVm)
  }
  return {
    price: shapes.reduce((sum, { price }) => sum + price, 0n),
    gibOnHost: gibOf(shapes.filter(({ storage }) => storage === 'LOCAL')),
    refsOf: (index) => [
      ...planned[index]!.map(({ id }) => ({ volumeId: id, isMade: true })),
      ...rows.map(({ id }) => ({ volumeId: id, isMade: false })),
    ],
    async attach(index, vm, runId) {
      for (const { id, name, input, price, storage, storageId } of planned[index]!) {
        const place = { storage, host_id: storage === 'LOCAL' ? vm.hostId : null, storage_id: storageId }
        await writeVolume(tx, now, { id, account_id: accountId, region_id: region.id, ...place }, { ...input, name }, price)
      }
      for (const { id } of [...planned[index]!, ...rows]) await sql.beginAttach(tx, now, id, vm, runId)
    },
    async record() {
      for (const { id } of planned.flat()) await recordVolumeEvent(tx, deps, id, 'volume.created')
    },
    async charge() {
      let balance: Cents | undefined
      for (const volume of planned.flat()) balance = (await payFirstMonth(tx, deps, accountId, volume)).balance_after_cents
      return balance
    },
  }
}

/** Quotas before the room of the VM is released, events and refunds after its own: in the order in which others lock them. The room of volumes is released with their data. */
export async function endVmVolumes(tx: Tx, deps: Deps, end: VmVolumesEnd): Promise<() => Promise<void>> {
  const { vmId, hostId, runId, now, volumes, error, cleanupFailed } = end
  const ended: { row: sql.ShownVolume; isMade: boolean }[] = []
  for (const { volumeId, isMade } of volumes.toSorted((a, b) => (a.volumeId < b.volumeId ? -1 : 1))) {
    const row = await sql.lockVolumeById(tx, volumeId)
    if (row?.run_id !== runId) continue
    ended.push({ row, isMade })
    if (error === null) await sql.markAttached(tx, now, volumeId)
    else await sql.markDetached(tx, now, volumeId, cleanupFailed ? { vmId, hostId } : null)
  }
  const gone = error === null ? [] : ended.filter(({ isMade }) => isMade).map(({ row }) => row)
  for (const { id } of gone) await sql.markDeleted(tx, now, id)
  if (gone.length > 0) {
    const gib = gone.reduce((sum, { size_gib }) => sum + size_gib, 0)
    await releaseQuotas(tx, gone[0]!.account_id, quotasOf(gib, BigInt(gone.length)))
    await triggerReconciler(tx, PURGE)
  }
  return async () => {
    for (const { row, isMade } of ended) {
      if (error === null) await recordVolumeEvent(tx, deps, row.id, 'volume.attached', { actionId: runId })
      else await recordVolumeEvent(tx, deps, row.id, isMade ? 'volume.deleted' : 'volume.attach_failed', { actionId: runId, reason: error })
    }
    for (const { id, name, account_id } of gone) {
      const paid = await refundable(tx, account_id, id)
      const description = `The VM of volume ${name} could not be built`
      if (paid > 0n) await refund(tx, now, account_id, paid, { type: 'VOLUME_REFUND', description, ...referenceTo(id) })
    }
  }
}
