// The power state on the host wins. A VM whose row differs from its host is observed twice, at least ten seconds apart and never while an
// action is open; then the row is corrected. A VM that its host paused, or lost in a power failure, is started again. A SUSPENDED VM is
// always stopped. A guest that found the disk of its host full is STOPPED too and resumed until it stays running. An event from the host counts as the first of the two observations.
// Hosts are swept now and then, for what no event told; VMs in doubt are looked at often.
import type { Driver, DriverEvent, Machine, Power, StopReason } from '../../../hypervisor/driver.ts'
import { type Db, type NotNull, type Queries, sql } from '../../../kernel/database/db.ts'
import { hasOpenRun, openRunOf } from '../../../workflow/run-store.ts'
import { type Deps, keyedReconciler, reconciler } from '../../deps.ts'
import { callHost, getHost, type HostRow, isStable, listHosts } from '../../hosts/service.ts'
import { startVm, suspendVm } from '../actions/power.ts'
import { OUT_OF_SPACE } from '../model/allowed-actions.ts'
import { recordVmEvent } from '../model/events.ts'
import { markGuestDue } from '../model/guest-turns.ts'
import { lockVmById, setStatus, vmById, type VmRow } from '../model/sql.ts'
import { isStale } from '../model/stale-machines.ts'

const CONFIRM_AFTER_MS = 10_000
const [BATCH, PAGE] = [500, 5_000]

type Seen = Pick<Machine, 'power' | 'stopReason' | 'isOutOfSpace'> | null

/** Nearly all machines of a host: kept once. */
const RUNNING: NonNullable<Seen> = { power: 'running', stopReason: null, isOutOfSpace: false }

export const syncPowerStates = reconciler('vms.power_sync', '5m', async (deps) => {
  await Promise.all((await stableHosts(deps)).map((host) => sweepHost(deps, host)))
})

/** Hosts of which this process has missed events. */
const missed = new Set<string>()

/** Those with a first observation, those to be resumed, and all of a host whose events were missed. One run per host: what a host does delays no other. */
export const confirmPowerStates = keyedReconciler('vms.power_confirm', '15s', {
  busy: async (deps) => {
    const doubtful = await doubtfulHosts(deps.db)
    if (doubtful.size === 0 && missed.size === 0) return []
    return (await stableHosts(deps)).map(({ id }) => id).filter((id) => missed.has(id) || doubtful.has(id))
  },
  runOnce: lookAt,
})

const stableHosts = async ({ db, clock }: Deps): Promise<HostRow[]> => (await listHosts(db)).filter((host) => isStable(host, clock.now()))

async function lookAt(deps: Deps, hostId: string): Promise<void> {
  const { db, hypervisors, log } = deps
  if (missed.delete(hostId)) await sweepHost(deps, await getHost(db, hostId))
  for (const vm of await doubtfulVms(db, hostId))
    try {
      const driver = await hypervisors.get(hostId)
      await compareOne(deps, driver, vm, await driver.findMachine(vm.id, AbortSignal.timeout(30_000)))
    } catch (error) {
      log.warn({ err: error, hostId, vmId: vm.id }, 'looking at machine on host failed')
    }
}

async function sweepHost(deps: Deps, host: HostRow): Promise<void> {
  const driver = await deps.hypervisors.get(host.id)
  const present = new Map<string, NonNullable<Seen>>()
  try {
    for await (const machine of driver.listMachines(AbortSignal.timeout(60_000)))
      if (machine.vmId !== null) present.set(machine.vmId, machine.power === 'running' ? RUNNING : machine)
  } catch (error) {
    deps.log.warn({ err: error, host: host.name }, 'listing machines on host failed')
    return // an incomplete list cannot show which machines are missing
  }
  for await (const page of pagesOfHost(deps.db, host.id)) {
    const differing = page.filter((vm) => vm.is_doubtful || !isExpected(vm, present.get(vm.id)?.power ?? 'absent'))
    for (let i = 0; i < differing.length; i += BATCH) {
      const ids = differing.slice(i, i + BATCH).map(({ id }) => id)
      for (const vm of await idleVms(deps.db, host.id, ids)) await compareOne(deps, driver, vm, present.get(vm.id) ?? null)
    }
  }
}

async function* pagesOfHost(db: Db, hostId: string): AsyncGenerator<VmOnHost[]> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const page: VmOnHost[] = await vmsOnHost(db, hostId, after, PAGE)
    yield page
    after = page.length === PAGE ? page.at(-1)!.id : undefined
  }
}

const compareOne = (deps: Deps, driver: Driver, vm: ComparableVm, seen: Seen): Promise<void> =>
  vm.status === 'STOPPED' && vm.desired_running && seen?.power === 'paused' ? resume(deps, driver, vm.id) : comparePower(deps, vm, seen)

/** Without a workflow: undoing a failed start would power the guest off, and it would lose what it has not written yet. */
async function resume({ db, log }: Deps, driver: Driver, vmId: string): Promise<void> {
  const vm = await vmById(db, vmId)
  if (!vm || vm.account_suspended || vm.pending_hold) return
  await driver
    .ensureResumed(vmId, AbortSignal.timeout(30_000))
    .catch((error: unknown) => log.warn({ err: error, vmId }, 'resuming paused VM failed'))
}

const EXPECTED: Partial<Record<string, Power>> = { RUNNING: 'running', STOPPED: 'stopped' }

const isExpected = ({ status }: Pick<VmRow, 'status'>, power: Power | 'absent'): boolean => {
  if (status === 'SUSPENDED') return power === 'stopped' || power === 'absent'
  return status === 'ERROR' ? power !== 'running' : power === EXPECTED[status]
}

async function comparePower(deps: Deps, vm: ComparableVm, seen: Seen): Promise<void> {
  const power = seen?.power ?? 'absent'
  if (isExpected(vm, power)) {
    if (vm.observed_power !== null) await recordObservedPower(deps.db, vm.id, null, null)
    return
  }
  const now = deps.clock.now()
  if (vm.observed_power !== power || vm.observed_at === null) return void (await recordObservedPower(deps.db, vm.id, power, now))
  if (now.getTime() - vm.observed_at.getTime() >= CONFIRM_AFTER_MS) await applyObservedPower(deps, vm.id, seen)
}

const REASONS: Record<StopReason, string> = {
  user: 'Stopped on the host',
  guest: 'Shut down from inside the guest',
  crash: 'Crashed',
  host: 'Host power loss',
}

async function applyObservedPower(deps: Deps, vmId: string, seen: Seen): Promise<void> {
  await deps.db.tx(async (tx) => {
    const vm = await lockVmById(tx, vmId)
    if (!vm || vm.observed_power === null || (await openRunOf(tx, vmId))) return
    const now = deps.clock.now()
    if (seen === null) {
      await setStatus(tx, now, vmId, {
        status: 'ERROR',
        reason: 'Its host no longer has this VM: rebuild it, restore a backup, or delete it',
      })
      return recordVmEvent(tx, deps, vmId, 'vm.error', { reason: 'host' })
    }
    const options = { ownerId: vm.account_id, subjectId: vmId }
    if (vm.status === 'SUSPENDED') {
      const unpaid = vm.billing_status === 'SUSPENDED'
      return deps.workflows.start(tx, suspendVm, { vmId, unpaid, again: true }, { label: 'SUSPEND', ...options })
    }
    const isPaused = seen.power === 'paused' && vm.status === 'RUNNING'
    if (seen.power !== 'stopped' && !isPaused) {
      await setStatus(tx, now, vmId, { status: 'RUNNING', desiredRunning: true })
      return recordVmEvent(tx, deps, vmId, 'vm.started', { reason: 'host' })
    }
    const reason = isPaused ? 'host' : (seen.stopReason ?? 'crash')
    const bringBack = reason === 'host' && vm.desired_running
    if (seen.isOutOfSpace) {
      deps.log.warn({ vmId, hostId: vm.host_id }, 'guest paused because its host has no disk space')
      await setStatus(tx, now, vmId, { status: 'STOPPED', reason: OUT_OF_SPACE, desiredRunning: bringBack })
      return recordVmEvent(tx, deps, vmId, 'vm.stopped', { reason })
    }
    const why = isPaused ? 'Paused on the host' : REASONS[reason]
    await setStatus(tx, now, vmId, { status: 'STOPPED', reason: why, readiness: 'booting', desiredRunning: bringBack })
    await recordVmEvent(tx, deps, vmId, 'vm.stopped', { reason })
    if (bringBack && !vm.account_suspended && !vm.pending_hold)
      await deps.workflows.start(tx, startVm, { vmId }, { label: 'START', ...options })
  })
}

/** A host event counts as the first observation, so the next reconciler run can correct the row. */
export async function recordPowerEvent(db: Db, now: Date, vmId: string, power: Power): Promise<void> {
  const vm = await vmById(db, vmId)
  if (vm && EXPECTED[vm.status] !== undefined && EXPECTED[vm.status] !== power && vm.observed_power !== power)
    await recordObservedPower(db, vmId, power, now)
}

/** Keyed by driver: a host with a new address has a new driver, and closing the old driver ended its subscription. */
const subscribedDrivers = new WeakSet<Driver>()

/** Subscribes to new hosts and to those whose last subscription failed. The driver pool ends subscriptions when it closes. */
export const subscribeHostEvents = reconciler('vms.host_events', '30s', async (deps, stopping = new AbortController().signal) => {
  const hear = async (driver: Driver, signal: AbortSignal): Promise<void> => {
    if (subscribedDrivers.has(driver)) return
    await driver.subscribe((event) => void note(deps, driver, event), signal)
    subscribedDrivers.add(driver)
  }
  await Promise.all((await listHosts(deps.db)).map(({ id }) => callHost(deps, id, stopping, hear)))
})

async function note(deps: Deps, { hostId }: Driver, event: DriverEvent): Promise<void> {
  if (event.type === 'agent_connected')
    return markGuestDue(deps, event.vmId).catch((error: unknown) =>
      deps.log.warn({ err: error, event }, 'marking guest addresses and routes failed; told at the next look'),
    )
  if (event.type === 'missed') return void missed.add(hostId)
  if (event.type === 'rebooted') return
  const power = event.type === 'started' ? 'running' : event.type
  await recordPowerEvent(deps.db, deps.clock.now(), event.vmId, power).catch((error: unknown) =>
    deps.log.warn({ err: error, event }, 'recording host power event failed'),
  )
}

export type ComparableVm = Pick<VmRow, 'id' | 'status' | 'desired_running' | 'observed_power' | 'observed_at' | 'generation' | 'account_id'>

/** Whether its power state is compared: stable status, no open action, and no stale machine awaiting repair. */
const isComparable = sql`status in ('RUNNING', 'STOPPED', 'SUSPENDED', 'ERROR') and provisioned
  and not ${hasOpenRun(sql`v.id`)} and not ${isStale(sql`v.id`, sql`v.host_id`)}`

const isDoubtful = sql`(observed_power is not null or (status = 'STOPPED' and desired_running))`

const doubtfulHosts = async (db: Queries): Promise<Set<string>> => {
  const rows = await db.many<{ host_id: NotNull<string> }>(sql`
    select distinct host_id from vms v where ${isDoubtful} and host_id is not null and ${isComparable}`)
  return new Set(rows.map(({ host_id }) => host_id))
}

const doubtfulVms = (db: Queries, hostId: string) =>
  db.many<ComparableVm>(sql`
    select id, status, desired_running, observed_power, observed_at, generation, account_id from vms v
    where host_id = ${hostId} and ${isDoubtful} and ${isComparable} order by id`)

export const idleVms = (db: Queries, hostId: string, ids: string[]) =>
  db.many<ComparableVm>(sql`
    select id, status, desired_running, observed_power, observed_at, generation, account_id from vms v
    where host_id = ${hostId} and id = any(${ids}::text[]) and ${isComparable}`)

type VmOnHost = Pick<VmRow, 'id' | 'status'> & { is_doubtful: NotNull<boolean> }

const vmsOnHost = (db: Queries, hostId: string, after: string, limit: number) =>
  db.many<VmOnHost>(sql`
    select id, status, ${isDoubtful} as is_doubtful from vms where host_id = ${hostId} and id > ${after} order by id limit ${limit}`)

export const recordObservedPower = (db: Queries, id: string, power: string | null, at: Date | null) =>
  db.run(sql`update vms set observed_power = ${power}, observed_at = ${at} where id = ${id}`)
