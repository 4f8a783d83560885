// Room for the new size of a VM: on its host, or on another one of the region. A refusal says what is missing and which plans there is room for, and names no host.
import { RefusalWithAdvice } from '../../../http/api/api.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { type Missing, missingIn, noCapacityError } from '../../../kernel/no-capacity.ts'
import { getRegion, listPlanRows, traitsOfPlan } from '../../catalog/service.ts'
import { reserveCapacity, type Size } from '../../hosts/capacity.ts'
import { cpuSetOf, findLacking, freeCpusIn, getHost, type HostRow, type RegionRoom, readRoom } from '../../hosts/service.ts'
import { canReserveStorage, reserveStorage } from '../../storage/service.ts'
import { planShape, type PricedSize } from '../billing/pricing.ts'
import { requireMovingPlace } from '../model/guards.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { needOf, possibleDestinations, requireMovable, reserveDestination } from '../move/destination.ts'
import { add } from '../move/steps.ts'

/** Of each part, nothing where it shrinks. */
export const growth = (vm: sql.VmDetails, { vcpu, ramMiB, diskGiB }: Size): Size => ({
  ...sizeOf(vm),
  vcpu: Math.max(0, vcpu - vm.vcpu),
  ramMiB: Math.max(0, ramMiB - vm.ram_mib),
  diskGiB: Math.max(0, diskGiB - vm.disk_gib),
})

/** What its host was chosen for, by the words of the operator: it stays there, so another size has to pay for it too. */
export async function traitsPaidFor(tx: Tx, vm: sql.VmDetails): Promise<string[]> {
  const { traits } = await getHost(tx, vm.host_id!)
  return (await traitsOfPlan(tx, vm.plan_id)).filter((trait) => traits.includes(trait))
}

/** In the storage backend, and on the host of the VM or on another, which is returned. */
export async function reserveRoom(tx: Tx, vm: sql.VmDetails, size: PricedSize, more: Size): Promise<HostRow | null> {
  if (vm.storage_id !== null && more.diskGiB > 0 && !(await reserveStorage(tx, vm.storage_id, more.diskGiB))) {
    const [message, missing] = [`The storage of this VM has no room for ${nameOf(size)} at the moment`, ['replicated_storage' as const]]
    throw new RefusalWithAdvice(noCapacityError(message, missing), async (after) =>
      withPlans(after, vm, size, { message, missing, source: await findSource(after, vm), later: true }),
    )
  }
  const here = sizeOnHost(vm, more)
  if ((here.vcpu === 0 && here.ramMiB === 0 && here.diskGiB === 0) || (await reserveCapacity(tx, vm.host_id!, here))) return null
  await requireMovingPlace(tx, vm.account_id)
  try {
    const source = await requireMovable(tx, vm)
    const { planId, networkMbps, traits } = size
    const avoid = await sql.hostsWithBackups(tx, vm.id)
    return await reserveDestination(tx, vm, source, { size: sizeThere(vm, more), avoid, planId, networkMbps, traits })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new RefusalWithAdvice(noCapacityError(fullHost(size), missingIn(error)), (after) => noRoom(after, vm, size, error))
  }
}

const sizeThere = (vm: sql.VmDetails, more: Size): Size => sizeOnHost(vm, add(sizeOf(vm), more))

/** Null where it cannot move. */
const findSource = (tx: Tx, vm: sql.VmDetails): Promise<HostRow | null> =>
  requireMovable(tx, vm).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    return null
  })

async function noRoom(tx: Tx, vm: sql.VmDetails, size: PricedSize, error: ApiError): Promise<ApiError> {
  const source = await findSource(tx, vm)
  const more = growth(vm, size)
  const missing = new Set([...(await lackingHere(tx, vm, more)), ...missingIn(error)])
  const words = [...missing].flatMap((each) => (each === 'host' ? [] : (WORDS[each] ?? each)))
  const what = words.length > 0 ? `: ${words.join(', ')}` : ''
  const away = missing.has('host') ? ' (some are in maintenance or unreachable)' : ''
  // Other sentences are for operators, and name hosts.
  const why = error.code === 'in_use' ? `, and it cannot move to another one: ${error.message}` : `, and no other one can take it${away}`
  return withPlans(tx, vm, size, {
    message: `${fullHost(size)}${what}${why}`,
    missing: [...missing],
    source,
    later: await fitsEver(tx, vm, size, source),
  })
}

const WORDS: Partial<Record<Missing, string>> = {
  vcpu: 'too few vCPUs',
  dedicated_cpu: 'too few dedicated CPUs',
  ram: 'too little RAM',
  disk: 'too little disk',
  placement_group: 'its placement group',
}

/** Of its own host, of whose dedicated CPUs it gets more of the same NUMA node. */
async function lackingHere(tx: Tx, vm: sql.VmDetails, more: Size): Promise<Missing[]> {
  const host = await getHost(tx, vm.host_id!)
  const free = vm.dedicated_cpu ? (await freeCpusIn(tx, [host])).get(host.id)! : new Map<number, number[]>()
  const node = vm.dedicated_cpu ? (await cpuSetOf(tx, host.id, vm.id, true))?.numaNode : null
  const own = new Map([...free].filter(([each]) => each === node))
  return findLacking(host, sizeOnHost(vm, more), { freeCpus: new Map([[host.id, own]]) })
}

const isFree = async (tx: Tx, vm: sql.VmDetails, more: Size): Promise<boolean> => (await lackingHere(tx, vm, more)).length === 0

/** If nothing else were there. One that cannot move may be able to later. */
async function fitsEver(
  tx: Tx,
  vm: sql.VmDetails,
  { planId, networkMbps, traits, ...size }: PricedSize,
  source: HostRow | null,
): Promise<boolean> {
  if (!source) return true
  const need = await needOf(tx, vm, { size: sizeThere(vm, growth(vm, size)), traits, planId, networkMbps })
  return (await readRoom(tx, await getRegion(tx, vm.region_id))).couldTake(need)
}

interface Refusal {
  message: string
  missing: Missing[]
  source: HostRow | null
  later: boolean
}

const MOST = 3

/** Plans that grow it less, for which there is room now. */
async function withPlans(tx: Tx, vm: sql.VmDetails, size: PricedSize, { message, missing, source, later }: Refusal): Promise<ApiError> {
  const possible = source ? await possibleDestinations(tx, vm, source) : new Set<string>()
  const room = await readRoom(tx, await getRegion(tx, vm.region_id))
  const plans: string[] = []
  for (const plan of between(vm, size, (await listPlanRows(tx)).map(planShape)))
    if (plans.length < MOST && (await fits(tx, vm, plan, { room, possible }))) plans.push(plan.name)
  const advice = later ? 'Try again later, or create a new VM' : `No host of ${vm.region_slug} could ever take it: waiting does not help`
  const sentences = [
    message,
    ...(plans.length > 0 ? [`There is room now for plan ${plans.join(', ')}`] : []),
    ...(later && plans.length > 0 ? [] : [advice]),
  ]
  return noCapacityError(sentences.join('. '), missing, { regions: [], plans, later })
}

/** No larger than the size that was asked for, so that quotas and money suffice; the nearest first. */
const between = (vm: sql.VmDetails, size: PricedSize, plans: PricedSize[]): PricedSize[] =>
  plans
    .filter(({ storage, dedicatedCpu, available, regionSlugs }) => {
      const isSold = available && (regionSlugs?.includes(vm.region_slug) ?? true)
      return isSold && storage === vm.storage && dedicatedCpu === vm.dedicated_cpu
    })
    .filter(({ vcpu, ramMiB, diskGiB, priceCents, planId }) => {
      const isSmaller = vcpu <= size.vcpu && ramMiB <= size.ramMiB && diskGiB <= size.diskGiB && priceCents <= size.priceCents
      const parts = [vcpu - vm.vcpu, ramMiB - vm.ram_mib, diskGiB - vm.disk_gib]
      return isSmaller && planId !== size.planId && parts.every((more) => more >= 0) && parts.some((more) => more > 0)
    })
    .toSorted((a, b) => b.ramMiB - a.ramMiB || b.vcpu - a.vcpu || Number(b.priceCents - a.priceCents))

async function fits(
  tx: Tx,
  vm: sql.VmDetails,
  { planId, networkMbps, traits, ...size }: PricedSize,
  { room, possible }: { room: RegionRoom; possible: Set<string> },
): Promise<boolean> {
  const more = growth(vm, size)
  const { all_traits } = await getHost(tx, vm.host_id!)
  if (!traits.every((trait) => all_traits.includes(trait)) || !(await hasStorage(tx, vm, more))) return false
  if (!(await traitsPaidFor(tx, vm)).every((trait) => traits.includes(trait))) return false
  if (await isFree(tx, vm, more)) return true
  const need = possible.size > 0 ? await needOf(tx, vm, { size: sizeThere(vm, more), traits, planId, networkMbps }) : null
  return need !== null && room.find(need).some(({ id }) => possible.has(id))
}

const hasStorage = async (tx: Tx, { storage_id }: sql.VmDetails, { diskGiB }: Size): Promise<boolean> =>
  storage_id === null || diskGiB === 0 || canReserveStorage(tx, storage_id, diskGiB)

const fullHost = (size: PricedSize): string => `The host of this VM has no room for ${nameOf(size)} at the moment`

const nameOf = ({ planId, name }: PricedSize): string => (planId === null ? 'this size' : `plan ${name}`)
