// Console sessions of this process. A session ends when the host closes the console, a newer session in any process takes over, the VM
// stops running, the credential that opened it is revoked, or the process stops.
import type { WebSocket } from 'ws'
import { addDuration } from '../../kernel/clock.ts'
import { apiError } from '../../kernel/errors.ts'
import { bridge, LIMITS, type Bridge, type Limits } from './bridge.ts'
import { usableCredentials } from './credentials.ts'
import { CLOSE_CODES } from './close-codes.ts'
import { SESSION_TTL, openSession, type ConsoleSession, type SessionDeps } from './open-session.ts'
import { resolveCloseReason, checkSession } from './close-reason.ts'
import * as sql from './sql.ts'

/** Interval in which a process extends the expiry of its sessions. */
const HEARTBEAT_MS = 15_000
/** Timeout of the WebSocket closing handshake. */
const FAREWELL_MS = 1_000

export interface Sessions {
  /** Consumes the URL and opens the console on the host. The caller must pass the session to carry or drop. */
  open(secret: string): Promise<ConsoleSession>
  carry(session: ConsoleSession, client: WebSocket): void
  drop(session: ConsoleSession): Promise<void>
  close(): Promise<void>
}

export async function openSessions(deps: SessionDeps, limits: Limits = LIMITS, heartbeatMs = HEARTBEAT_MS): Promise<Sessions> {
  const { db, clock, log } = deps
  const carried = new Map<string, { session: ConsoleSession; bridge: Bridge; over: Promise<void> }>()
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

  /** Also ends sessions whose takeover notification was lost. */
  const heartbeat = async (): Promise<void> => {
    if (carried.size === 0) return
    const all = [...carried.values()]
    const now = clock.now()
    const alive = new Set((await sql.keepAlive(db, [...carried.keys()], addDuration(now, SESSION_TTL))).map(({ id }) => id))
    for (const { session, bridge } of all.filter((each) => !alive.has(each.session.id)))
      bridge.end((await checkSession(deps, session)) ?? 'host_ended')
    const usable = await usableCredentials(
      db,
      now,
      all.map(({ session }) => session),
    )
    for (const { session, bridge } of all) if (!usable.has(session)) bridge.end('revoked')
  }
  const beating = setInterval(
    () => void heartbeat().catch((error: unknown) => log.warn({ err: error }, 'console heartbeat failed; will retry')),
    heartbeatMs,
  ).unref()

  const drop = async ({ id, host }: ConsoleSession): Promise<void> => {
    host.destroy()
    await sql.leaveSession(db, id).catch((error: unknown) => log.debug({ err: error }, 'deleting console session failed; it will expire'))
  }

  const follow = async (session: ConsoleSession, client: WebSocket, { ended }: Bridge): Promise<void> => {
    const first = await ended
    const ending = first === 'host_ended' ? await resolveCloseReason(deps, session) : first
    client.close(...CLOSE_CODES[ending])
    setTimeout(() => client.terminate(), FAREWELL_MS).unref()
    await drop(session)
    carried.delete(session.id)
    log.info({ ...facts(session), ending }, 'console session closed')
  }

  return {
    async open(secret) {
      if (closing) throw apiError('service_unavailable', 'This server is stopping: ask for a new URL and try again')
      const session = await openSession(deps, secret)
      log.info(facts(session), 'console session opened')
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

const facts = ({ id, vmId, accountId, actorId, type }: ConsoleSession) => ({
  consoleId: id,
  vmId,
  account: accountId,
  actor: actorId,
  type,
})
