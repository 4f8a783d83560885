// Builds a VM that has been paid for, or gives everything back. Also used when a VM that never came up is rebuilt.
import type { Deps } from '../deps.ts'
import { workflow } from '../deps.ts'
import { pauseFilter } from '../firewalls/service.ts'
import { refund } from '../wallet/service.ts'
import { recordVmEvent } from './events.ts'
import { getVmRow, machineSpec } from './machine.ts'
import { recordStaleMachine } from './move.ts'
import { releasePlacement } from './place.ts'
import * as sql from './sql.ts'
import {
  applyFilter,
  boot,
  prepareNetworks,
  READY_STEP,
  requireReady,
  saveFilter,
  vmAndDriver,
  purgeFromHost,
  type Context,
  type VmInput,
} from './steps.ts'

export interface ProvisionInput extends VmInput {
  chargedCents: string
  /** Sealed; null = no password login. */
  passwordHash: string | null
}

export const decryptPasswordHash = ({ vault }: Pick<Deps, 'vault'>, vmId: string, sealed: string | null): string | null =>
  sealed === null ? null : vault.open(Buffer.from(sealed, 'base64'), `password:${vmId}`)

/** One that could not be taken back would keep this one from starting. */
async function removeEarlierTry(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  if (vm.generation > 1) await driver.ensurePurgedKeepBackups(vm.id, context.signal)
}

export const provisionVm = workflow<ProvisionInput>('vm.provision', { deadline: '20m' })
  .step('networks', {
    run: async (context) => {
      await removeEarlierTry(context)
      await prepareNetworks(context)
    },
  })
  .step('filter', { run: applyFilter, save: saveFilter, undo: purgeFromHost })
  .step('disk', {
    timeout: '10m',
    run: async (context) => {
      const { vm, driver } = await vmAndDriver(context)
      const passwordHash = decryptPasswordHash(context.deps, vm.id, context.input.passwordHash)
      await driver.ensureDisk(await machineSpec(context.deps.db, vm, passwordHash), { from: 'template' }, context.signal)
    },
    undo: purgeFromHost,
  })
  .step('boot', { run: boot, undo: purgeFromHost })
  .step('ready', { run: requireReady, timeout: READY_STEP })
  .onSuccess(async (tx, { input, results, runId, now }) => {
    const vm = await getVmRow(tx, input.vmId)
    await sql.markProvisioned(tx, now, vm.id, vm.generation)
    await sql.setStatus(tx, now, vm.id, { status: 'RUNNING', readiness: results.ready.readiness, wantedOn: true })
    await recordVmEvent(tx, now, vm.id, 'vm.created', { actionId: runId })
    await recordVmEvent(tx, now, vm.id, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { input, error, stranded, runId, now }) => {
    const vm = await getVmRow(tx, input.vmId)
    const reason = error?.userMessage ?? 'It was cancelled'
    if (stranded) {
      await pauseFilter(tx, vm.id)
      await recordStaleMachine(tx, now, vm.id, vm.host_id!)
    }
    await releasePlacement(tx, now, vm, stranded)
    await sql.clearPlacement(tx, now, vm.id)
    await sql.setStatus(tx, now, vm.id, { status: 'ERROR', reason, wantedOn: false })
    await recordVmEvent(tx, now, vm.id, 'vm.error', { actionId: runId, reason })
    const description = `${vm.name} could not be built`
    await refund(tx, now, vm.account_id, BigInt(input.chargedCents), {
      type: 'VM_REFUND',
      description,
      referenceType: 'VM',
      referenceId: vm.id,
    })
  })
