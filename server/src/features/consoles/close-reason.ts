// Resolves why a session ended when the host closed the console without a reason.
import { sleep } from '../../kernel/clock.ts'
import type { CloseReason } from './close-codes.ts'
import type { ConsoleSession, SessionDeps } from './open-session.ts'
import * as sql from './sql.ts'

const HOST_TIMEOUT_MS = 10_000
/** A newer session takes over on the host before its row commits; wait this long for the row. */
const AGAIN_AFTER_MS = 500

/** A host closes a console for many reasons and reports none, so the reason is derived from the database and the machine's state. */
export async function resolveCloseReason(deps: SessionDeps, session: ConsoleSession): Promise<CloseReason> {
  const looked = await checkSession(deps, session).catch(() => null)
  if (looked) return looked
  await sleep(AGAIN_AFTER_MS)
  return (await checkSession(deps, session).catch(() => null)) ?? 'host_ended'
}

/** Returns the reason why the session must end, or null when it may continue. */
export async function checkSession(deps: SessionDeps, session: ConsoleSession): Promise<CloseReason | null> {
  const standing = await sql.standingOf(deps.db, session)
  if (!standing || standing.label === 'DELETE') return 'deleted'
  if (standing.status === 'SUSPENDED' || standing.label === 'SUSPEND') return 'suspended'
  if (standing.status !== 'RUNNING' || standing.host_id === null) return 'stopped'
  if (standing.session_id !== null && standing.session_id !== session.id) return 'taken_over'
  const driver = await deps.hypervisors.get(standing.host_id)
  const machine = await driver.findMachine(session.vmId, AbortSignal.timeout(HOST_TIMEOUT_MS))
  return machine?.power === 'running' ? null : 'stopped'
}
