// POST /vms/{id}/upgrade. The transaction reserves size, capacity and quota and charges the difference; the workflow stops, grows and
// starts the VM. On failure compensation restores size, power state and money.
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { MachineSpec } from '../../../hypervisor/driver.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, invalid } from '../../../kernel/errors.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import { catalogNumbers } from '../../catalog/service.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity, reserveCapacity, type Size } from '../../hosts/capacity.ts'
import { carries, getHost } from '../../hosts/service.ts'
import { releaseStorage, reserveStorage } from '../../storage/service.ts'
import { charge, type Quote, refund, requireFunds, toQuote } from '../../wallet/service.ts'
import { absorbPaidAddOns } from '../billing/add-ons.ts'
import { monthlyPrice, type PricedSize, proratedDifference, resolveSize, speedBought, withheldTraffic } from '../billing/pricing.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import { recordVmEvent } from '../model/events.ts'
import { startAction } from '../model/guards.ts'
import { resizeVm } from '../model/hooks.ts'
import { getVmRow, machineSpec } from '../model/machine-spec.ts'
import { releaseVmQuotas, reserveVmQuotas, sizeOf, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import type { UpgradeVm } from '../schema.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import {
  applyPorts,
  applySpec,
  awaitReady,
  boot,
  powerOff,
  prepareNetworks,
  type Ready,
  READY_STEP,
  savePorts,
  SHUTDOWN_GRACE_MS,
  startMachine,
  vmAndDriver,
  type VmInput,
} from '../steps.ts'

export const upgrade = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  input: UpgradeVm,
  dryRun = false,
): Promise<ActionStarted | DryRunResult<Quote>> => {
  if (input.planId === undefined && input.customConfig === undefined) throw invalid('planId is required, or customConfig', 'planId')
  return startAction(tx, deps, who, vmId, {
    verb: 'upgrade',
    label: 'UPGRADE',
    find: () => resolveSize(tx, input),
    act: async (vm, start, size) => {
      const { currency } = deps.config
      const now = deps.clock.now()
      requirePaidPeriod(vm, now)
      requireSameStorage(vm, size)
      await requireSameCpus(tx, vm, size)
      requireLarger(vm, size)
      const numbers = await catalogNumbers(tx)
      await requireCard(tx, vm, speedBought(numbers, size))
      const more = difference(vm, size)
      await reserveVmQuotas(tx, vm.account_id, more, 0n)
      const monthly = monthlyPrice(numbers, size.priceCents, {
        dailyBackup: vm.daily_backup,
        network10g: vm.network_10g,
        publicIpv4: vm.public_ipv4,
      })
      const price = proratedDifference(vm, now, monthly)
      await requireFunds(tx, vm.account_id, price, currency)
      if (vm.storage_id !== null && !(await reserveStorage(tx, vm.storage_id, more.diskGiB)))
        throw apiError('no_capacity', `The storage of this VM has no room for plan ${size.name} at the moment: try again later`)
      if (!(await reserveCapacity(tx, vm.host_id!, sizeOnHost(vm, more)))) {
        throw apiError(
          'no_capacity',
          `The host of this VM has no room for plan ${size.name} at the moment: try again later, or create a new VM`,
        )
      }
      const paidAddOns = await absorbPaidAddOns(tx, vm)
      // A plan that has become cheaper than the paid price costs nothing. The higher paid price is kept, because refunds are prorated
      // from it.
      const periodPriceCents = monthly > vm.period_price_cents ? monthly : vm.period_price_cents
      const bandwidthWithheldBytes = withheldTraffic(vm, now, size.bandwidthGb)
      await resizeVm(tx, deps, vm.id, { ...size, periodPriceCents, bandwidthWithheldBytes })
      await sql.setStatus(tx, now, vm.id, { status: 'UPGRADING' })
      const started = await start(upgradeVm, {
        vmId,
        wasRunning: vm.status === 'RUNNING',
        before: shapeBefore(vm, paidAddOns),
        more,
        chargedCents: price.toString(),
      })
      await recordVmEvent(tx, deps, vm.id, 'vm.upgrading', started)
      const description = `Upgrade of ${vm.name} to ${size.name} for the rest of the period`
      const entry = { type: 'VM_UPGRADE', description, referenceType: 'VM', referenceId: vm.id, currency } as const
      const { balance_after_cents } = await charge(tx, now, vm.account_id, price, entry)
      if (dryRun)
        return new DryRunResult(
          toQuote(currency, { charge: price, monthly: monthly + vm.copies_price_cents, balanceAfter: balance_after_cents }),
        )
      return started
    },
  })
}

/** The disk stays where it is. */
function requireSameStorage(vm: sql.VmDetails, shape: PricedSize): void {
  if (shape.storage === vm.storage) return
  const [has, wants] = vm.storage === 'LOCAL' ? ['local', 'replicated'] : ['replicated', 'local']
  const what = shape.planId === null ? 'a custom configuration' : `plan ${shape.name}`
  throw apiError(
    'incompatible',
    `The disk of this VM is on ${has} storage, and ${what} has ${wants} storage: choose a plan with ${has} storage, or create a new VM`,
  )
}

/** The VM stays on its host, and its vCPUs stay what they are. */
async function requireSameCpus(tx: Tx, vm: sql.VmDetails, shape: PricedSize): Promise<void> {
  if (shape.dedicatedCpu !== vm.dedicated_cpu) {
    const [has, wants] = vm.dedicated_cpu ? ['dedicated', 'shared'] : ['shared', 'dedicated']
    throw apiError(
      'incompatible',
      `The vCPUs of this VM are ${has}, and plan ${shape.name} has ${wants} ones: create a new VM with it instead`,
    )
  }
  const { all_traits } = await getHost(tx, vm.host_id!)
  if (!shape.traits.every((trait) => all_traits.includes(trait)))
    throw apiError('incompatible', `The host of this VM has not what plan ${shape.name} needs: create a new VM with it instead`)
}

function requireLarger(vm: sql.VmDetails, shape: PricedSize): void {
  if (!shape.available || (shape.regionSlugs && !shape.regionSlugs.includes(vm.region_slug))) {
    throw apiError('unavailable', `Plan ${shape.name} is not available in ${vm.region_slug}`)
  }
  const more = difference(vm, shape)
  // Traffic and speed of plans are the catalog's; those of a custom configuration were chosen and paid for.
  const isCustom = vm.plan_id === null && shape.planId === null
  const chosen = isCustom ? [shape.bandwidthGb - vm.bandwidth_gb, shape.networkMbps - vm.network_mbps] : []
  const sizes = [more.vcpu, more.ramMiB, more.diskGiB, ...chosen]
  if (sizes.some((each) => each < 0) || sizes.every((each) => each === 0)) {
    if (isCustom)
      throw apiError(
        'plan_not_larger',
        'The custom configuration is not larger than the current one: no part of it may be smaller, bandwidth and networkSpeed included',
      )
    throw apiError('plan_not_larger', `Plan ${shape.name} is not larger than the current plan ${vm.plan_slug}`)
  }
}

/** A speed that the VM has already stays. */
async function requireCard(tx: Tx, vm: sql.VmDetails, mbps: number): Promise<void> {
  if (mbps > vm.network_mbps && !carries(await getHost(tx, vm.host_id!), mbps))
    throw apiError(
      'unavailable',
      `The host of this VM has no network card for ${mbps} Mbit/s: create a new VM with this networkSpeed instead`,
    )
}

const difference = (vm: sql.VmDetails, shape: PricedSize): Size => {
  const size = sizeOf(vm)
  return { ...size, vcpu: shape.vcpu - size.vcpu, ramMiB: shape.ramMiB - size.ramMiB, diskGiB: shape.diskGiB - size.diskGiB }
}

const shapeBefore = (vm: sql.VmDetails, paid: sql.PaidAddOns): ShapeBefore => ({
  planId: vm.plan_id,
  vcpu: vm.vcpu,
  ramMiB: vm.ram_mib,
  diskGiB: vm.disk_gib,
  bandwidthGb: vm.bandwidth_gb,
  bandwidthWithheldBytes: vm.bandwidth_withheld_bytes.toString(),
  networkMbps: vm.network_mbps,
  throttleMbps: vm.throttle_mbps,
  diskIops: vm.disk_iops,
  diskMiBPerSecond: vm.disk_mib_per_second,
  customPriceCents: vm.custom_price_cents?.toString() ?? null,
  periodPriceCents: vm.period_price_cents.toString(),
  dailyBackupPaidUntil: paid.daily_backup_paid_until?.toISOString() ?? null,
  network10gPaidUntil: paid.network_10g_paid_until?.toISOString() ?? null,
})

type Stored = 'customPriceCents' | 'periodPriceCents' | 'diskIops' | 'diskMiBPerSecond' | 'bandwidthWithheldBytes'

/** JSON-compatible: stored in the workflow journal. */
export interface ShapeBefore extends Omit<sql.VmSize, Stored> {
  // Missing in the journal of a run that an older release started.
  bandwidthWithheldBytes?: string
  diskIops?: number | null
  diskMiBPerSecond?: number | null
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

/** The row has the new size from the start, so the spec of the old machine comes from the journal. */
async function specBefore(context: Context): Promise<MachineSpec> {
  const { vm } = await vmAndDriver(context)
  const { vcpu, ramMiB, diskGiB, diskIops = null, diskMiBPerSecond = null } = context.input.before
  const diskLimits = { iops: diskIops, miBPerSecond: diskMiBPerSecond }
  const spec = await machineSpec(context.deps.db, vm)
  const cpus = spec.cpus && { ...spec.cpus, ...(vm.dedicated_cpu && { cpus: spec.cpus.cpus.slice(0, vcpu) }) }
  return { ...spec, vcpu, cpus, ramMiB, diskGiB, diskLimits }
}

export const upgradeVm = workflow<Input>('vm.upgrade', { deadline: '20m' })
  .step('stop', {
    timeout: '3m',
    run: (context) => powerOff(context, SHUTDOWN_GRACE_MS),
    undo: async (context) => {
      if (!context.input.wasRunning) return
      const { vm } = await vmAndDriver(context)
      await startMachine(context, vm.host_id!, await specBefore(context))
    },
  })
  .step('resize', {
    run: applySpec,
    undo: async (context) => void (await (await vmAndDriver(context)).driver.ensureDefined(await specBefore(context), context.signal)),
  })
  .step('networks', { run: prepareNetworks })
  .step('filter', { run: applyPorts, save: savePorts })
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
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    await sql.setStatus(tx, now, input.vmId, results.ready ? { status: 'RUNNING', ...results.ready } : { status: 'STOPPED' })
    await recordVmEvent(tx, deps, input.vmId, 'vm.upgraded', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input, error, runId, now, cleanupFailed }) => {
    const vm = await getVmRow(tx, input.vmId)
    const { before, more } = input
    const price = {
      customPriceCents: before.customPriceCents === null ? null : BigInt(before.customPriceCents),
      periodPriceCents: BigInt(before.periodPriceCents),
    }
    await releaseVmQuotas(tx, vm.account_id, more, 0n)
    if (vm.storage_id !== null) await releaseStorage(tx, vm.storage_id, more.diskGiB)
    await releaseCapacity(tx, vm.host_id!, sizeOnHost(vm, more))
    if (cleanupFailed) await recordStaleMachine(tx, now, vm.id, vm.host_id!)
    const { diskIops = null, diskMiBPerSecond = null, bandwidthWithheldBytes = '0' } = before
    const withheld = { bandwidthWithheldBytes: BigInt(bandwidthWithheldBytes) }
    await resizeVm(tx, deps, vm.id, { ...before, ...price, ...withheld, diskIops, diskMiBPerSecond })
    await sql.setPaidAddOns(tx, vm.id, {
      daily_backup_paid_until: dateOf(before.dailyBackupPaidUntil),
      network_10g_paid_until: dateOf(before.network10gPaidUntil),
    })
    const reason = `The upgrade failed and was taken back: ${error?.userMessage ?? 'it was cancelled'}`
    await sql.setStatus(tx, now, vm.id, { status: input.wasRunning ? 'RUNNING' : 'STOPPED', reason })
    await recordVmEvent(tx, deps, vm.id, 'vm.upgrade_failed', { actionId: runId, reason })
    const description = `The upgrade of ${vm.name} failed`
    await refund(tx, now, vm.account_id, BigInt(input.chargedCents), {
      type: 'VM_REFUND',
      description,
      referenceType: 'VM',
      referenceId: vm.id,
    })
  })
