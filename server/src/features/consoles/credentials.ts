import type { Queries } from '../../kernel/database/db.ts'
import { tokenStates } from '../accounts/service.ts'
import { sessionStates } from '../sessions/service.ts'

/** Which of these API tokens and user sessions are still usable. */
export async function usableCredentials(db: Queries, now: Date, ids: string[]): Promise<Set<string>> {
  const states = (await Promise.all([tokenStates(db, now, ids), sessionStates(db, now, ids)])).flat()
  return new Set(states.filter(({ usable }) => usable).map(({ id }) => id))
}
