import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { type Deps, workflow } from '../../deps.ts'
import { recordVmEvent } from '../model/events.ts'
import { clearFailedRecovery, findFailedRecovery } from '../model/failed-recoveries.ts'
import { startAction } from '../model/guards.ts'
import { openPasswordHash, sealPassword } from '../model/guest-password.ts'
import { findIso } from '../model/iso.ts'
import { getVmRow } from '../model/machine-spec.ts'
import * as sql from '../model/sql.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import {
  applyPorts,
  awaitReady,
  boot,
  powerOff,
  prepareNetworks,
  READY_STEP,
  savePorts,
  SHUTDOWN_GRACE_MS,
  vmAndDriver,
  type VmInput,
  STOP_STEP,
} from '../steps.ts'

type Owner = Pick<Principal, 'accountId'>

export const start = (tx: Tx, deps: Deps, who: Principal, vmId: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, { verb: 'start', label: 'START', act: (_, run) => run(startVm, { vmId }) })

export const stop = (tx: Tx, deps: Deps, who: Principal, vmId: string, force = false): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, { verb: 'stop', label: 'STOP', act: (_, run) => run(stopVm, { vmId, force }) })

export const restart = (tx: Tx, deps: Deps, who: Principal, vmId: string, force = false): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'restart',
    label: 'RESTART',
    act: async (vm, run) => {
      const getsIso = vm.has_iso && !vm.in_rescue && !(await findIso(tx, vmId))!.active
      return run(restartVm, { vmId, force, ...(getsIso && { getsIso }) })
    },
  })

/** By an operator, or because the renewal is unpaid (`unpaid`); only an unpaid suspension is lifted by a payment. */
export const suspend = (tx: Tx, deps: Deps, who: Owner, vmId: string, unpaid = false): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, { verb: 'suspend', label: 'SUSPEND', act: (_, run) => run(suspendVm, { vmId, unpaid }) })

export const unsuspend = (tx: Tx, deps: Deps, who: Owner, vmId: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'unsuspend',
    label: 'UNSUSPEND',
    act: (vm, run) => run(vm.shelved_at === null ? unsuspendVm : unsuspendShelved, { vmId }),
  })

export const resetPassword = (tx: Tx, deps: Deps, who: Principal, vmId: string, passwordHash: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'password',
    label: 'PASSWORD_RESET',
    act: (vm, run) => {
      if (!vm.has_agent)
        throw apiError('incompatible', `${vm.template_name} has no guest agent: log in and change the password there, or rebuild the VM`)
      return run(setPassword, { vmId, user: vm.default_user, passwordHash: sealPassword(deps, vmId, passwordHash) })
    },
  })

/** When the start fails the VM is STOPPED with the reason in its status; one that has lost its host is still started by itself. */
export const startVm = workflow<VmInput>('vm.start', { deadline: '15m' })
  .step('networks', { run: prepareNetworks })
  .step('filter', { run: applyPorts, save: savePorts })
  .step('boot', { run: boot, undo: (context) => powerOff(context, 0) })
  .step('ready', { run: awaitReady, ...READY_STEP })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const { readiness, reason } = results.ready
    await sql.setStatus(tx, now, input.vmId, { status: 'RUNNING', readiness, reason, desiredRunning: true })
    await clearFailedRecovery(tx, input.vmId)
    await recordVmEvent(tx, deps, input.vmId, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { input, error, cleanupFailed, now }) => {
    await noteIfLeftOn(tx, input.vmId, { cleanupFailed, now })
    const isTriedAgain = (await findFailedRecovery(tx, input.vmId)) !== undefined
    const reason = error?.userMessage ?? null
    await sql.setStatus(
      tx,
      now,
      input.vmId,
      isTriedAgain ? { status: 'ERROR', reason } : { status: 'STOPPED', reason, desiredRunning: false },
    )
  })

/** Its machine may run on its host, which was not told to stop it. */
async function noteIfLeftOn(tx: Tx, vmId: string, { cleanupFailed, now }: { cleanupFailed: boolean; now: Date }): Promise<void> {
  if (cleanupFailed) await recordStaleMachine(tx, now, vmId, (await getVmRow(tx, vmId)).host_id!)
}

export interface ForceInput extends VmInput {
  force: boolean
}

export const stopVm = workflow<ForceInput>('vm.stop', { deadline: '10m' })
  .step('power off', { run: (context) => powerOff(context, context.input.force ? 0 : SHUTDOWN_GRACE_MS), ...STOP_STEP })
  .onSuccess(async (tx, { deps, input, runId, now }) => {
    await sql.setStatus(tx, now, input.vmId, {
      status: 'STOPPED',
      reason: 'Stopped by its owner',
      readiness: 'booting',
      desiredRunning: false,
    })
    await recordVmEvent(tx, deps, input.vmId, 'vm.stopped', { actionId: runId, reason: 'user' })
  })

interface RestartInput extends ForceInput {
  /** An ISO image is attached that its machine does not have yet: it gets it by being stopped and started. */
  getsIso?: boolean
}

const getsIso = (input: RestartInput): boolean => input.getsIso ?? false

export const restartVm = workflow<RestartInput>('vm.restart', { deadline: '15m' })
  .step('power off', {
    ...STOP_STEP,
    when: getsIso,
    run: (context) => powerOff(context, context.input.force ? 0 : SHUTDOWN_GRACE_MS),
    undo: (context) => boot(context, { iso: undefined }),
  })
  .step('networks', { when: getsIso, run: prepareNetworks })
  .step('filter', { when: getsIso, run: applyPorts, save: savePorts })
  .step('boot', { when: getsIso, run: (context) => boot(context), undo: (context) => powerOff(context, 0) })
  .step('reboot', {
    ...STOP_STEP,
    when: (input) => !getsIso(input),
    run: async (context) => {
      const { vm, driver } = await vmAndDriver(context)
      await driver.ensureRestarted(vm.id, { actionId: context.runId, graceMs: context.input.force ? 0 : SHUTDOWN_GRACE_MS }, context.signal)
    },
  })
  .step('ready', { run: awaitReady, ...READY_STEP })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const { readiness, reason } = results.ready
    await sql.setStatus(tx, now, input.vmId, { status: 'RUNNING', readiness, reason })
    await recordVmEvent(tx, deps, input.vmId, 'vm.restarted', { actionId: runId })
  })

export interface PasswordInput extends VmInput {
  user: string
  /** Encrypted. */
  passwordHash: string
}

export const setPassword = workflow<PasswordInput>('vm.reset_password', { deadline: '5m' }).step('password', {
  timeout: '1m',
  waitsForGuest: true,
  run: async (context) => {
    const { vm, driver } = await vmAndDriver(context)
    const passwordHash = openPasswordHash(context.deps, vm.id, context.input.passwordHash)
    await driver.ensurePassword(vm.id, { user: context.input.user, passwordHash }, context.signal)
  },
})

export const ON_SHELF = 'Shelved by its owner'
export const COMES_BACK_WHEN_PAID = 'Payment overdue: restarts automatically once the balance covers the renewal'
export const HELD_BY_OPERATOR = 'Suspended by the operator. Contact support'

export interface SuspendInput extends VmInput {
  unpaid: boolean
  /** A SUSPENDED VM was started on its host: it is stopped again, without a second event. */
  again?: boolean
}

export const suspendVm = workflow<SuspendInput>('vm.suspend', { deadline: '15m' })
  .step('power off', { run: (context) => powerOff(context, SHUTDOWN_GRACE_MS), ...STOP_STEP })
  .onSuccess(async (tx, { deps, input: { vmId, unpaid, again }, runId, now }) => {
    const { account_suspended, pending_hold } = await getVmRow(tx, vmId)
    const isUnpaid = unpaid && pending_hold !== 'SUSPEND' // the operator may have asked meanwhile
    const reason = isUnpaid && !account_suspended ? COMES_BACK_WHEN_PAID : HELD_BY_OPERATOR
    await sql.setStatus(tx, now, vmId, { status: 'SUSPENDED', reason, readiness: 'booting' })
    await sql.markSuspended(tx, now, vmId, isUnpaid)
    if (!again) await recordVmEvent(tx, deps, vmId, 'vm.suspended', { actionId: runId, reason: isUnpaid ? 'unpaid' : 'operator' })
  })

/** It is on no host, and stays shelved. */
export const unsuspendShelved = workflow<VmInput>('vm.unsuspend_shelved', { deadline: '15m' })
  .step('resume billing', { save: (tx, { input, now }) => sql.resumeBilling(tx, now, input.vmId) })
  .onSuccess(async (tx, { deps, input, runId, now }) => {
    await sql.setStatus(tx, now, input.vmId, { status: 'STOPPED', reason: ON_SHELF })
    await recordVmEvent(tx, deps, input.vmId, 'vm.unsuspended', { actionId: runId })
  })

/** Restores the power state from before the suspension. */
export const unsuspendVm = workflow<VmInput>('vm.unsuspend', { deadline: '15m' })
  .step('networks', { run: prepareNetworks })
  .step('filter', { run: applyPorts, save: savePorts })
  .step('boot', {
    run: async (context) => {
      if ((await vmAndDriver(context)).vm.desired_running) await boot(context)
    },
    undo: (context) => powerOff(context, 0),
  })
  .step('ready', {
    ...READY_STEP,
    run: async (context) => ((await vmAndDriver(context)).vm.desired_running ? awaitReady(context) : null),
  })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const { ready } = results
    await sql.resumeBilling(tx, now, input.vmId)
    await sql.setStatus(tx, now, input.vmId, ready ? { status: 'RUNNING', ...ready } : { status: 'STOPPED', readiness: 'booting' })
    await recordVmEvent(tx, deps, input.vmId, ready ? 'vm.started' : 'vm.unsuspended', { actionId: runId })
  })
  .onFailure((tx, { input, ...end }) => noteIfLeftOn(tx, input.vmId, end))
