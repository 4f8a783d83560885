// Opens a session: consumes the URL, opens the console on the host, and only then records the session, which ends older ones.
import type { Duplex } from 'node:stream'
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { usableCredentials } from './credentials.ts'
import type { Deps } from '../deps.ts'
import { driverForVm, lockOwnVm, recordVmEvent, requireAllowed, requireVm, type VmDetails } from '../vms/service.ts'
import { redeem, refuseFor, requireRoom } from './service.ts'
import * as sql from './sql.ts'

/** A session counts as open this long after the last heartbeat of its process. */
export const SESSION_TTL = '60s'
const HOST_TIMEOUT_MS = 10_000
/** Consoles open as fast as a client connects, and every event goes to all webhooks: one per VM in this time is recorded. */
const EVENT_PAUSE = '60s'

export type SessionDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'hypervisors' | 'hooks'>

export interface ConsoleSession extends sql.SessionKey {
  /** The API token or user session that requested the URL. */
  actorId: string
  host: Duplex
}

export async function openSession(deps: SessionDeps, secret: string): Promise<ConsoleSession> {
  const link = await redeem(deps, secret)
  await requireUsable(deps, link)
  const vm = await requireVm(deps.db, link.account_id, link.vm_id)
  requireAllowed(vm, 'console')
  const host = await openOnHost(deps, vm, link.type)
  const key = { id: newId(), vmId: vm.id, accountId: link.account_id, type: link.type }
  try {
    await record(deps, key)
  } catch (error) {
    host.destroy()
    throw error
  }
  return { ...key, actorId: link.actor_id, host }
}

async function requireUsable({ db, clock }: SessionDeps, { actor_id, account_id }: sql.LinkRow): Promise<void> {
  const usable = await usableCredentials(db, clock.now(), [{ actorId: actor_id, accountId: account_id }])
  if (usable.size === 0) throw unauthorized('The API token or the session that asked for this console URL is no longer valid')
}

async function openOnHost(deps: SessionDeps, vm: VmDetails, type: sql.LinkRow['type']): Promise<Duplex> {
  const driver = await driverForVm(deps, vm)
  const host = await driver.openConsole(vm.id, type, AbortSignal.timeout(HOST_TIMEOUT_MS)).catch(refuseFor)
  return host.on('error', () => {}) // the reader handles errors; this avoids an unhandled one before it attaches
}

const record = (deps: SessionDeps, key: sql.SessionKey): Promise<unknown> =>
  deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    requireAllowed(await lockOwnVm(tx, key, key.vmId), 'console')
    await sql.lockSessionsOf(tx, key.accountId)
    await requireRoom(tx, deps.clock, key)
    await sql.takeSession(tx, now, addDuration(now, SESSION_TTL), key)
    if (await sql.wasOpenedSince(tx, key.vmId, subtractDuration(now, EVENT_PAUSE))) return
    await recordVmEvent(tx, deps, key.vmId, 'vm.console_opened', {}, { console: { type: key.type, sessionId: key.id } })
  })
