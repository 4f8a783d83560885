// Makes a machine match its VM's row, after a change failed while the host was unreachable and could not be compensated there.
import type { Machine } from '../../../hypervisor/driver.ts'
import { addDuration } from '../../../kernel/clock.ts'
import { workflow } from '../../deps.ts'
import { recordVmEvent } from '../model/events.ts'
import { getVmRow } from '../model/machine-spec.ts'
import { clearStaleMachine, postponeStaleMachine } from '../model/stale-machines.ts'
import * as sql from '../model/sql.ts'
import * as steps from '../steps.ts'

interface Input extends steps.VmInput {
  isOn: boolean
}

/**
 * Extra interfaces do not count: they are detached without a restart. Nor does a machine that runs although its row says off: the power
 * reconciler handles it.
 */
export function matchesRecord(
  vm: sql.VmRow,
  attachments: { mac: string }[],
  volumes: { id: string }[],
  rescueGeneration: number | null,
  isoId: string | null,
  machine: Machine | null,
): boolean {
  if (!machine) return vm.status === 'ERROR' || vm.status === 'SUSPENDED'
  const isSameSystem = machine.generation === vm.generation && machine.rescueGeneration === rescueGeneration
  const isSameShape = isSameSystem && machine.vcpu === vm.vcpu && machine.ramMiB === vm.ram_mib
  const isPlugged = [{ mac: vm.mac }, ...attachments].every(({ mac }) => machine.nics.some((nic) => nic.mac === mac))
  // A volume too many may be attached to another machine next.
  const hasVolumes = machine.volumes.length === volumes.length && volumes.every(({ id }) => machine.volumes.includes(id))
  // One that is missing is there at the next start.
  const hasNoOtherIso = machine.isoId === null || machine.isoId === isoId
  return isSameShape && isPlugged && hasVolumes && hasNoOtherIso && (vm.status !== 'RUNNING' || machine.power === 'running')
}

const TRY_AGAIN = '10m'

export const repairVm = workflow<Input>('vm.repair', { deadline: '30m' })
  .step('stop', { ...steps.STOP_STEP, run: (context) => steps.powerOff(context, steps.SHUTDOWN_GRACE_MS) })
  .step('define', { run: steps.applySpec })
  .step('networks', { run: steps.prepareNetworks })
  .step('filter', { run: steps.applyPorts, save: steps.savePorts })
  .step('boot', {
    run: async (context) => {
      if (context.input.isOn) await steps.boot(context)
    },
  })
  .step('ready', {
    ...steps.READY_STEP,
    run: async (context) => (context.input.isOn ? steps.awaitReady(context) : null),
  })
  .onSuccess(async (tx, { deps, input: { vmId }, results: { ready }, runId, now }) => {
    const vm = await getVmRow(tx, vmId)
    await clearStaleMachine(tx, vmId, vm.host_id!)
    const reason = ready?.reason ?? vm.status_reason // the reason the change failed
    await sql.setStatus(tx, now, vmId, { status: vm.status, reason, readiness: ready?.readiness ?? 'booting' })
    await recordVmEvent(tx, deps, vmId, ready ? 'vm.restarted' : 'vm.stopped', { actionId: runId, reason: 'host' })
  })
  .onFailure(async (tx, { deps, input: { vmId }, error, runId, now }) => {
    const { host_id, status } = await getVmRow(tx, vmId)
    if (error?.code !== 'not_found') {
      await postponeStaleMachine(tx, vmId, host_id!, addDuration(now, TRY_AGAIN))
      const reason = `Its host was away while it changed, and it could not be put right yet: ${error?.userMessage ?? 'it was cancelled'}`
      return sql.setStatus(tx, now, vmId, { status, reason })
    }
    await clearStaleMachine(tx, vmId, host_id!)
    await sql.setStatus(tx, now, vmId, { status: 'ERROR', reason: steps.DISK_GONE })
    return recordVmEvent(tx, deps, vmId, 'vm.error', { actionId: runId, reason: 'host' })
  })
