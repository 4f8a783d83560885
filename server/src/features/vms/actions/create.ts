// POST /vms. One transaction writes quota, capacity, address, row, action, event and charge of all its VMs, or none of them: first what is reserved of all, then their
// rows, then the events, and the charges last, because all creates of an account queue for the lock of its wallet. The workflow provisions the paid VM or compensates everything; a rebuild of a VM
// that failed to provision uses it too.
import { randomUUID } from 'node:crypto'
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { DiskSource } from '../../../hypervisor/driver.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { ApiError, apiError, invalid } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { type Cents, formatCents } from '../../../kernel/money.ts'
import { missingIn, noCapacityError } from '../../../kernel/no-capacity.ts'
import type { EndContext, StepContext, WorkflowBuilder } from '../../../workflow/workflow-builder.ts'
import {
  catalogNumbers,
  getRegion,
  getTemplateById,
  getTemplateFor,
  isBeingBuilt,
  type RegionRow,
  type TemplateRow,
} from '../../catalog/service.ts'
import { type Deps, type ReservedVolumes, type VmSource, type VmVolumeRef, workflow } from '../../deps.ts'
import { bind, requireFirewalls } from '../../firewalls/service.ts'
import { reserveImageRoom } from '../../hosts/capacity.ts'
import { guestNeed, require10g, requireIpv6, requireSpeed } from '../../hosts/service.ts'
import { allocateAddress, type NetworkRow, requireNetworks } from '../../networks/service.ts'
import { joinGroup, ruleForNewVm } from '../../placement-groups/service.ts'
import { createPortState, pausePorts } from '../../ports/service.ts'
import { noteKeyUse, requireKeys } from '../../ssh-keys/service.ts'
import { requireReplicatedStorage } from '../../storage/service.ts'
import { balanceOf, charge, refund, requireEnough, toQuote } from '../../wallet/service.ts'
import { monthlyPrice, nextRenewal, type PricedSize, priceParts, resolveSize, speedBought } from '../billing/pricing.ts'
import { requireFewRests } from '../model/address-rests.ts'
import { recordVmEvent, recordVmEventAndShow } from '../model/events.ts'
import { openPasswordHash, sealPassword } from '../model/guest-password.ts'
import { getVmRow, machineSpec } from '../model/machine-spec.ts'
import { allocatePlacement, allocatePlacements, type Placement, releasePlacement, reserveVmQuotas, times } from '../model/placement.ts'
import { releaseFetchedRoom, releaseRestoreRoom } from '../model/restore-room.ts'
import * as sql from '../model/sql.ts'
import { parseUserData } from '../model/user-data-parts.ts'
import { dropEarlierUserData, storeUserData, type UserDataChange } from '../model/user-data.ts'
import { recordLateMachine, recordStaleMachine } from '../model/stale-machines.ts'
import type { CreateQuote, CreateVm, Vm, VmCreated } from '../schema.ts'
import { withAlternatives } from './alternatives.ts'
import { alternativesOf, type Choice, namesOf, placeFirst } from './choices.ts'
import { isOffered } from './room.ts'
import {
  applyPorts,
  awaitReadyOrEnd,
  boot,
  type Context,
  prepareNetworks,
  purge,
  READY_STEP,
  type Ready,
  requireReady,
  savePorts,
  USER_DATA_STEP,
  vmAndDriver,
  type VmInput,
} from '../steps.ts'

export async function createVm(
  tx: Tx,
  deps: Deps,
  who: Principal,
  input: CreateVm,
  dryRun = false,
  passwordHash: string | null = null,
): Promise<VmCreated | DryRunResult<CreateQuote>> {
  const { accountId } = who
  const { currency } = deps.config
  const userData = input.userData === undefined ? null : parseUserData(input.userData)
  const now = deps.clock.now()
  const names = namesOf(input)
  const source = await findSource(tx, deps, who, input)
  const [region, template, numbers, shape, balance, keys, firewalls, networks, rule] = await Promise.all([
    getRegion(tx, input.regionId),
    source ? getTemplateById(tx, source.templateId) : getTemplateFor(tx, accountId, input.osTemplateId!),
    catalogNumbers(tx),
    resolveSize(tx, input),
    balanceOf(tx, accountId),
    requireKeys(tx, accountId, unique(input.sshKeyIds)),
    requireFirewalls(tx, accountId, unique(input.firewallIds)),
    requireNetworks(tx, accountId, unique(input.privateNetworkIds)),
    ruleForNewVm(tx, accountId, input.placementGroupId),
  ])
  const volumes = input.volumes?.length ? await deps.hooks.openVmVolumes(tx, deps, who, input.volumes, names.length) : null
  const { dailyBackupEnabled: dailyBackup = false, network10gEnabled: network10g = false, publicIpv4 = true } = input
  const addOns = { dailyBackup, network10g, publicIpv4 }

  /** Reserves what all the VMs need, and checks that they can be paid. */
  async function place({ region, shape }: Choice): Promise<Placed> {
    requireAvailable(region, shape)
    requireFits(template, shape, source)
    if (shape.storage === 'REPLICATED') await requireReplicatedStorage(tx, region)
    if (!publicIpv4) await requireIpv6(tx, region)
    if (network10g) await require10g(tx, region)
    const boughtMbps = speedBought(numbers, shape)
    if (boughtMbps > 0) await requireSpeed(tx, region, boughtMbps)
    requireInRegion(region, networks)
    volumes?.requireIn(region)
    await reserveVmQuotas(tx, accountId, times(shape, names.length), BigInt(names.length))
    if (publicIpv4) await requireFewRests(tx, now, accountId)
    const price = monthlyPrice(numbers, shape.priceCents, addOns)
    const reserved = (await volumes?.reserve(region)) ?? null
    requireEnough(tx, balance, (price + (reserved?.price ?? 0n)) * BigInt(names.length), currency)
    const need = { storage: shape.storage, ...guestNeed(template), traits: shape.traits, network10g, boughtMbps, publicIpv4, rule }
    const where = { ...need, gibOnHost: reserved?.gibOnHost ?? 0, hostId: volumes?.host?.id }
    const { vcpu, ramMiB, diskGiB } = shape
    const wanted = names.map((name) => {
      const [id, runId] = [newId(), newId()]
      // In a storage backend what is fetched becomes the disk.
      const copy = source && shape.storage === 'LOCAL' ? { runId, gib: source.diskGiB, storedOn: null } : undefined
      return { ...name, id, runId, size: { vcpu, ramMiB, diskGiB, ...(shape.dedicatedCpu && { dedicatedFor: id }) }, copy }
    })
    const [first, ...others] = wanted
    const allocated =
      others.length === 0
        ? allocatePlacement(tx, now, region, first!.size, where, first!.copy).then((place) => [place])
        : allocatePlacements(tx, now, region, wanted, where)
    const places = await allocated.catch((error: unknown) => {
      if (others.length > 0) throw error
      if (volumes?.host && error instanceof ApiError && error.code === 'no_capacity')
        throw noCapacityError(`The host of volume ${volumes.host.volumeName} has no room for this VM at the moment`, missingIn(error))
      const minimum = { ramMiB: template.min_ram_mib, diskGiB: Math.max(template.min_disk_gib, source?.diskGiB ?? 0) }
      const isBound = networks.length > 0 || (input.volumes ?? []).some(({ volumeId }) => volumeId !== undefined)
      throw withAlternatives(now, error, { region, shape, where: need, copy: first!.copy, minimum, isBound })
    })
    if (!source) for (const place of places) await reserveImageRoom(tx, template, place)
    return { region, shape, price, volumes: reserved, vms: wanted.map((vm, index) => ({ ...vm, place: places[index]! })) }
  }

  const alternatives = await alternativesOf(tx, input, (choice) => {
    requireSize(template, choice.shape, source)
    requireInRegion(choice.region, networks)
    volumes?.requireIn(choice.region)
  })
  const { alternative, placed } = await placeFirst(tx, { region, shape }, alternatives, place)
  const { price, vms } = placed
  const renewalDay = now.getUTCDate()
  const actionIds: string[] = []
  for (const [index, { id, runId, hostname, name, place }] of vms.entries()) {
    const row = {
      ...place,
      id,
      account_id: accountId,
      region_id: placed.region.id,
      plan_id: placed.shape.planId,
      os_template_id: template.id,
      uuid: randomUUID(),
      name,
      hostname,
      vcpu: placed.shape.vcpu,
      ram_mib: placed.shape.ramMiB,
      disk_gib: placed.shape.diskGiB,
      storage: placed.shape.storage,
      bandwidth_gb: placed.shape.bandwidthGb,
      network_mbps: placed.shape.networkMbps,
      throttle_mbps: placed.shape.throttleMbps,
      disk_iops: placed.shape.diskIops,
      disk_mib_per_second: placed.shape.diskMiBPerSecond,
      dedicated_cpu: placed.shape.dedicatedCpu,
      custom_price_cents: placed.shape.customPriceCents,
      network_10g: network10g,
      daily_backup: dailyBackup,
      public_ipv4: publicIpv4,
      is_protected: input.isProtected ?? false,
      labels: input.labels ?? {},
      renewal_day: renewalDay,
      period_started_at: now,
      period_price_cents: price,
      next_renewal_at: nextRenewal(now, renewalDay),
      created_at: now,
    }
    const run = {
      vmId: id,
      chargedCents: price.toString(),
      passwordHash: sealPassword(deps, id, passwordHash),
      ...(userData && { hasUserData: true }),
      ...(placed.volumes && { volumes: placed.volumes.refsOf(index) }),
    }
    const options = { label: 'CREATE', ownerId: accountId, subjectId: id, runId }
    const [, actionId] = await Promise.all([
      sql.insertVm(tx, row),
      source ? source.start(run, options) : deps.workflows.start(tx, provisionVm, run, options),
      createPortState(tx, id, place.host_id, accountId),
      noteKeyUse(
        tx,
        id,
        keys.map((key) => key.id),
      ),
    ])
    actionIds.push(actionId)
    if (userData) await storeUserData(tx, deps, { vmId: id, generation: 1, runId }, userData)
    await joinGroup(tx, id, input.placementGroupId)
    for (const firewall of firewalls) await bind(tx, now, firewall, id)
    for (const network of networks) await allocateAddress(tx, network, id)
    await placed.volumes?.attach(index, { id, hostId: place.host_id }, actionId)
  }
  const shown: Vm[] = []
  for (const [index, { id }] of vms.entries())
    shown.push(await recordVmEventAndShow(tx, deps, accountId, id, 'vm.provisioning', { actionId: actionIds[index]! }))
  await placed.volumes?.record()
  let balanceAfter = balance
  const parts = priceParts(numbers, placed.shape.priceCents, addOns)
  for (const { id, name } of vms) {
    const description = `First month of ${name}`
    const entry = { type: 'VM_CHARGE', description, referenceType: 'VM', referenceId: id, parts, currency } as const
    balanceAfter = (await charge(tx, now, accountId, price, entry)).balance_after_cents
  }
  balanceAfter = (await placed.volumes?.charge()) ?? balanceAfter
  const taken = input.alternatives && { alternative }
  if (dryRun) {
    const count = BigInt(vms.length)
    const ofVolumes = (placed.volumes?.price ?? 0n) * count
    const total = price * count + ofVolumes
    const quote = toQuote(tx, currency, { charge: total, monthly: total, balanceAfter })
    return new DryRunResult({ ...quote, ...(placed.volumes && { volumesMonthly: formatCents(ofVolumes) }), ...taken })
  }
  return { vm: shown[0]!, actionId: actionIds[0]!, ...(input.count !== undefined && { vms: shown, actionIds }), ...taken }
}

interface Placed extends Choice {
  /** Of each. */
  price: Cents
  volumes: ReservedVolumes | null
  vms: { id: string; runId: string; hostname: string; name: string; place: Placement & { host_id: string } }[]
}

const unique = (ids: string[] = []): string[] => [...new Set(ids)]

/** Null: the template. */
async function findSource(tx: Tx, deps: Deps, who: Principal, { osTemplateId, fromBackupId }: CreateVm): Promise<VmSource | null> {
  if (osTemplateId !== undefined && fromBackupId !== undefined)
    throw invalid('give either osTemplateId or fromBackupId, not both', 'fromBackupId')
  if (fromBackupId !== undefined) return deps.hooks.openVmSource(tx, deps, who, fromBackupId)
  if (osTemplateId === undefined) throw invalid('osTemplateId is required', 'osTemplateId')
  return null
}

export function requireAvailable(region: RegionRow, shape: PricedSize): void {
  if (!region.available) throw apiError('unavailable', `Region ${region.slug} takes no new VMs at the moment`)
  if (!isOffered(region, shape)) throw apiError('unavailable', `Plan ${shape.name} is not available in ${region.slug}`)
}

/** A copy needs no image, but a disk as large as its own. */
export function requireFits(template: TemplateRow, size: { ramMiB: number; diskGiB: number }, source: VmSource | null = null): void {
  if (!source) requireImage(template)
  requireSize(template, size, source)
}

function requireSize(template: TemplateRow, size: { ramMiB: number; diskGiB: number }, source: VmSource | null): void {
  if (source && size.diskGiB < source.diskGiB)
    throw apiError('incompatible', `The disk of the backup has ${source.diskGiB} GiB: choose a plan with at least as much`)
  if (size.diskGiB < template.min_disk_gib || size.ramMiB < template.min_ram_mib) {
    throw apiError(
      'incompatible',
      `${template.name} needs at least ${template.min_disk_gib} GiB disk and ${template.min_ram_mib} MiB RAM: choose a larger plan`,
    )
  }
}

function requireImage(template: TemplateRow): void {
  if (template.lacks_image && isBeingBuilt(template.slug))
    throw apiError('unavailable', `OS template ${template.slug} is being built: try again in a few minutes, or choose another`)
  if (template.lacks_image)
    throw apiError('unavailable', `OS template ${template.slug} is not available yet, as it has no image: choose another`)
  if (template.account_id !== null && !template.available)
    throw apiError(
      'unavailable',
      `The renewal of image ${template.name} is not paid: deposit what is due, it renews by itself within a minute`,
    )
  if (!template.available) throw apiError('unavailable', `OS template ${template.slug} is not available`)
}

function requireInRegion(region: RegionRow, networks: NetworkRow[]): void {
  if (networks.some((network) => network.region_id !== region.id))
    throw apiError('region_mismatch', `The private networks are not in region ${region.slug}`)
}

export interface ProvisionInput extends VmInput, UserDataChange {
  chargedCents: string
  /** Encrypted; null = no password login. */
  passwordHash: string | null
  volumes?: VmVolumeRef[]
}

/** A machine left by an earlier attempt whose compensation failed would keep this one from starting. */
async function removeEarlierTry(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  if (vm.generation > 1) await driver.ensurePurgedKeepBackups(vm.id, context.signal)
}

export interface ProvisionParts<I extends ProvisionInput> {
  /** The workflow with what comes before. */
  begun: WorkflowBuilder<Deps, I, {}>
  source: (input: I) => DiskSource
  diskTimeout: string
  afterDisk?: (context: StepContext<Deps, I, unknown>) => Promise<void>
  ready: (context: Context & { input: ProvisionInput }) => Promise<Ready>
  /** After the events of the VM. */
  onCreated?: (tx: Tx, context: EndContext<Deps, I, unknown>) => Promise<void>
}

/** Codes of calls that may take effect after they were given up: the undo did not find what they make. */
const UNANSWERED = ['unknown_outcome', 'aborted', 'unreachable', 'timeout']

export const provisionWorkflow = <I extends ProvisionInput>(parts: ProvisionParts<I>) =>
  parts.begun
    .step('networks', {
      run: async (context) => {
        await removeEarlierTry(context)
        await prepareNetworks(context)
      },
    })
    .step('filter', { run: applyPorts, save: savePorts, undo: purge })
    .step('disk', {
      timeout: parts.diskTimeout,
      run: async (context) => {
        const { vm, driver } = await vmAndDriver(context)
        const passwordHash = openPasswordHash(context.deps, vm.id, context.input.passwordHash)
        await driver.ensureDisk(await machineSpec(context.deps, vm, passwordHash), parts.source(context.input), context.signal)
        await parts.afterDisk?.(context)
      },
      ...(parts.afterDisk && { save: releaseFetchedRoom }),
      undo: purge,
    })
    // What is left of them after a failure goes with those made for the VM, or stays with those that were there.
    .step('volumes', {
      when: ({ volumes }) => volumes !== undefined,
      timeout: '5m',
      run: async (context) => {
        const { vm, driver } = await vmAndDriver(context)
        for (const volume of (await machineSpec(context.deps, vm)).volumes) await driver.ensureVolume(volume, null, context.signal)
      },
    })
    .step('boot', { run: boot, undo: purge })
    .step('user data', USER_DATA_STEP)
    .step('ready', { run: (context): Promise<Ready> => parts.ready(context), ...READY_STEP })
    .onSuccess(async (tx, context) => {
      const { deps, input, results, runId, now } = context
      const vm = await getVmRow(tx, input.vmId)
      await sql.markProvisioned(tx, now, vm.id, vm.generation)
      if (input.hasUserData) await dropEarlierUserData(tx, vm.id, vm.generation)
      await sql.setStatus(tx, now, vm.id, { status: 'RUNNING', ...results.ready, desiredRunning: true })
      await recordVmEvent(tx, deps, vm.id, 'vm.created', { actionId: runId })
      await recordVmEvent(tx, deps, vm.id, 'vm.started', { actionId: runId })
      if (input.volumes) {
        const end = { vmId: vm.id, hostId: vm.host_id!, runId, now, volumes: input.volumes, error: null, cleanupFailed: false }
        await (
          await deps.hooks.endVmVolumes(tx, deps, end)
        )()
      }
      await parts.onCreated?.(tx, context)
    })
    .onFailure(async (tx, { deps, input, error, cleanupFailed, runId, now }) => {
      const vm = await getVmRow(tx, input.vmId)
      const reason = error?.userMessage ?? 'It was cancelled'
      if (cleanupFailed) {
        await pausePorts(tx, vm.id)
        await recordStaleMachine(tx, now, vm.id, vm.host_id!)
      } else if (error && UNANSWERED.includes(error.code)) await recordLateMachine(tx, now, vm.id, vm.host_id!)
      const { volumes = [] } = input
      const end = { vmId: vm.id, hostId: vm.host_id!, runId, now, volumes, error: reason, cleanupFailed }
      const recordVolumes = await deps.hooks.endVmVolumes(tx, deps, end)
      await releaseRestoreRoom(tx, runId)
      await releasePlacement(tx, now, vm, cleanupFailed)
      await sql.clearPlacement(tx, now, vm.id)
      await sql.setStatus(tx, now, vm.id, { status: 'ERROR', reason, desiredRunning: false })
      await recordVmEvent(tx, deps, vm.id, 'vm.error', { actionId: runId, reason })
      await recordVolumes()
      const description = `${vm.name} could not be built`
      await refund(tx, now, vm.account_id, BigInt(input.chargedCents), {
        type: 'VM_REFUND',
        description,
        referenceType: 'VM',
        referenceId: vm.id,
      })
    })

/** The guest of an image is its owner's: its agent may have been removed. So is one that does what its owner says before the agent answers. */
async function readyOnTemplate(context: Context & { input: ProvisionInput }): Promise<Ready> {
  const { vm } = await vmAndDriver(context)
  const { account_id } = await getTemplateById(context.deps.db, vm.os_template_id)
  return account_id === null && !context.input.hasUserData ? requireReady(context) : awaitReadyOrEnd(context)
}

export const provisionVm = provisionWorkflow<ProvisionInput>({
  begun: workflow<ProvisionInput>('vm.provision', { deadline: '90m' }),
  source: () => ({ from: 'template' }),
  diskTimeout: '1h', // the image of an account may be large, and is brought to the host first
  ready: readyOnTemplate,
})
