// Authenticates a session cookie against the database on every request, so that an ended session is invalid at once.
import type { FastifyRequest } from 'fastify'
import type { Mount } from '../../http/api/mount.ts'
import type { Authenticate } from '../../http/api/principal.ts'
import { isWellFormedToken, sha256, sha256Hex } from '../../kernel/crypto.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { SCOPES } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { readCookie } from './cookie.ts'
import { sessionExpired, isOver, PREFIX } from './session-lifecycle.ts'
import * as sql from './sql.ts'

const REQUESTS_PER_MINUTE = 600
const SEEN_EVERY_MS = 60_000

/** The operator scope, which a token can never have. */
export const OPERATOR = 'operator'
const OF_CUSTOMERS: ReadonlySet<string> = new Set(SCOPES)
const OF_OPERATORS: ReadonlySet<string> = new Set([...SCOPES, OPERATOR])

/** The event stream of an open page is not user activity, so it does not extend the session. */
const isListening = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.operationId === 'listEvents'

const MAX_REMEMBERED = 10_000

export function bySession({ db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>): Pick<Mount, 'authenticate' | 'hasWorked'> {
  const worked = new Set<string>() // hashes
  const hasWorked = (request: FastifyRequest): boolean => {
    const secret = readCookie(request, config.publicUrl)
    return secret !== undefined && worked.has(sha256Hex(secret))
  }
  const authenticate: Authenticate = async (request) => {
    const secret = readCookie(request, config.publicUrl)
    if (!secret) throw unauthorized('Sign in first')
    if (!isWellFormedToken(PREFIX, secret)) throw sessionExpired()
    const hash = sha256(secret)
    const now = clock.now()
    const row = await sql.findByHash(db, hash)
    if (!row || isOver(row, now)) throw sessionExpired()
    const isPrevious = !row.hash.equals(hash)
    if (isPrevious && row.previous_until! <= now) throw sessionExpired()
    if (!isListening(request) && now.getTime() - row.last_seen_at.getTime() >= SEEN_EVERY_MS) await sql.touch(db, now, row.id, request.ip)
    if (worked.size >= MAX_REMEMBERED) worked.clear()
    worked.add(hash.toString('hex'))
    return {
      accountId: row.account_id,
      actorType: 'person',
      actorId: row.user_id,
      actorName: row.email,
      tokenIds: [],
      scopes: row.is_operator ? OF_OPERATORS : OF_CUSTOMERS,
      requestsPerMinute: REQUESTS_PER_MINUTE,
      signedIn: { sessionId: row.id, isOperator: row.is_operator, authenticatedAt: isPrevious ? new Date(0) : row.authenticated_at },
    }
  }
  return { authenticate, hasWorked }
}
