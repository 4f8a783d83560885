// Why a session is over, where nobody said so.
import { sleep } from '../../kernel/clock.ts'
import type { CloseReason } from './close-codes.ts'
import type { ConsoleSession, SessionDeps } from './open-session.ts'
import * as sql from './sql.ts'

const HOST_TIMEOUT_MS = 10_000
/** So long the record of a newer session may take to follow its taking over on the host. */
const AGAIN_AFTER_MS = 500

/** A host ends a console for many reasons and tells none. */
export async function resolveCloseReason(deps: SessionDeps, session: ConsoleSession): Promise<CloseReason> {
  const looked = await checkSession(deps, session).catch(() => null)
  if (looked) return looked
  await sleep(AGAIN_AFTER_MS)
  return (await checkSession(deps, session).catch(() => null)) ?? 'host_ended'
}

/** What speaks against the session, or null. */
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
