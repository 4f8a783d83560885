// The life of a session: a secret in a cookie, of which we keep the hash. It ends when it is not used for a day, and after two weeks in any
// case. Whenever it may do more than before, the secret is another.
import { after, before } from '../../kernel/clock.ts'
import { newToken, sha256 } from '../../kernel/crypto.ts'
import type { Tx } from '../../kernel/db.ts'
import { unauthorized, type Refusal } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import * as sql from './sql.ts'

export const PREFIX = 'ses_'
const IDLE = '24h'
export const LONGEST = '14d'
/** For requests that were sent with the secret before. */
const OVERLAP = '10s'
const MOST_PER_PERSON = 50

export interface Caller {
  ip: string
  userAgent: string
}

export interface Started {
  secret: string
  row: sql.SessionRow
}

export const idleSince = (now: Date): Date => before(now, IDLE)

export const isOver = (row: sql.SessionRow, now: Date): boolean => row.expires_at <= now || row.last_seen_at <= idleSince(now)

export async function startSession(tx: Tx, now: Date, personId: string, { ip, userAgent }: Caller): Promise<Started> {
  const secret = newToken(PREFIX)
  const row = await sql.insertSession(tx, {
    id: newId(),
    hash: sha256(secret),
    person_id: personId,
    proved_at: now,
    ip,
    user_agent: userAgent.slice(0, 300),
    created_at: now,
    last_seen_at: now,
    expires_at: after(now, LONGEST),
  })
  await sql.endBeyond(tx, personId, MOST_PER_PERSON)
  return { secret, row }
}

/** After the password was given again, or what it takes to sign in has changed. */
export async function renewSession(tx: Tx, now: Date, id: string, provedAt: Date): Promise<Started> {
  const secret = newToken(PREFIX)
  const row = await sql.rotate(tx, { id, hash: sha256(secret), provedAt, previousUntil: after(now, OVERLAP) })
  if (!row) throw ended()
  return { secret, row }
}

export const ended = (): Refusal => unauthorized('Your session has ended: sign in again')
