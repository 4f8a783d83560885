// A volume that begins with the data of a snapshot of another one, copied where that is: both are independent from then on. One that cannot be
// made is deleted, and what it cost refunded.
import type { DryRunResult } from '../../http/api/api.ts'
import type { Principal } from '../../http/api/principal.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import type { RegionRow } from '../catalog/service.ts'
import { workflow, type Deps } from '../deps.ts'
import { refund, refundable, type Quote } from '../wallet/service.ts'
import { requireHost, startRunOfVolume } from './guards.ts'
import type { CreateVolume, Volume } from './schema.ts'
import { insertVolume, placeOfVolume, referenceTo, removeVolume, toVolumeSpec } from './service.ts'
import * as sql from './sql.ts'

interface Input {
  volumeId: string
  source: { volumeId: string; snapshotId: string }
}

async function open(deps: Deps, id: string) {
  const row = (await sql.volumeById(deps.db, id))!
  return { spec: toVolumeSpec(row), data: await placeOfVolume(deps, row) }
}

export const createFromSnapshotWorkflow = workflow<Input>('volume.create', {
  deadline: '8h',
  queue: 'copies',
  locks: (tx, { volumeId }) => sql.lockVolumeById(tx, volumeId),
})
  .step('copy', {
    timeout: '3h',
    run: async ({ deps, input: { volumeId, source }, signal }) => {
      const { spec, data } = await open(deps, volumeId)
      await data.ensureVolume(spec, source, signal)
    },
    undo: async ({ deps, input: { volumeId }, signal }) => {
      const { spec, data } = await open(deps, volumeId)
      await data.ensureNoVolume(spec, signal)
    },
  })
  .onSuccess((tx, { input: { volumeId }, now }) => sql.endRun(tx, now, volumeId))
  .onFailure(async (tx, { deps, input: { volumeId }, error, now }) => {
    const row = (await sql.lockVolumeById(tx, volumeId))!
    await sql.endRun(tx, now, volumeId)
    await removeVolume(tx, deps, now, row, `It could not be made from the snapshot: ${error?.userMessage ?? 'it was cancelled'}`)
    const paid = await refundable(tx, row.account_id, volumeId)
    const description = `The volume ${row.name} could not be made`
    if (paid > 0n) await refund(tx, now, row.account_id, paid, { type: 'VOLUME_REFUND', description, ...referenceTo(volumeId) })
  })

const READS = 'snapshots:restore'

export async function createFromSnapshot(
  tx: Tx,
  deps: Deps,
  who: Principal,
  region: RegionRow,
  input: CreateVolume & { snapshotId: string },
  dryRun: boolean,
): Promise<Volume | DryRunResult<Quote>> {
  const { accountId } = who
  const { snapshotId, sizeGiB } = input
  if (input.vmId !== undefined) throw invalid('give snapshotId or vmId: attach the volume once it is made', 'vmId')
  if (!who.scopes.has(READS)) throw apiError('missing_scope', `This token lacks the required scope: ${READS}`)
  const source = await sql.findOwnSnapshot(tx, accountId, snapshotId)
  if (!source) throw notFound('Snapshot')
  if (source.status !== 'AVAILABLE')
    throw apiError('invalid_state', `Snapshot must be AVAILABLE to make a volume from it; it is ${source.status}`)
  if (sizeGiB < source.size_gib) throw invalid(`the volume of the snapshot has ${source.size_gib} GiB: give as much or more`, 'sizeGiB')
  if (source.region_id !== region.id) throw apiError('region_mismatch', `The snapshot is in another region than ${region.slug}`)
  if (input.storage !== undefined && input.storage !== source.storage)
    throw apiError('incompatible', `The snapshot is on ${source.storage} storage, and so is a volume made from it: leave storage out`)
  await requireHost(tx, source)
  const begin = async (row: sql.ShownVolume): Promise<void> => {
    const order = { volumeId: row.id, source: { volumeId: source.volume_id, snapshotId } }
    const { actionId } = await startRunOfVolume(tx, deps, row, 'VOLUME_CREATE')(createFromSnapshotWorkflow, order)
    await sql.beginMaking(tx, row.id, actionId)
  }
  return insertVolume(tx, deps, { accountId, region, vm: null, place: source }, input, begin, dryRun)
}
