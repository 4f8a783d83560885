// POST /vms/{id}/resize, and what an upgrade has in common with it. The transaction reserves the growth, on the host of the VM or, where that is full, the whole
// VM on another one, and charges a dearer month; what a cheaper one gives back is refunded in the end.
import { isDeepStrictEqual } from 'node:util'
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { ComputeSize } from '../../../hypervisor/driver.ts'
import { canGrowTo } from '../../../hypervisor/room.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, invalid } from '../../../kernel/errors.ts'
import { catalogNumbers, getTemplateById, traitsOfPlan } from '../../catalog/service.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import type { Deps } from '../../deps.ts'
import { carries, getHost } from '../../hosts/service.ts'
import { balanceOf, charge, paidSince, requireFunds, toQuote } from '../../wallet/service.ts'
import { absorbPaidAddOns } from '../billing/add-ons.ts'
import {
  cheaperMonth,
  currentSize,
  includedTraffic,
  monthlyPrice,
  type PricedSize,
  proratedDifference,
  resolveSize,
  speedBought,
  withDisk,
  withheldTraffic,
} from '../billing/pricing.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import { recordVmEvent } from '../model/events.ts'
import { startAction, type StartRun } from '../model/guards.ts'
import { resizeVm } from '../model/hooks.ts'
import { reserveVmQuotas, sizeOf, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { add } from '../move/steps.ts'
import type { ResizeQuote, ResizeVm } from '../schema.ts'
import type { ResizeInput, ShapeBefore } from './resize-machine.ts'
import { growth, reserveRoom, traitsPaidFor } from './resize-room.ts'
import { resizeElsewhere, upgradeVm } from './resize.workflow.ts'

type Resized = Promise<ActionStarted | DryRunResult<ResizeQuote>>

export function resize(tx: Tx, deps: Deps, who: Principal, vmId: string, input: ResizeVm, dryRun = false): Resized {
  if (input.customConfig !== undefined && input.disk !== undefined) throw invalid('give the disk in customConfig, not beside it', 'disk')
  if (input.planId === undefined && input.customConfig === undefined && input.disk === undefined)
    throw invalid('give planId, customConfig or disk', 'planId')
  return startAction(tx, deps, who, vmId, {
    verb: 'resize',
    label: 'RESIZE',
    find: (vm) => findSize(tx, vm, input),
    act: (vm, start, size) => changeSize(tx, deps, vm, start, { size, kind: 'resize', requires: requireOther, dryRun }),
  })
}

async function findSize(tx: Tx, vm: sql.VmDetails, { disk, ...input }: ResizeVm): Promise<PricedSize> {
  const isDiskOnly = input.planId === undefined && input.customConfig === undefined
  const size = isDiskOnly ? { ...currentSize(vm), traits: await traitsOfPlan(tx, vm.plan_id) } : await resolveSize(tx, input)
  if (disk === undefined) return size
  if (disk >= size.diskGiB) return withDisk(await catalogNumbers(tx), size, disk)
  if (!isDiskOnly) throw invalid(`disk is less than the ${size.diskGiB} GiB of plan ${size.name}`, 'disk')
  return { ...size, planId: null, diskGiB: disk } // refused by `requireOther`, when the VM is idle
}

function requireOther(vm: sql.VmDetails, size: PricedSize): void {
  if (size.diskGiB < vm.disk_gib) {
    const what = size.planId === null ? `${size.diskGiB} GiB` : `the ${size.diskGiB} GiB of plan ${size.name}`
    const advice =
      size.planId === null ? `give ${vm.disk_gib} GiB or more` : `give the plan with disk ${vm.disk_gib}, which costs more than the plan`
    throw apiError('incompatible', `The disk of this VM has ${vm.disk_gib} GiB and never shrinks to ${what}: ${advice}`)
  }
  const has = currentSize(vm)
  const parts = ['planId', 'vcpu', 'ramMiB', 'diskGiB', 'bandwidthGb', 'networkMbps'] as const
  if (parts.every((part) => has[part] === size[part])) throw apiError('incompatible', 'This VM has that size already')
}

interface Change {
  size: PricedSize
  kind: 'upgrade' | 'resize'
  /** Of the size itself, which is available. */
  requires: (vm: sql.VmDetails, size: PricedSize) => void
  dryRun: boolean
}

/** Of a locked, idle VM. */
export async function changeSize(
  tx: Tx,
  deps: Deps,
  vm: sql.VmDetails,
  start: StartRun,
  { size, kind, requires, dryRun }: Change,
): Resized {
  const { currency } = deps.config
  const now = deps.clock.now()
  requirePaidPeriod(vm, now)
  requireSameStorage(vm, size)
  await requireSameCpus(tx, vm, size)
  requireAvailable(vm, size)
  requires(vm, size)
  await requireEnoughForTemplate(tx, vm, size)
  const numbers = await catalogNumbers(tx)
  await requireCard(tx, vm, speedBought(numbers, size))
  const more = growth(vm, size)
  await reserveVmQuotas(tx, vm.account_id, more, 0n)
  const addOns = { dailyBackup: vm.daily_backup, network10g: vm.network_10g, publicIpv4: vm.public_ipv4 }
  const monthly = monthlyPrice(numbers, size.priceCents, addOns)
  const price = proratedDifference(vm, now, monthly)
  // An upgrade to a plan that has become cheaper than the paid price costs nothing, and keeps the higher price.
  const paid = await paidSince(tx, vm.account_id, vm.id, vm.period_started_at)
  const least = kind === 'resize' ? monthly : vm.period_price_cents
  const { refundCents, periodPriceCents } = cheaperMonth(numbers, vm, now, { monthly: least, paid })
  await requireFunds(tx, now, vm.account_id, price, currency)
  const destination = await reserveRoom(tx, vm, size, more)
  const paidAddOns = await absorbPaidAddOns(tx, vm)
  const { vcpu, ramMiB, diskGiB, diskIops, diskMiBPerSecond } = size
  const to = { vcpu, ramMiB, diskGiB, diskIops, diskMiBPerSecond }
  const before = shapeBefore(vm, paidAddOns)
  // The larger of both in each part is reserved; at the destination alone until the VM is there.
  const reserved = { ...to, ...(destination ? machineBefore(vm) : add(sizeOf(vm), more)) }
  const { bandwidthGb, networkMbps, throttleMbps } = size
  const traffic = { bandwidthGb, networkMbps, throttleMbps, bandwidthWithheldBytes: withheldTraffic(vm, now, bandwidthGb) }
  const meanwhile = lesserTraffic(vm, traffic)
  await resizeVm(tx, deps, vm.id, {
    ...size,
    ...reserved,
    ...meanwhile,
    periodPriceCents: monthly > vm.period_price_cents ? monthly : periodPriceCents,
  })
  await sql.setStatus(tx, now, vm.id, { status: 'UPGRADING' })
  const wasRunning = vm.status === 'RUNNING'
  const restarts = wasRunning && (vcpu !== vm.vcpu || ramMiB !== vm.ram_mib) && !(await growsLive(tx, vm, to))
  const input: ResizeInput = {
    vmId: vm.id,
    kind,
    wasRunning,
    restarts,
    before,
    to,
    more,
    ...(!isDeepStrictEqual(meanwhile, traffic) && {
      traffic: {
        ...traffic,
        bandwidthWithheldBytes: traffic.bandwidthWithheldBytes.toString(),
        ...(vm.bandwidth_gb > 0 && bandwidthGb === 0 && { usedBytes: vm.bandwidth_used_bytes.toString() }),
      },
    }),
    name: size.name,
    chargedCents: price.toString(),
    refundCents: refundCents.toString(),
  }
  const move = destination && { sourceId: vm.host_id!, destinationId: destination.id, isOn: wasRunning, miBPerSecond: null }
  const started = await (move
    ? start(resizeElsewhere, { ...input, ...move, size: sizeOnHost(vm, add(sizeOf(vm), more)) })
    : start(upgradeVm, input))
  await recordVmEvent(tx, deps, vm.id, kind === 'upgrade' ? 'vm.upgrading' : 'vm.resizing', started)
  const what = kind === 'upgrade' ? 'Upgrade' : 'Resize'
  const description = `${what} of ${vm.name} to ${size.name} for the rest of the period`
  const entry = { type: 'VM_UPGRADE', description, referenceType: 'VM', referenceId: vm.id, currency } as const
  if (kind === 'upgrade' || price > 0n) await charge(tx, now, vm.account_id, price, entry)
  if (!dryRun) return started
  const balanceAfter = (await balanceOf(tx, vm.account_id)) + refundCents
  const quote = toQuote(tx, currency, { charge: price - refundCents, monthly: monthly + vm.copies_price_cents, balanceAfter })
  return new DryRunResult({ ...quote, restarts })
}

/** A guest uses what it gets while it runs when its agent tells it to. */
async function growsLive(tx: Tx, vm: sql.VmDetails, to: ComputeSize): Promise<boolean> {
  const room = vm.has_agent && vm.readiness === 'reachable' ? await sql.findRoom(tx, vm.id) : null
  return room !== null && canGrowTo({ vcpu: vm.vcpu, ramMiB: vm.ram_mib }, to, room)
}

/** The disk stays where it is. */
function requireSameStorage(vm: sql.VmDetails, size: PricedSize): void {
  if (size.storage === vm.storage) return
  const [has, wants] = vm.storage === 'LOCAL' ? ['local', 'replicated'] : ['replicated', 'local']
  const what = size.planId === null ? 'a custom configuration' : `plan ${size.name}`
  throw apiError(
    'incompatible',
    `The disk of this VM is on ${has} storage, and ${what} has ${wants} storage: choose a plan with ${has} storage, or create a new VM`,
  )
}

/** Its vCPUs stay what they are, and what its plan needs of a host is kept in the plan. */
async function requireSameCpus(tx: Tx, vm: sql.VmDetails, size: PricedSize): Promise<void> {
  if (size.dedicatedCpu !== vm.dedicated_cpu) {
    const [has, wants] = vm.dedicated_cpu ? ['dedicated', 'shared'] : ['shared', 'dedicated']
    throw apiError(
      'incompatible',
      `The vCPUs of this VM are ${has}, and ${size.name === 'custom' ? 'a custom configuration' : `plan ${size.name}`} has ${wants} ones: create a new VM with it instead`,
    )
  }
  if (size.planId === null && size.traits.length > 0)
    throw apiError(
      'incompatible',
      'This plan needs particular hosts, so its disk cannot be larger than that of the plan: add a volume instead',
    )
  const { all_traits } = await getHost(tx, vm.host_id!)
  if (!size.traits.every((trait) => all_traits.includes(trait)))
    throw apiError('incompatible', `The host of this VM has not what plan ${size.name} needs: create a new VM with it instead`)
  const unpaid = (await traitsPaidFor(tx, vm)).filter((trait) => !size.traits.includes(trait))
  if (unpaid.length > 0)
    throw apiError(
      'incompatible',
      `This VM is on a host with ${unpaid.join(', ')}, which ${size.planId === null ? 'a custom configuration' : `plan ${size.name}`} does not include: create a new VM with it instead`,
    )
}

function requireAvailable(vm: sql.VmDetails, size: PricedSize): void {
  if (!size.available || (size.regionSlugs && !size.regionSlugs.includes(vm.region_slug)))
    throw apiError('unavailable', `Plan ${size.name} is not available in ${vm.region_slug}`)
}

async function requireEnoughForTemplate(tx: Tx, vm: sql.VmDetails, { ramMiB }: PricedSize): Promise<void> {
  const { name, min_ram_mib } = await getTemplateById(tx, vm.os_template_id)
  if (ramMiB < vm.ram_mib && ramMiB < min_ram_mib)
    throw apiError('incompatible', `${name} needs at least ${min_ram_mib} MiB RAM: choose a larger size`)
}

/** A speed that the VM has already stays. */
async function requireCard(tx: Tx, vm: sql.VmDetails, mbps: number): Promise<void> {
  if (mbps > vm.network_mbps && !carries(await getHost(tx, vm.host_id!), mbps))
    throw apiError(
      'unavailable',
      `The host of this VM has no network card for ${mbps} Mbit/s: create a new VM with this networkSpeed instead`,
    )
}

/** Until it has succeeded: a guest can make it fail, and would have traffic and speed for nothing by that over and over. */
function lesserTraffic(vm: sql.VmDetails, after: sql.VmTraffic): sql.VmTraffic {
  const before = { bandwidthGb: vm.bandwidth_gb, bandwidthWithheldBytes: vm.bandwidth_withheld_bytes }
  const [has, gets] = [before, after].map((each) => includedTraffic(each.bandwidthGb, each.bandwidthWithheldBytes))
  return {
    ...after,
    ...(has !== null && (gets === null || gets! > has!) && before),
    networkMbps: Math.min(vm.network_mbps, after.networkMbps),
    throttleMbps: Math.min(vm.throttle_mbps, after.throttleMbps),
  }
}

const machineBefore = (vm: sql.VmDetails): sql.MachineSize => ({
  ...sizeOf(vm),
  diskIops: vm.disk_iops,
  diskMiBPerSecond: vm.disk_mib_per_second,
})

const shapeBefore = (vm: sql.VmDetails, paid: sql.PaidAddOns): ShapeBefore => ({
  ...machineBefore(vm),
  planId: vm.plan_id,
  bandwidthGb: vm.bandwidth_gb,
  bandwidthWithheldBytes: vm.bandwidth_withheld_bytes.toString(),
  networkMbps: vm.network_mbps,
  throttleMbps: vm.throttle_mbps,
  customPriceCents: vm.custom_price_cents?.toString() ?? null,
  periodPriceCents: vm.period_price_cents.toString(),
  dailyBackupPaidUntil: paid.daily_backup_paid_until?.toISOString() ?? null,
  network10gPaidUntil: paid.network_10g_paid_until?.toISOString() ?? null,
})
