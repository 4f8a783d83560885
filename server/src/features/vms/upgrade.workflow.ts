// Stops, grows and starts a VM. When it fails the VM is as it was: same size, same power state, money back.
import type { MachineSpec } from '../../hypervisor/driver.ts'
import type { StepContext } from '../../workflow/define.ts'
import type { Deps } from '../deps.ts'
import { workflow } from '../deps.ts'
import { releaseCapacity, type Size } from '../hosts/capacity.ts'
import { refund } from '../wallet/service.ts'
import { recordVmEvent } from './events.ts'
import { getVmRow, machineSpec } from './machine.ts'
import { recordStaleMachine } from './move.ts'
import { giveBackVmQuotas } from './place.ts'
import { resizeVm } from './shape.ts'
import * as sql from './sql.ts'
import {
  applyFilter,
  awaitReady,
  boot,
  SHUTDOWN_GRACE_MS,
  powerOff,
  prepareNetworks,
  READY_STEP,
  applySpec,
  saveFilter,
  vmAndDriver,
  type Ready,
  type VmInput,
} from './steps.ts'

/** In JSON, because it waits in the journal. */
export interface ShapeBefore extends Omit<sql.VmSize, 'customPriceCents' | 'periodPriceCents'> {
  customPriceCents: string | null
  periodPriceCents: string
  dailyBackupPaidUntil: string | null
  network10gPaidUntil: string | null
}

interface Input extends VmInput {
  wasRunning: boolean
  before: ShapeBefore
  more: Size
  chargedCents: string
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))

type Context = StepContext<Deps, Input, unknown>

/** The row has the new size from the start, so the old machine is described from the journal. */
async function specBefore(context: Context): Promise<MachineSpec> {
  const { vm } = await vmAndDriver(context)
  const { vcpu, ramMiB, diskGiB } = context.input.before
  return { ...(await machineSpec(context.deps.db, vm)), vcpu, ramMiB, diskGiB }
}

export const upgradeVm = workflow<Input>('vm.upgrade', { deadline: '20m' })
  .step('stop', {
    timeout: '3m',
    run: (context) => powerOff(context, SHUTDOWN_GRACE_MS),
    undo: async (context) => {
      if (!context.input.wasRunning) return
      await (await vmAndDriver(context)).driver.ensureRunning(await specBefore(context), context.signal)
    },
  })
  .step('resize', {
    run: applySpec,
    undo: async (context) => void (await (await vmAndDriver(context)).driver.ensureDefined(await specBefore(context), context.signal)),
  })
  .step('networks', { run: prepareNetworks })
  .step('filter', { run: applyFilter, save: saveFilter })
  .step('boot', {
    run: async (context) => {
      if (context.input.wasRunning) await boot(context)
    },
    undo: (context) => powerOff(context, 0),
  })
  .step('ready', {
    timeout: READY_STEP,
    run: async (context): Promise<Ready | null> => (context.input.wasRunning ? awaitReady(context) : null),
  })
  .onSuccess(async (tx, { input, results, runId, now }) => {
    await sql.setStatus(tx, now, input.vmId, results.ready ? { status: 'RUNNING', ...results.ready } : { status: 'STOPPED' })
    await recordVmEvent(tx, now, input.vmId, 'vm.upgraded', { actionId: runId })
  })
  .onFailure(async (tx, { input, error, runId, now, stranded }) => {
    const vm = await getVmRow(tx, input.vmId)
    const { before, more } = input
    const price = {
      customPriceCents: before.customPriceCents === null ? null : BigInt(before.customPriceCents),
      periodPriceCents: BigInt(before.periodPriceCents),
    }
    await giveBackVmQuotas(tx, vm.account_id, more, 0n)
    await releaseCapacity(tx, vm.host_id!, more)
    if (stranded) await recordStaleMachine(tx, now, vm.id, vm.host_id!)
    await resizeVm(tx, now, vm.id, { ...before, ...price })
    await sql.setPaidAddOns(tx, vm.id, {
      daily_backup_paid_until: dateOf(before.dailyBackupPaidUntil),
      network_10g_paid_until: dateOf(before.network10gPaidUntil),
    })
    const reason = `The upgrade failed and was taken back: ${error?.userMessage ?? 'it was cancelled'}`
    await sql.setStatus(tx, now, vm.id, { status: input.wasRunning ? 'RUNNING' : 'STOPPED', reason })
    await recordVmEvent(tx, now, vm.id, 'vm.upgrade_failed', { actionId: runId, reason })
    const description = `The upgrade of ${vm.name} failed`
    await refund(tx, now, vm.account_id, BigInt(input.chargedCents), {
      type: 'VM_REFUND',
      description,
      referenceType: 'VM',
      referenceId: vm.id,
    })
  })
