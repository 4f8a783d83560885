// PUT and DELETE /vms/{id}/iso. The file of the image is brought to the host; then it is in the drive of the machine at once, where that was started with one,
// and otherwise from its next start on, which the request may ask for. Taking it out empties the drive of a running machine, whatever its guest does with it.
import type { IsoRef } from '../../../hypervisor/driver.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { type Deps, workflow } from '../../deps.ts'
import { isHostLost } from '../../hosts/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { requireIsoPlace, requireNothingUndone, startAction } from '../model/guards.ts'
import { findIso, getIso, holdIsoImage, markIsoAttached, releaseIso, reserveIso, toIsoRef } from '../model/iso.ts'
import { getVmRow } from '../model/machine-spec.ts'
import * as sql from '../model/sql.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import type { AttachIso } from '../schema.ts'
import * as steps from '../steps.ts'

interface Input extends steps.VmInput {
  imageId: string
  /** Of the image, when it was asked for. */
  name: string
}

interface AttachInput extends Input {
  /** Of a running VM. */
  restarts: boolean
}

interface DetachInput extends Input {
  isUnpaid?: boolean
}

type Context<I extends Input> = Pick<StepContext<Deps, I, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

/** What one needs who may read it: its guest reads all of it. */
const READS_IMAGES = 'images:read'

export const attachIso = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  { imageId, restart = false }: AttachIso,
): Promise<ActionStarted> => {
  if (!who.scopes.has(READS_IMAGES)) throw apiError('missing_scope', `This token lacks the required scope: ${READS_IMAGES}`)
  return startAction(tx, deps, who, vmId, {
    verb: 'attachIso',
    label: 'ATTACH_ISO',
    find: () => holdIsoImage(tx, who.accountId, imageId),
    act: async (vm, start, image) => {
      await requireNothingUndone(tx, vm)
      await requireIsoPlace(tx, who.accountId)
      await reserveIso(tx, vm, image)
      return start(attachIsoWorkflow, { vmId, imageId, name: image.name, restarts: restart && vm.status === 'RUNNING' })
    },
  })
}

export const detachIso = (tx: Tx, deps: Deps, who: Principal, vmId: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'detachIso',
    label: DETACH_ISO,
    act: async (vm, start) => {
      await requireNothingUndone(tx, vm)
      const { image_id: imageId, name } = await getIso(tx, vmId)
      return start(detachIsoWorkflow, { vmId, imageId, name })
    },
  })

export const DETACH_ISO = 'DETACH_ISO'

/** Of an image that is not paid, whatever state its VM is in. */
export const takeUnpaidIso = (tx: Tx, deps: Deps, { account_id }: { account_id: string }, vmId: string): Promise<void> =>
  startAction(tx, deps, { accountId: account_id }, vmId, {
    verb: null,
    label: DETACH_ISO,
    act: async (vm, start) => {
      if (vm.status === 'UNMANAGED') return // its machine is left alone
      await requireNothingUndone(tx, vm)
      const { image_id: imageId, name } = await getIso(tx, vmId)
      await start(detachIsoWorkflow, { vmId, imageId, name, isUnpaid: true })
    },
  })

const isoOf = async ({ deps, input }: Context<Input>): Promise<IsoRef> => toIsoRef(await getIso(deps.db, input.vmId))

async function changeMedium(context: Context<Input>, iso: IsoRef | null): Promise<{ isoId: string | null }> {
  const { vm, driver } = await steps.vmAndDriver(context)
  return driver.ensureInDrive(vm.id, iso, context.signal)
}

const toldOf = ({ imageId, name }: Input) => ({ iso: { imageId, name } })

const isRestarted = ({ restarts }: AttachInput): boolean => restarts

/** Until it is attached, whatever starts the machine starts it without. The file may be large, and others of its host wait for it. */
export const attachIsoWorkflow = workflow<AttachInput>('vm.attach_iso', { deadline: '2h', queue: 'copies' })
  .step('file', {
    timeout: '1h',
    run: async (context) => (await steps.vmAndDriver(context)).driver.ensureIso(await isoOf(context), context.signal),
  })
  .step('insert', {
    when: (input) => !isRestarted(input),
    run: async (context) => changeMedium(context, await isoOf(context)),
    undo: (context) => changeMedium(context, null),
  })
  .step('stop', {
    ...steps.STOP_STEP,
    when: isRestarted,
    run: (context) => steps.powerOff(context, steps.SHUTDOWN_GRACE_MS),
    undo: (context) => steps.boot(context),
  })
  .step('networks', { when: isRestarted, run: steps.prepareNetworks })
  .step('filter', { when: isRestarted, run: steps.applyPorts, save: steps.savePorts })
  .step('boot', {
    when: isRestarted,
    run: async (context) => steps.boot(context, { iso: await isoOf(context) }),
    undo: (context) => steps.powerOff(context, 0),
  })
  .step('ready', { ...steps.READY_STEP, when: isRestarted, run: (context): Promise<steps.Ready> => steps.awaitReady(context) })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const { vmId, imageId, restarts } = input
    const { insert, ready } = results as { insert?: { isoId: string | null }; ready?: steps.Ready }
    const { status } = await getVmRow(tx, vmId)
    await markIsoAttached(tx, now, vmId, restarts || (status === 'RUNNING' && insert?.isoId === imageId))
    if (ready) await sql.setStatus(tx, now, vmId, { status: 'RUNNING', ...ready, desiredRunning: true })
    await recordVmEvent(tx, deps, vmId, 'vm.iso_attached', { actionId: runId }, toldOf(input))
    if (ready) await recordVmEvent(tx, deps, vmId, 'vm.restarted', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input, error, begun, runId, now, cleanupFailed }) => {
    const { vmId, restarts } = input
    const vm = await sql.lockVmById(tx, vmId)
    await releaseIso(tx, vmId)
    if (!vm) return
    if (cleanupFailed && vm.host_id !== null) await recordStaleMachine(tx, now, vmId, vm.host_id)
    if (!restarts || !begun.includes('stop')) return
    const reason = `It was restarted without the ISO image, with which it could not be started: ${error?.userMessage ?? 'it was cancelled'}`
    await sql.setStatus(tx, now, vmId, { status: vm.status, reason, readiness: 'booting' })
    await recordVmEvent(tx, deps, vmId, 'vm.restarted', { actionId: runId, reason: 'iso' })
  })

/** A lost host is not waited for: its machine is put right when it returns. */
export const detachIsoWorkflow = workflow<DetachInput>('vm.detach_iso', { deadline: '15m' })
  .step('eject', {
    run: async (context): Promise<'left' | 'ejected'> => {
      const { deps, input } = context
      const { host_id } = await getVmRow(deps.db, input.vmId)
      if (host_id !== null && (await isHostLost(deps.db, host_id, deps.clock.now()))) return 'left'
      if (host_id !== null) await changeMedium(context, null)
      return 'ejected'
    },
    undo: async (context) => {
      const iso = await findIso(context.deps.db, context.input.vmId) // gone where its host was lost meanwhile
      if (iso?.active) await changeMedium(context, toIsoRef(iso))
    },
  })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const vm = await getVmRow(tx, input.vmId)
    await releaseIso(tx, vm.id)
    if (results.eject === 'left') await recordStaleMachine(tx, now, vm.id, vm.host_id!)
    else if (vm.status_reason === steps.startsFromIso(input.name)) {
      const reason = `It was started from ISO image ${input.name}, which is detached: restart it, and it starts from its own disk`
      await sql.setStatus(tx, now, vm.id, { status: vm.status, reason })
    }
    await recordVmEvent(tx, deps, vm.id, 'vm.iso_detached', { actionId: runId, ...(input.isUnpaid && { reason: 'unpaid' }) }, toldOf(input))
  })
  .onFailure(async (tx, { input: { vmId }, now, cleanupFailed }) => {
    const vm = await sql.lockVmById(tx, vmId)
    if (vm && vm.host_id !== null && cleanupFailed) await recordStaleMachine(tx, now, vmId, vm.host_id)
  })
