// A VM on replicated storage leaves a host that was fenced: its disk is where it was, and another host starts a machine with it, as after a power
// failure. It keeps its MAC, networks, volumes in storage backends, and each public address that its new host serves. The row changes host, and the
// capacity is booked, before anything is done: whatever fails then, the VM is on its new host, and what the old one has of it is stale.
import type { Tx } from '../../../kernel/database/db.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { getRegion, getTemplateById } from '../../catalog/service.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity } from '../../hosts/capacity.ts'
import { createPortState } from '../../ports/service.ts'
import { leaveVolumes, moveVolumes } from '../../storage/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { clearFailedRecovery, recordFailedRecovery } from '../model/failed-recoveries.ts'
import { startRunOf } from '../model/guards.ts'
import { reallocatePlacement, sizeOf, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import * as steps from '../steps.ts'
import { detachIsoElsewhere, endRescueElsewhere } from './evacuate.ts'
import { wishesOf } from './wishes.ts'

interface Input extends steps.VmInput {
  sourceId: string
  isOn: boolean
  /** Its status where it stays off. */
  off: 'STOPPED' | 'SUSPENDED'
}

/** Of a locked, idle VM whose host is fenced, or has its machine off. */
export async function startOnOtherHost(
  tx: Tx,
  deps: Deps,
  vm: sql.VmDetails,
  among: ReadonlySet<string> | undefined,
): Promise<ActionStarted & { hostId: string }> {
  const now = deps.clock.now()
  const sourceId = vm.host_id!
  await endRescueElsewhere(tx, deps, vm.id)
  await detachIsoElsewhere(tx, deps, vm.id)
  const wishes = await wishesOf(tx, vm, await getTemplateById(tx, vm.os_template_id))
  const place = await reallocatePlacement(tx, now, await getRegion(tx, vm.region_id), vm, wishes, undefined, among)
  await releaseCapacity(tx, sourceId, sizeOnHost(vm, sizeOf(vm)))
  await moveVolumes(tx, now, vm.id, sourceId, place.host_id)
  await leaveVolumes(tx, now, vm.id, sourceId) // those that are on the old host itself
  await sql.setPlacement(tx, now, vm.id, place)
  await createPortState(tx, vm.id, place.host_id, vm.account_id)
  await recordStaleMachine(tx, now, vm.id, sourceId)
  return { ...(await startOnHost(tx, deps, vm, sourceId)), hostId: place.host_id }
}

/** Where it is placed. Of a locked, idle VM that has left the host `sourceId`. */
export const startOnHost = (tx: Tx, deps: Deps, vm: sql.VmDetails, sourceId: string): Promise<ActionStarted> => {
  const isSuspended = vm.status === 'SUSPENDED' || vm.account_suspended
  return startRunOf(
    tx,
    deps,
    vm,
    'RECOVER',
  )(recoverVm, {
    vmId: vm.id,
    sourceId,
    isOn: vm.desired_running && !isSuspended && vm.pending_hold === null,
    off: vm.status === 'SUSPENDED' ? 'SUSPENDED' : 'STOPPED',
  })
}

export const recoverVm = workflow<Input>('vm.recover', { deadline: '30m' })
  .step('networks', { run: steps.prepareNetworks })
  .step('filter', { run: steps.applyPorts, save: steps.savePorts })
  .step('define', { run: steps.applySpec })
  .step('boot', {
    run: async (context) => {
      if (context.input.isOn) await steps.boot(context)
    },
    undo: (context) => steps.powerOff(context, 0),
  })
  .step('ready', {
    ...steps.READY_STEP,
    run: async (context) => (context.input.isOn ? steps.awaitReadyOrEnd(context, {}, ['guest']) : null),
  })
  .onSuccess(async (tx, { deps, input: { vmId, off }, results: { ready }, runId, now }) => {
    await clearFailedRecovery(tx, vmId)
    const reason = ready ? (ready.reason ?? 'Its host failed, and it was started on another') : 'Its host failed, and it is on another now'
    if (ready) await sql.setStatus(tx, now, vmId, { status: 'RUNNING', readiness: ready.readiness, reason })
    else if (off !== 'SUSPENDED') await sql.setStatus(tx, now, vmId, { status: off, readiness: 'booting', reason })
    await recordVmEvent(tx, deps, vmId, ready ? 'vm.restarted' : 'vm.migrated', { actionId: runId, reason: 'host' })
  })
  // It is still wanted: it is tried again, and if this host is lost as well, the next one starts it.
  .onFailure(async (tx, { deps, input: { vmId, sourceId, off }, error, cleanupFailed, runId, now }) => {
    const vm = await sql.lockVmById(tx, vmId)
    if (!vm) return
    if (cleanupFailed) await recordStaleMachine(tx, now, vmId, vm.host_id!)
    const failures = await recordFailedRecovery(tx, now, vmId, sourceId)
    const problem = error?.userMessage ?? 'it was cancelled'
    deps.log.error({ vmId, hostId: vm.host_id, failures, problem }, 'starting VM of a lost host failed; will retry')
    if (off === 'SUSPENDED') return
    const reason = `Its host failed. It is tried again by itself, because another could not start it: ${problem}`
    await sql.setStatus(tx, now, vmId, { status: 'ERROR', reason, readiness: 'booting' })
    if (failures === 1) await recordVmEvent(tx, deps, vmId, 'vm.error', { actionId: runId, reason: 'host' })
  })
