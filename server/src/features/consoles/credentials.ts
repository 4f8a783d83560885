import type { Queries } from '../../kernel/database/db.ts'
import { tokenStates } from '../accounts/service.ts'
import { listAllowed } from '../sessions/service.ts'

/** The API token or user session that asked for a console of an account. */
export interface Credential {
  actorId: string
  accountId: string
}

/** Those of consoles that may still be open: API tokens that work, and sessions of users who may still open consoles of the account. */
export async function usableCredentials<Each extends Credential>(db: Queries, now: Date, all: Each[]): Promise<Set<Each>> {
  const [tokens, sessions] = await Promise.all([
    tokenStates(
      db,
      now,
      all.map(({ actorId }) => actorId),
    ),
    listAllowed(
      db,
      now,
      all.map((each) => ({ each, sessionId: each.actorId, accountId: each.accountId })),
      'vms:console',
    ),
  ])
  const usable = new Set(tokens.flatMap(({ id, usable }) => (usable ? [id] : [])))
  return new Set([...all.filter(({ actorId }) => usable.has(actorId)), ...sessions.map(({ each }) => each)])
}
