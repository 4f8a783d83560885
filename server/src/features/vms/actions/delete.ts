// DELETE /vms/{id}: purges the VM from its host, then deletes its records in one transaction. A lost host is not waited for: the machine
// is recorded as stale and purged when the host comes back.
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { workflow, type Deps, type EventDeps } from '../../deps.ts'
import { discardShelvedDisks } from '../../backup-targets/service.ts'
import { unbindAll } from '../../firewalls/service.ts'
import { callHost, getHost, isHostLost, isUnreachable } from '../../hosts/service.ts'
import { releaseAllAddresses } from '../../networks/service.ts'
import { forgetPorts, resumePorts } from '../../ports/service.ts'
import { forgetKeyUse } from '../../ssh-keys/service.ts'
import { getStorageBackend } from '../../storage/service.ts'
import { balanceOf, type Quote, toQuote } from '../../wallet/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { notifyDeleted } from '../model/hooks.ts'
import { getVmRow } from '../model/machine-spec.ts'
import { releaseIso } from '../model/iso.ts'
import { releaseRescue } from '../model/rescue.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import { releasePlacement, releaseVmQuotas, sizeOf } from '../model/placement.ts'
import { refundUnused, unusedOf } from '../billing/refund.ts'
import { requireAllowed } from '../model/allowed-actions.ts'
import { endOverdueRun, preemptOpenRun, startAction, startRunOf } from '../model/guards.ts'
import * as sql from '../model/sql.ts'
import { abandonInitialization } from '../model/user-data.ts'
import { purge, removePorts, type Context, type VmInput } from '../steps.ts'

const DELETE = 'DELETE'

interface Input extends VmInput {
  reason: string
}

export const deleteVm = workflow<Input>('vm.delete', { deadline: '1h' })
  .step('purge host', {
    timeout: '10m',
    tries: 100,
    run: async (context) => {
      const { host_id, storage_id } = await getVmRow(context.deps.db, context.input.vmId)
      if (storage_id !== null && host_id === null) await purgeInPool(context, storage_id)
      if (host_id === null) return 'gone'
      if (!(await isHostUnreachable(context, host_id))) {
        await purge(context)
        return 'gone'
      }
      await removePorts(context) // should the machine still run, it reaches nothing
      return 'left'
    },
  })
  .onSuccess((tx, { deps, input, results, runId }) => deleteVmRecords(tx, deps, runId, input, results['purge host'] === 'left'))
  .onFailure(async (tx, { input, error, now }) => {
    const vm = await getVmRow(tx, input.vmId)
    await sql.setStatus(tx, now, vm.id, { status: vm.status, reason: `It could not be deleted: ${error?.userMessage ?? ''}` })
    if (vm.host_id !== null && vm.provisioned && vm.status !== 'UNMANAGED') await resumePorts(tx, vm.id)
  })

/** Of a shelved VM, which no host has. */
async function purgeInPool({ deps, input, signal }: Pick<Context, 'deps' | 'input' | 'signal'>, storageId: string): Promise<void> {
  await deps.storage.open(await getStorageBackend(deps.db, storageId)).ensurePurged(input.vmId, signal)
}

/** This many attempts with their backoff take longer than a host reboot. */
const PATIENT_TRIES = 14

/** The heartbeat skips removed hosts, so this step probes such a host itself: its VMs may still run. */
async function isHostUnreachable({ deps, signal, tries }: StepContext<Deps, Input, unknown>, hostId: string): Promise<boolean> {
  if (await isHostLost(deps.db, hostId, deps.clock.now())) return true
  if (tries <= PATIENT_TRIES || (await getHost(deps.db, hostId)).removed_at === null) return false
  const error = await callHost(deps, hostId, signal, (driver, limit) => driver.health(limit))
  return error !== null && isUnreachable(error) && !signal.aborted
}

/** Takes locks in the order of a create, to avoid deadlocks: networks, quotas, capacity, event log, wallet. */
async function deleteVmRecords(tx: Tx, deps: EventDeps, actionId: string, { vmId, reason }: Input, isLeft: boolean): Promise<void> {
  const now = deps.clock.now()
  const vm = (await sql.lockVmById(tx, vmId))!
  await forgetKeyUse(tx, vmId)
  await unbindAll(tx, vmId)
  await forgetPorts(tx, vmId)
  await releaseAllAddresses(tx, vmId)
  const copiesCents = await sql.paidForCopies(tx, vmId)
  await releaseVmQuotas(tx, vm.account_id, sizeOf(vm), 1n)
  await notifyDeleted(tx, deps, vm, isLeft) // releases the quota of copies, so it precedes the capacity
  await releaseRescue(tx, vmId)
  await releaseIso(tx, vmId)
  await releasePlacement(tx, now, vm, isLeft)
  await discardShelvedDisks(tx, now, vmId)
  if (isLeft) await recordStaleMachine(tx, now, vmId, vm.host_id!)
  await recordVmEvent(tx, deps, vmId, 'vm.terminated', { actionId, reason })
  await abandonInitialization(tx, vmId)
  await sql.deleteVm(tx, now, vmId)
  await refundUnused(tx, now, vm, copiesCents)
}

export const remove = (tx: Tx, deps: Deps, who: Principal, vmId: string, dryRun = false): Promise<ActionStarted | DryRunResult<Quote>> =>
  startAction(tx, deps, who, vmId, {
    verb: 'delete',
    label: DELETE,
    act: async (vm, start) => {
      if (!dryRun) return start(deleteVm, { vmId, reason: 'Deleted by its owner' })
      const unused = await unusedOf(tx, deps.clock.now(), vm, await sql.paidForCopies(tx, vm.id))
      const balanceAfter = (await balanceOf(tx, vm.account_id)) + unused
      return new DryRunResult(toQuote(tx, deps.config.currency, { charge: -unused, monthly: 0n, balanceAfter }))
    },
  })

/** Runs when the retention of an unpaid VM ends; delete protection does not apply. */
export async function deleteUnpaidVm(tx: Tx, deps: Deps, vm: sql.VmDetails): Promise<ActionStarted> {
  await endOverdueRun(tx, deps, vm)
  await preemptOpenRun(tx, deps, vm)
  requireAllowed({ ...vm, is_protected: false }, 'delete')
  return startRunOf(tx, deps, vm, DELETE)(deleteVm, { vmId: vm.id, reason: 'Unpaid for too long' })
}
