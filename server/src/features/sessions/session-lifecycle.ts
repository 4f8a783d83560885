// Session lifecycle: a secret in a cookie, stored as a hash. A session expires after a day without use, and after two weeks in any case.
// The secret is rotated whenever the session gains rights.
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { newToken, sha256 } from '../../kernel/crypto.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { unauthorized, type ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import * as sql from './sql.ts'

export const PREFIX = 'ses_'
const IDLE = '24h'
export const LONGEST = '14d'
/** How long the previous secret stays valid after a rotation, for requests in flight. */
const OVERLAP = '10s'
const MAX_PER_USER = 50

export interface Caller {
  ip: string
  userAgent: string
}

/** By what a session begins, other than a password. */
export interface Origin {
  identityId: string
  /** Whether it stands for a second factor of the person. */
  hasSecondFactor: boolean
  authenticatedAt: Date
}

export interface Started {
  secret: string
  row: sql.SessionRow
}

export const idleSince = (now: Date): Date => subtractDuration(now, IDLE)

export const isOver = (row: sql.SessionRow, now: Date): boolean => row.expires_at <= now || row.last_seen_at <= idleSince(now)

export async function startSession(tx: Tx, now: Date, userId: string, { ip, userAgent }: Caller, origin?: Origin): Promise<Started> {
  const secret = newToken(PREFIX)
  const row = await sql.insertSession(tx, {
    id: newId(),
    hash: sha256(secret),
    user_id: userId,
    authenticated_at: origin?.authenticatedAt ?? now,
    identity_id: origin?.identityId ?? null,
    has_second_factor: origin?.hasSecondFactor ?? false,
    ip,
    user_agent: userAgent.slice(0, 300),
    created_at: now,
    last_seen_at: now,
    expires_at: addDuration(now, LONGEST),
  })
  await sql.endBeyond(tx, userId, MAX_PER_USER)
  return { secret, row }
}

/** After re-authentication, or when the sign-in factors have changed. */
export async function rotateSession(tx: Tx, now: Date, id: string, provedAt: Date): Promise<Started> {
  const secret = newToken(PREFIX)
  const row = await sql.rotate(tx, { id, hash: sha256(secret), provedAt, previousUntil: addDuration(now, OVERLAP) })
  if (!row) throw sessionExpired()
  return { secret, row }
}

export const sessionExpired = (): ApiError => unauthorized('Your session has ended: sign in again')
