// The sessions that this process carries, and how they learn that they are over: the host ends the console, a newer session anywhere
// takes over, the VM is no longer running, or the process stops.
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { after, sleep } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Deps } from '../deps.ts'
import { driverOf, lockVm, recordVmEvent, requireAllowed, requireVm } from '../vms/service.ts'
import { bridge, type Bridge, type Limits } from './bridge.ts'
import { ENDINGS, type Ending } from './endings.ts'
import { redeem, refuseFor, requireRoom } from './service.ts'
import * as sql from './sql.ts'

const HOST_TIMEOUT_MS = 10_000
/** How often a process says that its sessions live; they run out when it has kept silent for four times as long. */
const HEARTBEAT_MS = 15_000
const ALIVE = '60s'
/** For a client that does not say goodbye. */
const FAREWELL_MS = 1_000

type SessionDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'hypervisors'>

export interface Session extends sql.SessionKey {
  actorId: string
  host: Duplex
}

export interface Sessions {
  /** Uses the URL up and opens the console on the host. What it answers must be carried or dropped. */
  open(secret: string): Promise<Session>
  carry(session: Session, client: WebSocket): void
  drop(session: Session): Promise<void>
  close(): Promise<void>
}

export async function openSessions(deps: SessionDeps, limits: Limits): Promise<Sessions> {
  const { db, clock, log } = deps
  const carried = new Map<string, { session: Session; bridge: Bridge; over: Promise<void> }>()
  let closing = false

  const stopHearing = await db.listen(
    sql.SESSIONS,
    (payload) => {
      const newer = JSON.parse(payload) as sql.SessionKey
      for (const { session, bridge } of carried.values())
        if (session.vmId === newer.vmId && session.type === newer.type && session.id !== newer.id) bridge.end('taken_over')
    },
    () => {},
  )

  /** Also finds what a lost notice did not tell. */
  const heartbeat = async (): Promise<void> => {
    const ids = [...carried.keys()]
    if (ids.length === 0) return
    const alive = new Set((await sql.keepAlive(db, ids, after(clock.now(), ALIVE))).map(({ id }) => id))
    for (const id of ids.filter((each) => !alive.has(each))) {
      const each = carried.get(id)
      each?.bridge.end((await look(deps, each.session)) ?? 'stopped')
    }
  }
  const beating = setInterval(
    () => void heartbeat().catch((error: unknown) => log.warn({ err: error }, 'consoles: no sign of life given, it is tried again')),
    HEARTBEAT_MS,
  ).unref()

  const drop = async ({ id, host }: Session): Promise<void> => {
    host.destroy()
    await sql.leaveSession(db, id).catch((error: unknown) => log.debug({ err: error }, 'a console session stays until it runs out'))
  }

  const follow = async (session: Session, client: WebSocket, { ended }: Bridge): Promise<void> => {
    const first = await ended
    const ending = first === 'host_ended' ? await explain(deps, session) : first
    client.close(...ENDINGS[ending])
    setTimeout(() => client.terminate(), FAREWELL_MS).unref()
    await drop(session)
    carried.delete(session.id)
    log.info({ ...facts(session), ending }, 'console closed')
  }

  return {
    async open(secret) {
      if (closing) throw refuse('service_unavailable', 'This server is stopping: ask for a new URL and try again')
      const session = await openSession(deps, secret)
      log.info(facts(session), 'console opened')
      return session
    },
    carry(session, client) {
      const carrying = bridge(client, session.host, limits)
      carried.set(session.id, { session, bridge: carrying, over: follow(session, client, carrying) })
      if (closing) carrying.end('draining')
    },
    drop,
    async close() {
      closing = true
      clearInterval(beating)
      for (const { bridge } of carried.values()) bridge.end('draining')
      await Promise.all([...carried.values()].map(({ over }) => over))
      await stopHearing()
    },
  }
}

const facts = ({ id, vmId, accountId, actorId, type }: Session) => ({ consoleId: id, vmId, account: accountId, actor: actorId, type })

/** The host is asked before anybody is told: only what really opened takes over from an older session and is put on record. */
async function openSession(deps: SessionDeps, secret: string): Promise<Session> {
  const { db, clock } = deps
  const { vm_id: vmId, account_id: accountId, actor_id: actorId, type } = await redeem(deps, secret)
  const vm = await requireVm(db, accountId, vmId)
  requireAllowed(vm, 'console')
  const host = await (await driverOf(deps, vm)).openConsole(vmId, type, AbortSignal.timeout(HOST_TIMEOUT_MS)).catch(refuseFor)
  const key = { id: newId(), vmId, accountId, type }
  try {
    await db.tx(async (tx) => {
      const now = clock.now()
      requireAllowed(await lockVm(tx, accountId, vmId), 'console')
      await sql.lockSessionsOf(tx, accountId)
      await requireRoom(tx, clock, key)
      await sql.takeSession(tx, now, after(now, ALIVE), key)
      await recordVmEvent(tx, now, vmId, 'vm.console_opened', {}, { console: { type, sessionId: key.id } })
    })
  } catch (error) {
    host.destroy()
    throw error
  }
  return { ...key, actorId, host }
}

/** A host ends a console for many reasons and tells none. Where another session has just taken it, the record of that may follow. */
async function explain(deps: SessionDeps, session: Session): Promise<Ending> {
  const looked = await look(deps, session).catch(() => null)
  if (looked) return looked
  await sleep(500)
  return (await look(deps, session).catch(() => null)) ?? 'host_ended'
}

/** What speaks against the session, or null. */
async function look(deps: SessionDeps, session: Session): Promise<Ending | null> {
  const standing = await sql.standingOf(deps.db, session)
  if (!standing || standing.label === 'DELETE') return 'deleted'
  if (standing.status === 'SUSPENDED' || standing.label === 'SUSPEND') return 'suspended'
  if (standing.status !== 'RUNNING' || standing.host_id === null) return 'stopped'
  if (standing.session_id !== session.id) return 'taken_over'
  const driver = await deps.hypervisors.get(standing.host_id)
  const machine = await driver.findMachine(session.vmId, AbortSignal.timeout(HOST_TIMEOUT_MS))
  return machine?.power === 'running' ? null : 'stopped'
}
