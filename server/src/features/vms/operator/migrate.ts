// Moves a VM to another host of its region: a running one without stopping it.
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { ApiError, apiError, notFound } from '../../../kernel/errors.ts'
import { openRunOf } from '../../../workflow/run-store.ts'
import { isSaved, migrateVm } from './migrate.workflow.ts'
import { recordByOperator } from '../../audit-log/service.ts'
import { catalogNumbers, getRegion, getTemplateById, lockTemplateUse, traitsOfPlan } from '../../catalog/service.ts'
import { type Deps } from '../../deps.ts'
import { reserveCapacityInRegion, reserveImageRoom } from '../../hosts/capacity.ts'
import { findUnservedAddress } from '../../hosts/public-addresses.ts'
import { getHost, listHostsIn, type HostRow } from '../../hosts/service.ts'
import { ruleForVm } from '../../placement-groups/service.ts'
import { speedBought } from '../billing/pricing.ts'
import { requireAllowed } from '../model/allowed-actions.ts'
import { preemptOpenRun, startRunOf } from '../model/guards.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { hasStaleMachine } from '../model/stale-machines.ts'

export interface MigrationOrder {
  /** By id or name; undefined: the host with most room. */
  to?: string | undefined
  /** Of memory and disk; undefined: unlimited. */
  miBPerSecond?: number | undefined
  /** Stops a running VM for it, and starts it again. */
  restarts?: boolean
}

export interface Migration {
  actionId: string
  from: string
  to: string
  /** What the operator should know of it. */
  note: string | null
}

export async function startMigration(
  tx: Tx,
  deps: Deps,
  vmId: string,
  { to, miBPerSecond, restarts = false }: MigrationOrder,
): Promise<Migration> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  await preemptOpenRun(tx, deps, vm)
  const source = await requireMovable(tx, vm)
  const avoid = await sql.hostsWithBackups(tx, vmId)
  const destination = await reserveDestination(tx, vm, source, to, avoid)
  const isOn = vm.status === 'RUNNING'
  const input = {
    vmId,
    sourceId: source.id,
    destinationId: destination.id,
    isOn: isOn && !restarts,
    miBPerSecond: miBPerSecond ?? null,
    size: sizeOnHost(vm, sizeOf(vm)),
    restarts: isOn && restarts,
  }
  const { actionId } = await startRunOf(tx, deps, vm, 'MIGRATE')(migrateVm, input)
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'vm migrate', resourceIds: [vmId] })
  const note = avoid.has(destination.id) ? backupsNote(destination.name) : null
  return { actionId, from: source.name, to: destination.name, note }
}

export const backupsNote = (host: string): string =>
  `${host} holds backups of this VM, so until the next backup goes elsewhere one host failure loses both`

/** Undone: the machine is on its old host as it was. Nothing else happens to the VM before. */
export async function cancelMigration(tx: Tx, deps: Deps, vmId: string): Promise<{ actionId: string }> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  const actionId = await abortMigration(tx, deps, vmId, 'The operator has cancelled it')
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'vm migrate cancel', resourceIds: [vmId] })
  return { actionId }
}

async function abortMigration(tx: Tx, deps: Deps, vmId: string, reason: string): Promise<string> {
  const run = await openRunOf(tx, vmId)
  if (run?.name !== migrateVm.name) throw apiError('invalid_state', 'VM is not being moved')
  if (await isSaved(tx, run.id)) throw apiError('invalid_state', 'VM runs on its new host already: move it back instead')
  if (!(await deps.workflows.abort(tx, run.id, reason))) throw apiError('busy', `Its action MIGRATE (${run.id}) is being undone already`)
  return run.id
}

/** For a VM that is about to be suspended, which does not wait for a move. Nothing where there is none that can be aborted. */
export async function makeWayForSuspension(tx: Tx, deps: Deps, vmId: string): Promise<void> {
  await abortMigration(tx, deps, vmId, 'The VM is being suspended').catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
  })
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
  const { from, to, note } = plan!
  return { from, to, note }
}

/** Whether it may leave its host at all; returns that. Whether it is idle is up to the caller. */
export async function requireMovable(db: Queries, vm: sql.VmDetails): Promise<HostRow> {
  requireAllowed(vm, 'migrate')
  if (vm.status === 'RUNNING' && (vm.account_suspended || vm.pending_hold === 'SUSPEND'))
    throw apiError('busy', 'VM is being suspended: it can be moved after that')
  const source = await getHost(db, vm.host_id!)
  if (source.unreachable_since !== null) throw apiError('unavailable', `Host ${source.name} is unreachable: nothing can be moved from it`)
  if (source.fenced_at !== null)
    throw apiError('unavailable', `Host ${source.name} is fenced: it is cleaned before anything is moved from it`)
  if (await hasStaleMachine(db, vm.id, source.id))
    throw apiError('busy', `The machine of this VM on ${source.name} is put right first: try again in a few minutes`)
  requireReachableByPeers(source)
  const address = await findUnservedAddress(db, vm, { ...source, id: '' })
  if (address !== null)
    throw apiError('incompatible', `${address} is an address of ${source.name} alone, so VM would lose it on any other host`)
  const { snapshots, volumes } = await sql.countLocalFiles(db, vm.id)
  if (snapshots > 0)
    throw apiError(
      'in_use',
      `VM has ${snapshots} snapshots, which are files on its host and do not move: delete them first, or make backups of it`,
    )
  if (volumes.length > 0)
    throw apiError('in_use', `VM has volumes on its host, which do not move: ${volumes.join(', ')}. Detach them first`)
  return source
}

function requireReachableByPeers({ driver, uri, name }: HostRow): void {
  if (driver === 'libvirt' && !uri.startsWith('qemu+tls:'))
    throw apiError(
      'incompatible',
      `Host ${name} is known as ${uri}, where other hosts do not reach it: add it by its address, with a certificate`,
    )
}

/** The room of the VM there, and of its image. */
async function reserveDestination(
  tx: Tx,
  vm: sql.VmDetails,
  source: HostRow,
  to: string | undefined,
  avoid: ReadonlySet<string>,
): Promise<HostRow> {
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
    traits: await traitsOfPlan(tx, vm.plan_id),
    network10g: vm.network_10g,
    boughtMbps: bought,
    publicIpv4: vm.public_ipv4,
    rule: await ruleForVm(tx, vm.id),
    avoid,
  }
  if (template.account_id !== null) await lockTemplateUse(tx, template.id) // its room there may be about to be released
  const host = await reserveCapacityInRegion(tx, region, { ...sizeOnHost(vm, sizeOf(vm)), ...need }, possible)
  await reserveImageRoom(tx, template, { host_id: host.id, storage_id: vm.storage_id })
  return host
}

async function objection(tx: Tx, vm: sql.VmDetails, source: HostRow, host: HostRow): Promise<Error | null> {
  try {
    requirePair(source, host)
  } catch (error) {
    return error as Error
  }
  if (await hasStaleMachine(tx, vm.id, host.id))
    return apiError('busy', `${host.name} still has remains of this VM, which are removed first: try again in a minute`)
  return null
}

/** Whether machines of one host can move to the other. */
export function requirePair(source: HostRow, host: HostRow): void {
  const { name } = host
  if (host.id === source.id) throw apiError('invalid_state', `VM is on ${name} already`)
  if (host.region_id !== source.region_id) throw apiError('incompatible', `${name} is in another region than ${source.name}`)
  if (host.driver !== source.driver || host.arch !== source.arch || host.acceleration !== source.acceleration)
    throw apiError('incompatible', `${name} runs machines of another kind than ${source.name}`)
  requireReachableByPeers(host)
}
