import type { Queries } from '../../kernel/db.ts'
import { tokenStates } from '../accounts/service.ts'
import { sessionStates } from '../sessions/service.ts'

/** What a console was asked for with: a token, or the session of a person. One that is gone is not answered. */
export const credentialStates = async (db: Queries, now: Date, ids: string[]): Promise<{ id: string; usable: boolean }[]> =>
  (await Promise.all([tokenStates(db, now, ids), sessionStates(db, now, ids)])).flat()
