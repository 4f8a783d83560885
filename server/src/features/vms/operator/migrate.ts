// Moves a VM to another host of its region: a running one without stopping it. Its room there is reserved before anything is done, and that on
// the host it leaves is released when it runs there. Until then the row is of the old host, and any failure returns the machine to it,
// unless it has arrived and the old host is away.
import { isDriverError, type Driver } from '../../../hypervisor/driver.ts'
import { migrateMachine, returnMachine, type Move, type Returned } from '../../../hypervisor/migrate.ts'
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { apiError, notFound } from '../../../kernel/errors.ts'
import { stepsOf } from '../../../workflow/run-store.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import { recordByOperator } from '../../audit-log/service.ts'
import { catalogNumbers, getRegion, getTemplateById, lockTemplateUse } from '../../catalog/service.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity, reserveCapacityInRegion, reserveImageRoom, type Size } from '../../hosts/capacity.ts'
import { findUnservedAddress } from '../../hosts/public-addresses.ts'
import { getHost, listHostsIn, type HostRow } from '../../hosts/service.ts'
import { ruleForVm } from '../../placement-groups/service.ts'
import { createPortState, markPortsApplied, markPortsDirty, resumePorts } from '../../ports/service.ts'
import { moveVolumes } from '../../storage/service.ts'
import { speedBought } from '../billing/pricing.ts'
import { requireAllowed } from '../model/allowed-actions.ts'
import { recordVmEvent } from '../model/events.ts'
import { preemptOpenRun, startRunOf } from '../model/guards.ts'
import { runBeforePowerOff } from '../model/hooks.ts'
import { getVmRow, machineSpec } from '../model/machine-spec.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import { ensurePorts, isPlaced } from '../model/ports.ts'
import * as sql from '../model/sql.ts'
import { clearStaleMachine, hasStaleMachine, moveStaleNics, recordStaleMachine } from '../model/stale-machines.ts'
import { applyPorts, savePorts, type VmInput } from '../steps.ts'

export interface MigrateInput extends VmInput {
  sourceId: string
  destinationId: string
  isOn: boolean
  miBPerSecond: number | null
  /** Reserved at the destination; older runs have none. The VM may change or be gone while a cancelled run is undone. */
  size?: Size
}

export interface MigrationOrder {
  /** By id or name; undefined: the host with most room. */
  to?: string | undefined
  /** Of memory and disk; undefined: unlimited. */
  miBPerSecond?: number | undefined
}

export interface Migration {
  actionId: string
  from: string
  to: string
}

export async function startMigration(tx: Tx, deps: Deps, vmId: string, { to, miBPerSecond }: MigrationOrder): Promise<Migration> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  await preemptOpenRun(tx, deps, vm)
  requireAllowed(vm, 'migrate')
  const source = await getHost(tx, vm.host_id!)
  await requireMovable(tx, vm, source)
  const destination = await reserveDestination(tx, vm, source, to)
  const input = {
    vmId,
    sourceId: source.id,
    destinationId: destination.id,
    isOn: vm.status === 'RUNNING',
    miBPerSecond: miBPerSecond ?? null,
    size: sizeOnHost(vm, sizeOf(vm)),
  }
  const { actionId } = await startRunOf(tx, deps, vm, 'MIGRATE')(migrateVm, input)
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'vm migrate', resourceIds: [vmId] })
  return { actionId, from: source.name, to: destination.name }
}

class RolledBack extends Error {}

/** What `startMigration` would do. Changes nothing. */
export async function planMigration(deps: Deps, vmId: string, order: MigrationOrder): Promise<Omit<Migration, 'actionId'>> {
  let plan: Migration | undefined
  const rolledBack = deps.db.tx(async (tx) => {
    plan = await startMigration(tx, deps, vmId, order)
    throw new RolledBack()
  })
  await rolledBack.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error
  })
  return { from: plan!.from, to: plan!.to }
}

async function requireMovable(tx: Tx, vm: sql.VmDetails, source: HostRow): Promise<void> {
  if (source.unreachable_since !== null) throw apiError('unavailable', `Host ${source.name} is unreachable: nothing can be moved from it`)
  if (await hasStaleMachine(tx, vm.id, source.id))
    throw apiError('busy', `The machine of this VM on ${source.name} is put right first: try again in a few minutes`)
  requireReachableByPeers(source)
  const { snapshots, volumes } = await sql.countLocalFiles(tx, vm.id)
  if (snapshots > 0)
    throw apiError(
      'in_use',
      `VM has ${snapshots} snapshots, which are files on its host and do not move: delete them first, or make backups of it`,
    )
  if (volumes.length > 0)
    throw apiError('in_use', `VM has volumes on its host, which do not move: ${volumes.join(', ')}. Detach them first`)
}

function requireReachableByPeers({ driver, uri, name }: HostRow): void {
  if (driver === 'libvirt' && !uri.startsWith('qemu+tls:'))
    throw apiError(
      'incompatible',
      `Host ${name} is known as ${uri}, where other hosts do not reach it: add it by its address, with a certificate`,
    )
}

/** The room of the VM there, and of its image. */
async function reserveDestination(tx: Tx, vm: sql.VmDetails, source: HostRow, to: string | undefined): Promise<HostRow> {
  const region = await getRegion(tx, vm.region_id)
  const asked = to === undefined ? await listHostsIn(tx, region.id) : [await getHost(tx, to)]
  const possible = new Set<string>()
  for (const host of asked) {
    const problem = await objection(tx, vm, source, host)
    if (problem === null) possible.add(host.id)
    else if (to !== undefined) throw problem
  }
  if (possible.size === 0)
    throw apiError('no_capacity', `No other host of ${region.slug} can take this VM: --to <host> says why not that one`)
  const template = await getTemplateById(tx, vm.os_template_id)
  const bought = speedBought(await catalogNumbers(tx), { planId: vm.plan_id, networkMbps: vm.network_mbps })
  const need = {
    arch: template.arch,
    network10g: vm.network_10g,
    boughtMbps: bought,
    publicIpv4: vm.public_ipv4,
    rule: await ruleForVm(tx, vm.id),
  }
  if (template.account_id !== null) await lockTemplateUse(tx, template.id) // its room there may be about to be released
  const host = await reserveCapacityInRegion(tx, region, { ...sizeOnHost(vm, sizeOf(vm)), ...need }, possible)
  await reserveImageRoom(tx, template, { host_id: host.id, storage_id: vm.storage_id })
  return host
}

async function objection(tx: Tx, vm: sql.VmDetails, source: HostRow, host: HostRow): Promise<Error | null> {
  const { name } = host
  if (host.id === source.id) return apiError('invalid_state', `VM is on ${name} already`)
  if (host.region_id !== source.region_id) return apiError('incompatible', `${name} is in another region than ${source.name}`)
  if (host.driver !== source.driver || host.arch !== source.arch || host.acceleration !== source.acceleration)
    return apiError('incompatible', `${name} runs machines of another kind than ${source.name}`)
  const address = await findUnservedAddress(tx, vm, host)
  if (address !== null) return apiError('incompatible', `${address} is an address of ${source.name} alone, so VM would lose it on ${name}`)
  if (await hasStaleMachine(tx, vm.id, host.id))
    return apiError('busy', `${name} still has remains of this VM, which are removed first: try again in a minute`)
  try {
    requireReachableByPeers(host)
    return null
  } catch (error) {
    return error as Error
  }
}

type Context = Pick<StepContext<Deps, MigrateInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

/** Of a guest at the end of a migration. */
const DOWNTIME_MS = 500

/** The spec is that of the old host until the row has changed, and the same but for it. */
async function describeMove({ deps, input }: Context, direction: 'there' | 'back'): Promise<Omit<Move, 'from' | 'to'>> {
  const vm = await getVmRow(deps.db, input.vmId)
  const spec = await machineSpec(deps.db, { ...vm, host_id: input.sourceId })
  const target = await getHost(deps.db, direction === 'there' ? input.destinationId : input.sourceId)
  const onProgress: Move['onProgress'] = (progress) => deps.log.debug({ vmId: vm.id, ...progress }, 'migration progressed')
  return { spec, uri: target.uri, isOn: input.isOn, downtimeMs: DOWNTIME_MS, miBPerSecond: input.miBPerSecond, onProgress }
}

async function uploadTemplate({ deps, input, signal }: Context): Promise<void> {
  const { template, storageId } = await machineSpec(deps.db, await getVmRow(deps.db, input.vmId))
  if (storageId === null) await (await deps.hypervisors.get(input.destinationId)).ensureTemplate(template, signal)
}

/** Of `undo`; older runs have `isLeft` alone. */
interface Outcome extends Partial<Returned> {
  /** The VM was on its new host before. */
  isSettled?: boolean
}

async function moveMachine(context: Context): Promise<Outcome> {
  const { deps, input, signal } = context
  const [from, to] = [await deps.hypervisors.get(input.sourceId), await deps.hypervisors.get(input.destinationId)]
  // Its interfaces count from zero on the other host.
  if (input.isOn && (await isOn(from, input.vmId, signal))) await runBeforePowerOff(deps, input.vmId, from, signal)
  await migrateMachine({ ...(await describeMove(context, 'there')), from, to }, signal)
  return {}
}

async function isOn(driver: Driver, vmId: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await driver.findMachine(vmId, signal))?.power === 'running'
  } catch (error) {
    if (isDriverError(error, 'unreachable')) return false
    throw error
  }
}

/** From here on the VM is on its new host. What it left is removed by the step `clean up`, or by the reconciler of stale machines. */
async function settle(tx: Tx, now: Date, { vmId, sourceId, destinationId }: MigrateInput): Promise<void> {
  const vm = await getVmRow(tx, vmId)
  await sql.setHost(tx, now, vmId, destinationId)
  await moveVolumes(tx, now, vmId, sourceId, destinationId)
  await moveStaleNics(tx, vmId, sourceId, destinationId)
  await createPortState(tx, vmId, destinationId, vm.account_id)
  await resumePorts(tx, vmId)
  await recordStaleMachine(tx, now, vmId, sourceId)
  await releaseCapacity(tx, sourceId, sizeOnHost(vm, sizeOf(vm)))
}

const isSaved = async (db: Queries, runId: string): Promise<boolean> =>
  (await stepsOf(db, [runId])).some(({ name, status }) => name === 'move' && status === 'COMPLETED')

/** A run that is cancelled afterwards leaves the VM where it is. */
async function returnIfUnsettled(context: Context): Promise<Outcome> {
  const { deps, input, runId, signal } = context
  if (await isSaved(deps.db, runId)) return { isSettled: true }
  const vm = await sql.vmById(deps.db, input.vmId)
  // Deleted or restored elsewhere since the run was cancelled.
  if (vm?.host_id !== input.sourceId) return { isLeft: vm?.host_id !== input.destinationId }
  const [from, to] = [await openUnlessLost(deps, input.sourceId), await openUnlessLost(deps, input.destinationId)]
  return returnMachine({ ...(await describeMove(context, 'back')), from, to }, signal)
}

const openUnlessLost = async ({ db, hypervisors }: Deps, hostId: string): Promise<Driver | null> =>
  (await getHost(db, hostId)).lost_at === null ? hypervisors.get(hostId) : null

/** On both hosts, where the machine stays at the destination. */
async function returnPorts({ deps, input, signal }: Context, hasArrived: boolean): Promise<void> {
  const vm = await sql.vmById(deps.db, input.vmId)
  if (vm && isPlaced(vm)) await ensurePorts(deps, vm, signal, { sourceOnly: !hasArrived })
}

export const migrateVm = workflow<MigrateInput>('vm.migrate', { deadline: '6h', queue: 'migrations' })
  .step('filter', {
    run: applyPorts,
    save: savePorts,
    undo: (context) => returnPorts(context, (context.results as { move?: Outcome }).move?.hasArrived ?? false),
  })
  .step('template', { timeout: '30m', run: uploadTemplate })
  .step('move', {
    timeout: '6h',
    tries: 10,
    run: moveMachine,
    save: (tx, { input, now }) => settle(tx, now, input),
    undo: returnIfUnsettled,
  })
  .step('ports', {
    optional: true,
    run: applyPorts,
    save: (tx, { input, results, now }) => markPortsApplied(tx, now, input.vmId, results.ports.version),
  })
  .step('clean up', {
    optional: true,
    run: async ({ deps, input, signal }) => (await deps.hypervisors.get(input.sourceId)).ensurePurgedKeepBackups(input.vmId, signal),
    save: (tx, { input }) => clearStaleMachine(tx, input.vmId, input.sourceId),
  })
  .onSuccess((tx, { deps, input, runId }) => recordVmEvent(tx, deps, input.vmId, 'vm.migrated', { actionId: runId }))
  .onFailure(async (tx, { deps, runId, input, results, now }) => {
    const { vmId, sourceId, destinationId } = input
    const { isSettled, hasArrived, isLeft } = results.move ?? {}
    if (isSettled) return
    const vm = await sql.lockVmById(tx, vmId)
    const size = vm && sizeOnHost(vm, sizeOf(vm))
    if (hasArrived && vm?.host_id === sourceId) {
      await settle(tx, now, input)
      await releaseCapacity(tx, destinationId, subtract(input.size ?? size!, size!)) // it may have been upgraded meanwhile
      return recordVmEvent(tx, deps, vmId, 'vm.migrated', { actionId: runId })
    }
    await markPortsDirty(tx, [vmId]) // a change of them meanwhile may have bound them to both hosts again
    if (isLeft || hasArrived) await recordStaleMachine(tx, now, vmId, destinationId)
    const reserved = input.size ?? size
    if (reserved) await releaseCapacity(tx, destinationId, reserved)
  })

const subtract = (from: Size, size: Size): Size => ({
  vcpu: from.vcpu - size.vcpu,
  ramMiB: from.ramMiB - size.ramMiB,
  diskGiB: from.diskGiB - size.diskGiB,
})
