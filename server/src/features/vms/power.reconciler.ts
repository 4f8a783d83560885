// The real power state wins. A VM that is not as its row says is looked at twice, at least ten seconds apart, never while an action
// works on it, and then the row is corrected; a VM that its host lost with the power, or paused, is started again. Only what is
// suspended stays off, whoever started it.
import type { Machine, Power, StopReason } from '../../hypervisor/driver.ts'
import { findMissingIds } from '../../kernel/absent.ts'
import type { Db } from '../../kernel/db.ts'
import { reconciler, type Deps } from '../deps.ts'
import { isStable, listHosts, type HostRow } from '../hosts/service.ts'
import { recordVmEvent } from './events.ts'
import { startVm, suspendVm } from './power.workflow.ts'
import * as sql from './sql.ts'
import * as sweep from './sweep-sql.ts'
import { openRunOf } from '../../workflow/store.ts'

const BETWEEN_LOOKS_MS = 10_000
const BATCH = 500

type Seen = Pick<Machine, 'power' | 'stopReason'> | null
type Known = sweep.ComparableVm

export const syncPowerStates = reconciler('vms.power', '15s', async (deps) => {
  const hosts = await listHosts(deps.db)
  await Promise.all(hosts.filter((host) => isStable(host, deps.clock.now())).map((host) => sweepHost(deps, host)))
})

async function sweepHost(deps: Deps, host: HostRow): Promise<void> {
  const driver = await deps.hypervisors.get(host.id)
  const signal = AbortSignal.timeout(60_000)
  const present = new Set<string>()
  let batch: Machine[] = []
  const flush = async (): Promise<void> => {
    await compare(deps, host, batch)
    batch = []
  }
  try {
    for await (const machine of driver.listMachines(signal)) {
      if (machine.vmId === null) continue
      present.add(machine.vmId)
      batch.push(machine)
      if (batch.length === BATCH) await flush()
    }
    await flush()
  } catch (error) {
    deps.log.warn({ err: error, host: host.name }, 'host could not be listed')
    return // half a list says nothing about what is absent
  }
  for await (const absent of findMissingIds(present, (after, limit) => sweep.vmsOnHost(deps.db, host.id, after, limit)))
    for (const vm of await sweep.idleVms(deps.db, host.id, absent)) await comparePower(deps, vm, null)
}

async function compare(deps: Deps, host: HostRow, machines: Machine[]): Promise<void> {
  const known = new Map(
    (
      await sweep.idleVms(
        deps.db,
        host.id,
        machines.map((each) => each.vmId!),
      )
    ).map((vm) => [vm.id, vm]),
  )
  for (const machine of machines) {
    const vm = known.get(machine.vmId!)
    if (vm) await comparePower(deps, vm, machine)
  }
}

const EXPECTED: Partial<Record<string, Power>> = { RUNNING: 'running', STOPPED: 'stopped' }

const isExpected = ({ status }: Known, power: Power | 'absent'): boolean => {
  if (status === 'SUSPENDED') return power === 'stopped' || power === 'absent'
  return status === 'ERROR' ? power !== 'running' : power === EXPECTED[status]
}

async function comparePower(deps: Deps, vm: Known, seen: Seen): Promise<void> {
  const power = seen?.power ?? 'absent'
  if (isExpected(vm, power)) {
    if (vm.seen_power !== null) await sweep.recordObservedPower(deps.db, vm.id, null, null)
    return
  }
  const now = deps.clock.now()
  if (vm.seen_power !== power || vm.seen_at === null) return void (await sweep.recordObservedPower(deps.db, vm.id, power, now))
  if (now.getTime() - vm.seen_at.getTime() >= BETWEEN_LOOKS_MS) await applyObservedPower(deps, vm.id, seen)
}

const REASONS: Record<StopReason, string> = {
  user: 'It was stopped on its host',
  guest: 'The guest switched itself off',
  crash: 'It crashed',
  host: 'Its host lost power',
}

async function applyObservedPower(deps: Deps, vmId: string, seen: Seen): Promise<void> {
  await deps.db.tx(async (tx) => {
    const vm = await sql.lockVm(tx, vmId)
    if (!vm || vm.seen_power === null || (await openRunOf(tx, vmId))) return
    const now = deps.clock.now()
    if (seen === null) {
      await sql.setStatus(tx, now, vmId, {
        status: 'ERROR',
        reason: 'Its host no longer has this VM: rebuild it, restore a backup, or delete it',
      })
      return recordVmEvent(tx, now, vmId, 'vm.error', { reason: 'host' })
    }
    const options = { ownerId: vm.account_id, subjectId: vmId }
    if (vm.status === 'SUSPENDED') {
      const unpaid = vm.billing_status === 'SUSPENDED'
      return deps.workflows.start(tx, suspendVm, { vmId, unpaid, again: true }, { label: 'SUSPEND', ...options })
    }
    const isPaused = seen.power === 'paused' && vm.status === 'RUNNING'
    if (seen.power !== 'stopped' && !isPaused) {
      await sql.setStatus(tx, now, vmId, { status: 'RUNNING', wantedOn: true })
      return recordVmEvent(tx, now, vmId, 'vm.started', { reason: 'host' })
    }
    const reason = isPaused ? 'host' : (seen.stopReason ?? 'crash')
    const why = isPaused ? 'It was paused on its host' : REASONS[reason]
    const bringBack = reason === 'host' && vm.wanted_on
    await sql.setStatus(tx, now, vmId, { status: 'STOPPED', reason: why, readiness: 'booting', wantedOn: bringBack })
    await recordVmEvent(tx, now, vmId, 'vm.stopped', { reason })
    if (bringBack && !vm.account_suspended) await deps.workflows.start(tx, startVm, { vmId }, { label: 'START', ...options })
  })
}

/** A hint from the host counts as the first look, so that the second corrects the row soon after. */
export async function recordPowerEvent(db: Db, now: Date, vmId: string, power: Power): Promise<void> {
  const vm = await sql.vmById(db, vmId)
  if (vm && EXPECTED[vm.status] !== undefined && EXPECTED[vm.status] !== power && vm.seen_power !== power)
    await sweep.recordObservedPower(db, vmId, power, now)
}
