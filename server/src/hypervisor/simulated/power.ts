// Starts, stops and reboots machines.
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { DriverError, type StopOutcome, type Machines, type MachineSpec, type StopReason } from '../driver.ts'
import { consoleTail } from './console.ts'
import { notify } from './events.ts'
import type { Pause, SimulatedHost } from './host.ts'
import { bringIso, define, findRow, lockRow, requireMachine, requireOn, requireSameShape, type MachineRow } from './definition.ts'

type PowerMethods = Pick<Machines, 'ensureRunning' | 'ensureResumed' | 'ensureStopped' | 'ensureRestarted' | 'ensureReady'>

export function powerMethods(host: SimulatedHost): PowerMethods {
  const { hostId, db, clock, call } = host
  return {
    ensureRunning: (spec, signal) =>
      call('ensureRunning', signal, async (pause) => {
        if ((await findRow(db, hostId, spec.vmId))?.power !== 'running') await pause(host.pace.delays.startMs)
        await bringIso(host, spec, pause)
        await db.tx((tx) => run(tx, host, spec))
      }),

    ensureResumed: (vmId, signal) =>
      call('ensureResumed', signal, () =>
        db.tx(async (tx) => {
          if ((await lockRow(tx, hostId, vmId))?.power === 'paused') await resume(tx, host, vmId)
        }),
      ),

    ensureStopped: (vmId, { graceMs }, signal) =>
      call('ensureStopped', signal, async (pause) => {
        const row = await findRow(db, hostId, vmId)
        if (!row || row.power === 'stopped') return { how: 'already' }
        const how = await askGuest(host, row, graceMs, pause)
        await db.tx((tx) => stop(tx, hostId, vmId, 'user'))
        return { how }
      }),

    ensureRestarted: (vmId, { actionId, graceMs }, signal) =>
      call('ensureRestarted', signal, async (pause) => {
        const row = requireMachine(await findRow(db, hostId, vmId), hostId, vmId)
        if (row.last_restart_id === actionId) return { how: 'already' }
        const how = await askGuest(host, requireOn(row, hostId, vmId), graceMs, pause)
        return db.tx(async (tx) => {
          const now = requireMachine(await lockRow(tx, hostId, vmId), hostId, vmId)
          if (now.last_restart_id === actionId) return { how: 'already' }
          requireOn(now, hostId, vmId)
          await tx.run(sql`update simulated.machines set last_restart_id = ${actionId}, booted_at = ${clock.now()}, boots_iso = iso_id is not null, routes = '{}'
            where host_id = ${hostId} and name = ${vmId}`)
          await tx.run(sql`update simulated.nics set floating = '{}' where host_id = ${hostId} and machine = ${vmId}`)
          await notify(tx, hostId, { type: 'rebooted', vmId })
          return { how }
        })
      }),

    ensureReady: (vmId, { timeoutMs, evenWithoutAgent = false }, signal) =>
      call('ensureReady', signal, async (pause) => {
        const row = requireMachine(await findRow(db, hostId, vmId), hostId, vmId)
        if (row.power === 'running' && !row.has_agent && !evenWithoutAgent) return { readiness: 'booting' }
        const leftMs = row.is_stuck || !row.has_agent || row.boots_iso ? Infinity : leftToBootMs(host, row)
        if (row.power === 'running') await pause(Math.min(leftMs, timeoutMs))
        if (leftMs > timeoutMs || (await findRow(db, hostId, vmId))?.power !== 'running') throw guestFailed(row, timeoutMs)
        await notify(db, hostId, { type: 'agent_connected', vmId })
        return { readiness: 'reachable' }
      }),
  }
}

const guestFailed = (row: MachineRow, timeoutMs: number): DriverError =>
  new DriverError('guest_failed', `Machine ${row.name} was not ready within ${timeoutMs} ms; it is ${row.power}`, {
    userMessage: 'The VM was started, but its operating system did not boot.',
    consoleTail: consoleTail(row),
  })

function leftToBootMs({ clock, pace }: SimulatedHost, { booted_at }: MachineRow): number {
  return Math.max(0, (booted_at?.getTime() ?? 0) + pace.delays.bootMs - clock.now().getTime())
}

export const agentConnected = (host: SimulatedHost, row: MachineRow): boolean =>
  row.power === 'running' && row.has_agent && !row.boots_iso && !row.is_stuck && leftToBootMs(host, row) === 0

/** A guest shuts down unless it hangs or the grace period is too short. */
async function askGuest({ pace }: SimulatedHost, row: MachineRow, graceMs: number, pause: Pause): Promise<StopOutcome> {
  const obeys = graceMs > 0 && !row.is_stuck && row.power === 'running' && pace.delays.shutdownMs <= graceMs
  await pause(obeys ? pace.delays.shutdownMs : graceMs + pace.delays.destroyMs)
  return obeys ? 'clean' : 'forced'
}

async function run(tx: Tx, host: SimulatedHost, spec: MachineSpec): Promise<void> {
  const { hostId } = host
  const { vmId } = spec
  const row = await lockRow(tx, hostId, vmId)
  if (row && row.power !== 'stopped') {
    requireSameShape(row, spec)
    return row.power === 'paused' ? resume(tx, host, vmId) : undefined
  }
  await refuseSecondWriter(tx, hostId, spec)
  await define(tx, host, spec)
  // Two processes may have found no row to lock: the second one finds the machine running.
  if ((await lockRow(tx, hostId, vmId))?.power === 'stopped') await start(tx, host, vmId)
}

/** Ceph lets two machines write to one image, which destroys it. Here that is an error. */
async function refuseSecondWriter(tx: Tx, hostId: string, { vmId, storageId }: MachineSpec): Promise<void> {
  if (storageId === null) return
  const other = await tx.maybe<{ host_id: string }>(sql`
    select host_id from simulated.machines m where vm_id = ${vmId} and host_id <> ${hostId} and power <> 'stopped' and not exists (
      select from simulated.blocklist b where b.storage_id = ${storageId} and b.client like m.host_id || ':0/%') limit 1`)
  if (other)
    throw new DriverError('permanent', `BUG: machine ${vmId} runs on simulated host ${other.host_id}, which writes to the same disk`)
}

export async function start(tx: Tx, { hostId, clock }: Pick<SimulatedHost, 'hostId' | 'clock'>, vmId: string): Promise<void> {
  const now = clock.now()
  await tx.run(sql`update simulated.machines set power = 'running', stop_reason = null, epoch = nextval('simulated.epochs'),
    started_at = ${now}, booted_at = ${now}, boots_iso = iso_id is not null, routes = '{}' where host_id = ${hostId} and name = ${vmId}`)
  await tx.run(sql`update simulated.nics set epoch = nextval('simulated.epochs'), received_bytes = 0, sent_bytes = 0, counted_at = ${now},
    floating = '{}' where host_id = ${hostId} and machine = ${vmId}`)
  await notify(tx, hostId, { type: 'started', vmId })
}

/** On a full disk the guest is paused again at once. */
async function resume(tx: Tx, { hostId, clock }: SimulatedHost, vmId: string): Promise<void> {
  const resumed = await tx.run(sql`update simulated.machines m set power = 'running' where host_id = ${hostId} and name = ${vmId}
    and not (select is_full from simulated.hosts h where h.host_id = m.host_id)`)
  if (resumed === 0) return
  await tx.run(sql`update simulated.nics set counted_at = ${clock.now()} where host_id = ${hostId} and machine = ${vmId}`)
}

export async function stop(queries: Queries, hostId: string, vmId: string, reason: StopReason): Promise<void> {
  const stopped = await queries.run(sql`update simulated.machines set power = 'stopped', stop_reason = ${reason}, routes = '{}'
    where host_id = ${hostId} and name = ${vmId} and power <> 'stopped'`)
  if (stopped === 0) return
  await queries.run(sql`update simulated.nics set floating = '{}' where host_id = ${hostId} and machine = ${vmId}`)
  await notify(queries, hostId, { type: 'stopped', vmId, reason })
}
