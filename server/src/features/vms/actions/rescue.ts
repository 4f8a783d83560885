// POST and DELETE /vms/{id}/rescue. The rescue system has a throw-away disk, made from a template of the catalog where the disk of the VM is; the machine of the
// VM is defined with it as what it starts, and with its own disk and volumes beside it. The VM is in rescue from the end of the one run to the
// last step but one of the other, and the row says so to whatever starts its machine between them. Whatever fails returns the machine to what it was.
import { isDriverError, type MachineSpec, type RescueSystem } from '../../../hypervisor/driver.ts'
import type { Principal } from '../../../http/api/principal.ts'
import { addDuration } from '../../../kernel/clock.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, invalid } from '../../../kernel/errors.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { findTemplateOfArch, getTemplateById, type TemplateRow } from '../../catalog/service.ts'
import { type Deps, workflow } from '../../deps.ts'
import { getHost, isHostLost } from '../../hosts/service.ts'
import { keysOf, requireKeys } from '../../ssh-keys/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { clearFailedRecovery } from '../model/failed-recoveries.ts'
import { startAction, startRunOf, type StartRun } from '../model/guards.ts'
import { openPasswordHash, sealPassword } from '../model/guest-password.ts'
import { getVmRow, machineSpec, templateRef } from '../model/machine-spec.ts'
import { findRescue, markInRescue, releaseRescue, rescueDisk, RESCUE_LASTS, reserveRescue } from '../model/rescue.ts'
import * as sql from '../model/sql.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import type { RescueVm, VmStatus } from '../schema.ts'
import * as steps from '../steps.ts'

interface Input extends steps.VmInput {
  /** Of the disk of the rescue system. */
  generation: number
  statusBefore: VmStatus
}

interface RescueInput extends Input {
  templateId: string
  diskGiB: number
  sshKeys: string[]
  /** Encrypted. */
  passwordHash: string | null
}

interface UnrescueInput extends Input {
  /** Why, where its owner did not ask for it. */
  reason: string | null
}

type Context<I extends Input> = Pick<StepContext<Deps, I, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

export const rescue = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  input: RescueVm,
  plainHash: string | null = null,
): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'rescue',
    label: 'RESCUE',
    find: async (vm) => requireKeys(tx, vm.account_id, input.sshKeyIds ?? (await keysOf(tx, vmId)).map(({ id }) => id)),
    act: async (vm, start, keys) => {
      if (vm.host_id !== null && (await getHost(tx, vm.host_id)).maintenance)
        throw apiError('unavailable', 'The host of this VM is in maintenance, so no rescue is begun there: try again when that is over')
      if (keys.length === 0 && plainHash === null)
        throw invalid('nobody could log in to the rescue system: give sshKeyIds, or a password', 'sshKeyIds')
      const template = await requireTemplate(tx, deps, vm)
      const generation = await sql.nextGeneration(tx, vmId)
      const diskGiB = template.min_disk_gib
      await reserveRescue(tx, {
        vm_id: vmId,
        generation,
        template_id: template.id,
        gib: diskGiB,
        host_id: vm.host_id,
        storage_id: vm.storage_id,
      })
      return start(rescueVm, {
        vmId,
        generation,
        statusBefore: vm.status,
        templateId: template.id,
        diskGiB,
        sshKeys: keys.map((key) => key.public_key),
        passwordHash: sealPassword(deps, vmId, plainHash),
      })
    },
  })

async function requireTemplate(tx: Tx, { config }: Deps, vm: sql.VmDetails): Promise<TemplateRow> {
  const template = await findTemplateOfArch(tx, config.rescueTemplate, vm.template_arch)
  if (!template?.available)
    throw apiError(
      'unavailable',
      `There is no rescue system for ${vm.template_arch} at the moment: ask the provider for one (as an operator: BERTH_RESCUE_TEMPLATE, and berthd template build)`,
    )
  if (vm.ram_mib < template.min_ram_mib)
    throw apiError('incompatible', `The rescue system ${template.name} needs ${template.min_ram_mib} MiB of RAM; the VM has ${vm.ram_mib}`)
  return template
}

export const UNRESCUE = 'UNRESCUE'

export const unrescue = (tx: Tx, deps: Deps, who: Principal, vmId: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'unrescue',
    label: UNRESCUE,
    act: (vm, start) => startUnrescue(tx, vm, start, null),
  })

/** Of a locked, idle VM, in whatever state. */
export const endRescue = (tx: Tx, deps: Deps, vm: sql.VmDetails, reason: 'expired' | 'operator'): Promise<ActionStarted> =>
  startUnrescue(tx, vm, startRunOf(tx, deps, vm, UNRESCUE), reason)

async function startUnrescue(tx: Tx, vm: sql.VmDetails, start: StartRun, reason: string | null): Promise<ActionStarted> {
  const { generation } = (await findRescue(tx, vm.id))!
  return start(unrescueVm, { vmId: vm.id, generation, statusBefore: vm.status, reason })
}

const specOf = async ({ deps, input }: Context<Input>): Promise<{ vm: sql.VmDetails; own: MachineSpec }> => {
  const vm = await getVmRow(deps.db, input.vmId)
  return { vm, own: { ...(await machineSpec(deps, vm)), rescue: undefined } }
}

const systemOf = async ({ deps, input }: Context<RescueInput>): Promise<RescueSystem> => ({
  generation: input.generation,
  template: await templateRef(deps.db, input.templateId),
})

async function makeDisk(context: Context<RescueInput>): Promise<void> {
  const { deps, input, signal } = context
  const [{ vm, own }, { driver }] = [await specOf(context), await steps.vmAndDriver(context)]
  const { default_user: user } = await getTemplateById(deps.db, input.templateId)
  const passwordHash = openPasswordHash(deps, vm.id, input.passwordHash)
  const seed = { hostname: own.seed.hostname, user, sshKeys: input.sshKeys, passwordHash }
  await driver.ensureDisk(rescueDisk(own, await systemOf(context), input.diskGiB, seed), { from: 'template' }, signal)
}

async function removeDisk(context: Context<Input>): Promise<void> {
  const { vm, driver } = await steps.vmAndDriver(context)
  await driver.ensureNoDisk(vm.id, context.input.generation, context.signal)
}

/** Of a machine that was off it only changes what it starts next. One in ERROR may have no disk left to return to. */
async function bringBack(context: Context<Input>, spec: MachineSpec): Promise<void> {
  const { vm, driver } = await steps.vmAndDriver(context)
  const { statusBefore } = context.input
  await driver.ensureStopped(vm.id, { graceMs: 0 }, context.signal)
  const returned = statusBefore === 'RUNNING' ? steps.startMachine(context, vm.host_id!, spec) : driver.ensureDefined(spec, context.signal)
  await returned.catch((error: unknown) => {
    if (statusBefore !== 'ERROR' || !isDriverError(error, 'not_found')) throw error
  })
}

const returnToOwnDisk = async (context: Context<Input>): Promise<void> => bringBack(context, (await specOf(context)).own)

export const rescueVm = workflow<RescueInput>('vm.rescue', { deadline: '1h' })
  .step('disk', { timeout: '30m', run: makeDisk, undo: removeDisk })
  .step('stop', { ...steps.STOP_STEP, run: (context) => steps.powerOff(context, steps.SHUTDOWN_GRACE_MS), undo: returnToOwnDisk })
  .step('networks', { run: steps.prepareNetworks })
  .step('filter', { run: steps.applyPorts, save: steps.savePorts })
  .step('boot', {
    run: async (context) => steps.boot(context, { rescue: await systemOf(context) }),
    undo: returnToOwnDisk,
  })
  .step('ready', { ...steps.READY_STEP, run: async (context) => steps.requireReady(context, { rescue: await systemOf(context) }) })
  .onSuccess(async (tx, { deps, input: { vmId, statusBefore }, results, runId, now }) => {
    await clearFailedRecovery(tx, vmId)
    await markInRescue(tx, vmId, now, addDuration(now, RESCUE_LASTS))
    await sql.setStatus(tx, now, vmId, { status: 'RUNNING', readiness: results.ready.readiness, reason: IN_RESCUE, desiredRunning: true })
    await recordVmEvent(tx, deps, vmId, 'vm.rescue_started', { actionId: runId })
    if (statusBefore !== 'RUNNING') await recordVmEvent(tx, deps, vmId, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input: { vmId, statusBefore }, error, runId, now, cleanupFailed }) => {
    const vm = await sql.lockVmById(tx, vmId)
    await releaseRescue(tx, vmId)
    if (!vm) return
    const reason = `It could not be started in rescue: ${error?.userMessage ?? 'it was cancelled'}`
    await sql.setStatus(tx, now, vmId, { status: statusBefore, reason })
    if (cleanupFailed) await recordStaleMachine(tx, now, vmId, vm.host_id!)
    await recordVmEvent(tx, deps, vmId, 'vm.rescue_failed', { actionId: runId, reason })
  })

export const IN_RESCUE = 'In rescue: it runs the rescue system, and its own disk is attached beside that'

/** Instead of the rescue system that the row still says. */
const OWN_DISK = { rescue: undefined }

/** `boot`: nothing in a run of the release before. */
type Left = { stop: 'left' | 'stopped'; boot?: 'gone' | 'returned' | undefined }

const isOnAfter = ({ statusBefore }: Pick<Input, 'statusBefore'>): boolean => statusBefore === 'RUNNING' || statusBefore === 'ERROR'

/** A lost host is not waited for: its machine is put right when it returns, and the VM may be restored elsewhere at once. */
export const unrescueVm = workflow<UnrescueInput>('vm.unrescue', { deadline: '30m' })
  .step('stop', {
    ...steps.STOP_STEP,
    run: async (context): Promise<Left['stop']> => {
      const { deps, input } = context
      const { host_id } = await getVmRow(deps.db, input.vmId)
      if (await isHostLost(deps.db, host_id!, deps.clock.now())) return 'left'
      await steps.powerOff(context, steps.SHUTDOWN_GRACE_MS)
      return 'stopped'
    },
    undo: returnToRescue,
  })
  .step('networks', { run: async (context) => (isLeft(context) ? undefined : steps.prepareNetworks(context)) })
  .step('filter', {
    run: async (context) => (isLeft(context) ? { version: null } : steps.applyPorts(context)),
    save: steps.savePorts,
  })
  .step('boot', {
    run: async (context): Promise<Left['boot']> => {
      if (isLeft(context)) return 'returned'
      try {
        await (isOnAfter(context.input) ? steps.boot(context, OWN_DISK) : steps.applySpec(context, OWN_DISK))
        return 'returned'
      } catch (error) {
        if (!isDriverError(error, 'not_found') || !(await steps.isDiskGone(context))) throw error
        return 'gone'
      }
    },
    undo: returnToRescue,
  })
  .step('ready', {
    ...steps.READY_STEP,
    // It started from its own disk, whatever that does: its owner has the console then, and the rescue again.
    run: async (context): Promise<steps.Ready | null> =>
      isLeft(context) || isGone(context) || !isOnAfter(context.input) ? null : steps.awaitReadyOrEnd(context, OWN_DISK),
    save: (tx, { input }) => releaseRescue(tx, input.vmId),
  })
  .step('clean up', {
    run: async (context) => {
      if (!isLeft(context)) await removeDisk(context)
    },
    optional: true,
  })
  .onSuccess(async (tx, { deps, input: { vmId, reason, statusBefore }, results, runId, now }) => {
    const vm = await getVmRow(tx, vmId)
    const { ready } = results
    if (ready) await clearFailedRecovery(tx, vmId)
    if (results.stop === 'left') await recordStaleMachine(tx, now, vmId, vm.host_id!)
    else if (isGone({ results }))
      await sql.setStatus(tx, now, vmId, { status: statusBefore === 'SUSPENDED' ? 'SUSPENDED' : 'ERROR', reason: steps.DISK_GONE })
    else if (ready) await sql.setStatus(tx, now, vmId, { status: 'RUNNING', ...ready, desiredRunning: true })
    else if (statusBefore === 'STOPPED') await sql.setStatus(tx, now, vmId, { status: 'STOPPED', readiness: 'booting' })
    const detail = { actionId: runId, ...(reason !== null && { reason }) }
    await recordVmEvent(tx, deps, vmId, 'vm.rescue_ended', detail)
    if (ready && statusBefore !== 'RUNNING') await recordVmEvent(tx, deps, vmId, 'vm.started', { actionId: runId })
    if (isGone({ results }) && vm.status !== 'ERROR' && vm.status !== 'SUSPENDED')
      await recordVmEvent(tx, deps, vmId, 'vm.error', { actionId: runId, reason: 'host' })
  })
  .onFailure(async (tx, { input: { vmId, statusBefore }, error, now, cleanupFailed }) => {
    const vm = await sql.lockVmById(tx, vmId)
    if (!vm) return
    if (statusBefore !== 'SUSPENDED')
      await sql.setStatus(tx, now, vmId, {
        status: statusBefore,
        reason: `It is still in rescue, because it could not be started from its own disk: ${error?.userMessage ?? 'it was cancelled'}`,
      })
    if (cleanupFailed) await recordStaleMachine(tx, now, vmId, vm.host_id!)
  })

const isLeft = ({ results }: { results: Left }): boolean => results.stop === 'left'

/** There is nothing to return to, and nothing that a rescue could mend. */
const isGone = ({ results }: { results: Pick<Left, 'boot'> }): boolean => results.boot === 'gone'

/** Until the step `ready` its row says that it is in rescue. */
async function returnToRescue(context: Context<UnrescueInput>): Promise<void> {
  const { deps, input } = context
  await bringBack(context, await machineSpec(deps, await getVmRow(deps.db, input.vmId)))
}
