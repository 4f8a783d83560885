// Attaches a volume to a VM, and detaches it. The transaction writes which VM has it, so every definition of the machine from then on says the
// same; the workflow makes its data at first, and has the host follow. An action that fails gives the volume back as it was.
import type { DryRunResult } from '../../http/api/api.ts'
import type { Principal } from '../../http/api/principal.ts'
import { isDriverError, type VolumeSpec } from '../../hypervisor/driver.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import type { StepContext } from '../../workflow/workflow-builder.ts'
import { getRegion } from '../catalog/service.ts'
import { workflow, type Deps } from '../deps.ts'
import {
  boot,
  driverForVmId,
  findOtherRunner,
  getVmRow,
  powerOff,
  recordStaleMachine,
  startAction,
  type StartRun,
  type VmDetails,
} from '../vms/service.ts'
import type { Quote } from '../wallet/service.ts'
import { recordVolumeEvent } from './events.ts'
import { lockOwnVolume, movedError, requireFree, requireIdleVolume, requireVolume } from './guards.ts'
import type { CreateVolume, Volume, VolumeChanging } from './schema.ts'
import { insertVolume, toVolumeSpec } from './service.ts'
import { createFromSnapshot } from './from-snapshot.workflow.ts'
import * as sql from './sql.ts'

const MAX_VOLUMES = 8
/** Longer than the driver waits for a guest to release it; otherwise the step would time out before it reports the reason. */
const PLUG_STEP = { timeout: '3m', waitsForGuest: true }
/** Of the step that asks a guest to release it. */
const TRIES = 2
const ATTACH = 'VOLUME_ATTACH'
export const DETACH = 'VOLUME_DETACH'
const RESTARTED = 'It is not paid, and the guest did not release it: the VM was restarted without it'

export interface VolumeInput {
  vmId: string
  volumeId: string
}

interface AttachInput extends VolumeInput {
  /** It has no data yet. */
  isNew: boolean
}

interface DetachInput extends VolumeInput {
  /** The guest has no say. */
  isUnpaid?: boolean
}

type Context = Pick<StepContext<Deps, VolumeInput, unknown>, 'deps' | 'input' | 'signal'>
type DetachContext = StepContext<Deps, DetachInput, unknown>

export async function volumeSpec(db: Queries, volumeId: string): Promise<VolumeSpec> {
  const row = await sql.volumeById(db, volumeId)
  if (!row) throw new Error(`BUG: volume ${volumeId} is gone while an action works on it`)
  return toVolumeSpec(row)
}

async function plugIn({ deps, input: { vmId, volumeId }, signal }: Context): Promise<void> {
  await (await driverForVmId(deps, vmId)).ensureVolumeAttached(vmId, await volumeSpec(deps.db, volumeId), signal)
}

/** A shelved VM has no machine. */
async function unplug({ deps, input: { vmId, volumeId }, signal }: Context): Promise<void> {
  if ((await getVmRow(deps.db, vmId)).host_id === null) return
  await (await driverForVmId(deps, vmId)).ensureVolumeDetached(vmId, await volumeSpec(deps.db, volumeId), signal)
}

export const attachWorkflow = workflow<AttachInput>('volume.attach', { deadline: '10m' })
  .step('volume', {
    timeout: '1m',
    run: async ({ deps, input: { vmId, volumeId }, signal }) =>
      (await driverForVmId(deps, vmId)).ensureVolume(await volumeSpec(deps.db, volumeId), null, signal),
    undo: async ({ deps, input: { vmId, volumeId, isNew }, signal }) => {
      if (isNew) await (await driverForVmId(deps, vmId)).ensureNoVolume(await volumeSpec(deps.db, volumeId), signal)
    },
  })
  .step('attach', { ...PLUG_STEP, run: plugIn, undo: unplug })
  .onSuccess(async (tx, { deps, input: { volumeId }, runId, now }) => {
    await sql.markAttached(tx, now, volumeId)
    await recordVolumeEvent(tx, deps, volumeId, 'volume.attached', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input: { vmId, volumeId, isNew }, error, runId, now, cleanupFailed }) => {
    const hostId = (await getVmRow(tx, vmId)).host_id!
    if (cleanupFailed) await recordStaleMachine(tx, now, vmId, hostId)
    await sql.markDetached(tx, now, volumeId, cleanupFailed ? { vmId, hostId } : null)
    if (isNew && !cleanupFailed) await sql.forgetData(tx, volumeId)
    await recordVolumeEvent(tx, deps, volumeId, 'volume.attach_failed', { actionId: runId, reason: error?.userMessage ?? null })
  })

/** A guest that does not release an unpaid one would have it for nothing: it is switched off for that. Returns whether it was. */
async function takeOut(context: DetachContext): Promise<boolean> {
  try {
    await unplug(context)
    return false
  } catch (error) {
    if (!context.input.isUnpaid || context.tries < TRIES || !isDriverError(error, 'transient')) throw error
  }
  await powerOff(context, 0)
  await unplug(context)
  return true
}

/** Unless it is off as it should be. */
async function bootAgain(context: DetachContext): Promise<void> {
  if (context.input.isUnpaid && (await getVmRow(context.deps.db, context.input.vmId)).status === 'RUNNING') await boot(context)
}

export const detachWorkflow = workflow<DetachInput>('volume.detach', { deadline: '10m' })
  // Retried less often than others: the driver itself waits for the guest.
  .step('detach', {
    ...PLUG_STEP,
    tries: TRIES,
    run: takeOut,
    undo: async (context) => {
      await bootAgain(context) // defined without it
      await plugIn(context)
    },
  })
  .step('boot', { run: bootAgain, optional: true })
  .onSuccess(async (tx, { deps, input: { vmId, volumeId }, results, runId, now }) => {
    const [vm, row] = [await getVmRow(tx, vmId), await sql.volumeById(tx, volumeId)]
    const other = row?.storage_id ? await findOtherRunner(tx, vmId, vm.host_id) : null
    await sql.markDetached(tx, now, volumeId, other === null ? null : { vmId, hostId: other })
    await recordVolumeEvent(tx, deps, volumeId, 'volume.detached', { actionId: runId, reason: results.detach ? RESTARTED : null })
  })
  .onFailure(async (tx, { deps, input: { vmId, volumeId }, error, runId, now, cleanupFailed }) => {
    if (cleanupFailed) await recordStaleMachine(tx, now, vmId, (await getVmRow(tx, vmId)).host_id!)
    await sql.markAttached(tx, now, volumeId)
    await recordVolumeEvent(tx, deps, volumeId, 'volume.detach_failed', { actionId: runId, reason: error?.userMessage ?? null })
  })

export async function createVolume(
  tx: Tx,
  deps: Deps,
  who: Principal,
  input: CreateVolume,
  dryRun = false,
): Promise<Volume | DryRunResult<Quote>> {
  const { accountId } = who
  const region = await getRegion(tx, input.regionId)
  if (input.snapshotId !== undefined) return createFromSnapshot(tx, deps, who, region, { ...input, snapshotId: input.snapshotId }, dryRun)
  if (input.vmId === undefined) return insertVolume(tx, deps, { accountId, region, vm: null }, input, async () => {}, dryRun)
  return startAction(tx, deps, who, input.vmId, {
    verb: 'attach',
    label: ATTACH,
    act: async (vm, start) => {
      if (vm.region_id !== region.id) throw apiError('region_mismatch', `VM ${vm.name} is in another region than ${region.slug}`)
      const attach = (row: sql.ShownVolume) => beginAttach(tx, deps, row, vm, start)
      return insertVolume(tx, deps, { accountId, region, vm }, input, attach, dryRun)
    },
  })
}

export const attachVolume = (tx: Tx, deps: Deps, who: Principal, id: string, vmId: string): Promise<VolumeChanging> =>
  startAction(tx, deps, who, vmId, {
    verb: 'attach',
    label: ATTACH,
    find: () => lockOwnVolume(tx, who.accountId, id),
    act: async (vm, start, row) => {
      await requireFree(tx, row, deps.clock.now(), vm.id)
      await requireAttachable(tx, row, vm)
      return { vmId, actionId: await beginAttach(tx, deps, row, vm, start) }
    },
  })

async function requireAttachable(tx: Tx, row: sql.ShownVolume, vm: VmDetails): Promise<void> {
  if (row.region_id !== vm.region_id) throw apiError('region_mismatch', `The volume ${row.name} is in another region than VM ${vm.name}`)
  if (row.host_id !== null && row.host_id !== vm.host_id) {
    const others = await sql.vmsOn(tx, row.account_id, row.host_id)
    const choice = others.length === 0 ? 'None of your VMs is there' : `VMs there: ${others.join(', ')}`
    throw apiError(
      'incompatible',
      `The volume ${row.name} is on the local storage of one host, and VM ${vm.name} is on another. ${choice}; volumes on REPLICATED storage can be attached to any VM of the region`,
    )
  }
}

/** Of a locked volume and a locked, idle VM. */
async function beginAttach(tx: Tx, deps: Deps, row: sql.ShownVolume, vm: VmDetails, start: StartRun): Promise<string> {
  if ((await sql.countOnVm(tx, vm.id)) >= MAX_VOLUMES)
    throw apiError('quota_exceeded', `A VM can have at most ${MAX_VOLUMES} volumes: detach one first`)
  const { actionId } = await start(attachWorkflow, { vmId: vm.id, volumeId: row.id, isNew: !row.has_data })
  await sql.beginAttach(tx, deps.clock.now(), row.id, { id: vm.id, hostId: vm.host_id! }, actionId)
  return actionId
}

export async function detachVolume(tx: Tx, deps: Deps, who: Pick<Principal, 'accountId'>, id: string): Promise<VolumeChanging> {
  const { name, vm_id: vmId } = await requireVolume(tx, who.accountId, id)
  if (vmId === null) throw apiError('invalid_state', `The volume ${name} is not attached to a VM`)
  return startAction(tx, deps, who, vmId, {
    verb: 'detach',
    label: DETACH,
    find: () => lockOwnVolume(tx, who.accountId, id),
    act: async (_, start, row) => {
      requireIdleVolume(row)
      if (row.vm_id !== vmId) throw movedError()
      const { actionId } = await start(detachWorkflow, { vmId, volumeId: id })
      await sql.beginDetach(tx, deps.clock.now(), id, actionId)
      return { vmId, actionId }
    },
  })
}

/** An unpaid one, of a locked VM in any state: none of them keeps it. */
export const takeVolume = (tx: Tx, deps: Deps, { id, account_id, vm_id }: sql.ShownVolume & { vm_id: string }): Promise<void> =>
  startAction(tx, deps, { accountId: account_id }, vm_id, {
    verb: null,
    label: DETACH,
    act: async ({ status }, start) => {
      if (status === 'UNMANAGED') return // its machine is left alone
      const { actionId } = await start(detachWorkflow, { vmId: vm_id, volumeId: id, isUnpaid: true })
      await sql.beginDetach(tx, deps.clock.now(), id, actionId)
    },
  })
