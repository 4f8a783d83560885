// POST /vms. One transaction writes quota, capacity, address, row, action, event and charge, or none of them. The wallet is locked last,
// because all creates of an account queue for that lock. The workflow provisions the paid VM or compensates everything; a rebuild of a VM
// that failed to provision uses it too.
import { randomUUID } from 'node:crypto'
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { catalogNumbers, getRegion, getTemplate, isBeingBuilt, type RegionRow, type TemplateRow } from '../../catalog/service.ts'
import { type Deps, workflow } from '../../deps.ts'
import { bind, requireFirewalls } from '../../firewalls/service.ts'
import { require10g, requireIpv6, requireSpeed } from '../../hosts/service.ts'
import { allocateAddress, type NetworkRow, requireNetworks } from '../../networks/service.ts'
import { createPortState, pausePorts } from '../../ports/service.ts'
import { noteKeyUse, requireKeys } from '../../ssh-keys/service.ts'
import { balanceOf, charge, type Quote, refund, requireEnough, toQuote } from '../../wallet/service.ts'
import { monthlyPrice, nextRenewal, type PricedSize, resolveSize, speedBought } from '../billing/pricing.ts'
import { recordVmEvent, recordVmEventAndShow } from '../model/events.ts'
import { openPasswordHash, sealPassword } from '../model/guest-password.ts'
import { getVmRow, machineSpec } from '../model/machine-spec.ts'
import { allocatePlacement, releasePlacement, reserveVmQuotas } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import type { CreateVm, VmCreated } from '../schema.ts'
import {
  applyPorts,
  boot,
  type Context,
  prepareNetworks,
  purge,
  READY_STEP,
  requireReady,
  savePorts,
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
): Promise<VmCreated | DryRunResult<Quote>> {
  const { accountId } = who
  const { currency } = deps.config
  const now = deps.clock.now()
  const id = newId()
  const [region, template, numbers, shape, balance, keys, firewalls, networks] = await Promise.all([
    getRegion(tx, input.regionId),
    getTemplate(tx, input.osTemplateId),
    catalogNumbers(tx),
    resolveSize(tx, input),
    balanceOf(tx, accountId),
    requireKeys(tx, accountId, unique(input.sshKeyIds)),
    requireFirewalls(tx, accountId, unique(input.firewallIds)),
    requireNetworks(tx, accountId, unique(input.privateNetworkIds)),
  ])

  requireAvailable(region, template, shape)
  const { dailyBackupEnabled: dailyBackup = false, network10gEnabled: network10g = false, publicIpv4 = true } = input
  const addOns = { dailyBackup, network10g, publicIpv4 }
  if (!publicIpv4) await requireIpv6(tx, region)
  if (network10g) await require10g(tx, region)
  const boughtMbps = speedBought(numbers, shape)
  if (boughtMbps > 0) await requireSpeed(tx, region, boughtMbps)
  requireInRegion(region, networks)
  await reserveVmQuotas(tx, accountId, shape, 1n)
  const price = monthlyPrice(numbers, shape.priceCents, addOns)
  requireEnough(balance, price, currency)
  const place = await allocatePlacement(tx, now, region, shape, { arch: template.arch, network10g, boughtMbps, publicIpv4 })

  const renewalDay = now.getUTCDate()
  const row = {
    ...place,
    id,
    account_id: accountId,
    region_id: region.id,
    plan_id: shape.planId,
    os_template_id: template.id,
    uuid: randomUUID(),
    name: input.name ?? input.hostname,
    hostname: input.hostname,
    vcpu: shape.vcpu,
    ram_mib: shape.ramMiB,
    disk_gib: shape.diskGiB,
    bandwidth_gb: shape.bandwidthGb,
    network_mbps: shape.networkMbps,
    throttle_mbps: shape.throttleMbps,
    disk_iops: shape.diskIops,
    disk_mib_per_second: shape.diskMiBPerSecond,
    custom_price_cents: shape.customPriceCents,
    network_10g: network10g,
    daily_backup: dailyBackup,
    public_ipv4: publicIpv4,
    is_protected: input.isProtected ?? false,
    renewal_day: renewalDay,
    period_started_at: now,
    period_price_cents: price,
    next_renewal_at: nextRenewal(now, renewalDay),
    created_at: now,
  }
  const run = { vmId: id, chargedCents: price.toString(), passwordHash: sealPassword(deps, id, passwordHash) }
  const [, actionId] = await Promise.all([
    sql.insertVm(tx, row),
    deps.workflows.start(tx, provisionVm, run, { label: 'CREATE', ownerId: accountId, subjectId: id }),
    createPortState(tx, id, place.host_id, accountId),
    noteKeyUse(
      tx,
      id,
      keys.map((key) => key.id),
    ),
  ])
  for (const firewall of firewalls) await bind(tx, now, firewall, id)
  for (const network of networks) await allocateAddress(tx, network, id)
  const vm = await recordVmEventAndShow(tx, deps, accountId, id, 'vm.provisioning', { actionId })
  const entry = {
    type: 'VM_CHARGE',
    description: `First month of ${input.name ?? input.hostname}`,
    referenceType: 'VM',
    referenceId: id,
    currency,
  } as const
  const { balance_after_cents } = await charge(tx, now, accountId, price, entry)
  if (dryRun) return new DryRunResult(toQuote(currency, { charge: price, monthly: price, balanceAfter: balance_after_cents }))
  return { vm, actionId }
}

const unique = (ids: string[] = []): string[] => [...new Set(ids)]

export function requireAvailable(region: RegionRow, template: TemplateRow, shape: PricedSize): void {
  if (!region.available) throw apiError('unavailable', `Region ${region.slug} takes no new VMs at the moment`)
  if (!shape.available || (shape.regionSlugs && !shape.regionSlugs.includes(region.slug))) {
    throw apiError('unavailable', `Plan ${shape.name} is not available in ${region.slug}`)
  }
  requireFits(template, shape)
}

export function requireFits(template: TemplateRow, size: { ramMiB: number; diskGiB: number }): void {
  if (template.lacks_image && isBeingBuilt(template.slug))
    throw apiError('unavailable', `OS template ${template.slug} is being built: try again in a few minutes, or choose another`)
  if (template.lacks_image)
    throw apiError('unavailable', `OS template ${template.slug} is not available yet, as it has no image: choose another`)
  if (!template.available) throw apiError('unavailable', `OS template ${template.slug} is not available`)
  if (size.diskGiB < template.min_disk_gib || size.ramMiB < template.min_ram_mib) {
    throw apiError(
      'incompatible',
      `${template.name} needs at least ${template.min_disk_gib} GiB disk and ${template.min_ram_mib} MiB RAM: choose a larger plan`,
    )
  }
}

function requireInRegion(region: RegionRow, networks: NetworkRow[]): void {
  if (networks.some((network) => network.region_id !== region.id))
    throw apiError('region_mismatch', `The private networks are not in region ${region.slug}`)
}

export interface ProvisionInput extends VmInput {
  chargedCents: string
  /** Encrypted; null = no password login. */
  passwordHash: string | null
}

/** A machine left by an earlier attempt whose compensation failed would keep this one from starting. */
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
  .step('filter', { run: applyPorts, save: savePorts, undo: purge })
  .step('disk', {
    timeout: '10m',
    run: async (context) => {
      const { vm, driver } = await vmAndDriver(context)
      const passwordHash = openPasswordHash(context.deps, vm.id, context.input.passwordHash)
      await driver.ensureDisk(await machineSpec(context.deps.db, vm, passwordHash), { from: 'template' }, context.signal)
    },
    undo: purge,
  })
  .step('boot', { run: boot, undo: purge })
  .step('ready', { run: requireReady, timeout: READY_STEP })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const vm = await getVmRow(tx, input.vmId)
    await sql.markProvisioned(tx, now, vm.id, vm.generation)
    await sql.setStatus(tx, now, vm.id, { status: 'RUNNING', readiness: results.ready.readiness, desiredRunning: true })
    await recordVmEvent(tx, deps, vm.id, 'vm.created', { actionId: runId })
    await recordVmEvent(tx, deps, vm.id, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input, error, cleanupFailed, runId, now }) => {
    const vm = await getVmRow(tx, input.vmId)
    const reason = error?.userMessage ?? 'It was cancelled'
    if (cleanupFailed) {
      await pausePorts(tx, vm.id)
      await recordStaleMachine(tx, now, vm.id, vm.host_id!)
    }
    await releasePlacement(tx, now, vm, cleanupFailed)
    await sql.clearPlacement(tx, now, vm.id)
    await sql.setStatus(tx, now, vm.id, { status: 'ERROR', reason, desiredRunning: false })
    await recordVmEvent(tx, deps, vm.id, 'vm.error', { actionId: runId, reason })
    const description = `${vm.name} could not be built`
    await refund(tx, now, vm.account_id, BigInt(input.chargedCents), {
      type: 'VM_REFUND',
      description,
      referenceType: 'VM',
      referenceId: vm.id,
    })
  })
