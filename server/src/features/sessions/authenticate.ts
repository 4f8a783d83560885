// Authenticates a session cookie against the database on every request, so that an ended session, and the session of a member who was removed
// or may do less than before, is that at once. The account is named by a header of every request: were it remembered in the session, a tab would
// act in the account that another tab had switched to. A page of another site cannot send the header.
import type { FastifyRequest } from 'fastify'
import type { Mount } from '../../http/api/mount.ts'
import type { Authenticate } from '../../http/api/principal.ts'
import { isWellFormedToken, sha256, sha256Hex } from '../../kernel/crypto.ts'
import { apiError, unauthorized, type ApiError } from '../../kernel/errors.ts'
import { scopesOf } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { readCookie } from './cookie.ts'
import { sessionExpired, isOver, PREFIX } from './session-lifecycle.ts'
import * as sql from './sql.ts'
import { isOperatorIn } from './view.ts'
import { scopesOfVisit } from './visits.ts'
import { findVisit, type FoundVisit } from './visits.sql.ts'

const REQUESTS_PER_MINUTE = 600
const SEEN_EVERY_MS = 60_000

/** The operator scope, which a token can never have. */
export const OPERATOR = 'operator'

/** Names the account of a request. */
export const ACCOUNT_HEADER = 'x-account-id'

/** The event stream of an open page is not user activity, so it does not extend the session. */
const isListening = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.operationId === 'listEvents'

const MAX_REMEMBERED = 10_000

interface Membership {
  accountId: string
  payerId: string
  memberOf: string
  scopes: ReadonlySet<string>
  hasBudget: boolean
  refusal: ApiError | null
  /** Of an operator in the account of a customer. */
  home?: { accountId: string; payerId: string }
}

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
    const rows = await sql.findByHash(db, hash)
    const [row] = rows
    if (!row || isOver(row, now)) throw sessionExpired()
    const isPrevious = !row.hash.equals(hash)
    if (isPrevious && row.previous_until! <= now) throw sessionExpired()
    if (!isListening(request) && now.getTime() - row.last_seen_at.getTime() >= SEEN_EVERY_MS) await sql.touch(db, now, row.id, request.ip)
    if (worked.size >= MAX_REMEMBERED) worked.clear()
    worked.add(hash.toString('hex'))
    const named = request.headers[ACCOUNT_HEADER]
    const visit = mayVisit(rows, named) ? await findVisit(db, now, row.id, named) : undefined
    const { accountId, payerId, memberOf, scopes, hasBudget, refusal, home } = visit ? visiting(rows, visit) : choose(rows, named)
    return {
      accountId,
      payerId,
      memberOf,
      actorType: 'person',
      actorId: row.user_id,
      actorName: row.email,
      tokenIds: [],
      person: { id: row.user_id, name: row.email },
      scopes,
      hasBudget,
      requestsPerMinute: REQUESTS_PER_MINUTE,
      signedIn: {
        sessionId: row.id,
        isOperator: row.is_operator,
        accounts: rows.flatMap(({ account_id: id, payer_account_id, is_inherited }) =>
          id === null || is_inherited ? [] : [{ accountId: id, payerId: payer_account_id ?? id }],
        ),
        refusal,
        visit: home && visit ? { id: visit.id, canWrite: visit.writes_since !== null, home } : null,
        authenticatedAt: isPrevious ? new Date(0) : row.authenticated_at,
      },
    }
  }
  return { authenticate, hasWorked }
}

/** An operator who names no account of the own ones. */
const mayVisit = (rows: sql.Found[], named: string | string[] | undefined): named is string =>
  typeof named === 'string' && rows[0]!.is_operator && !rows.some(({ account_id }) => account_id === named)

/** As long as the operator is one, in the own account, and can prove as much as both accounts require. */
function visiting(rows: sql.Found[], visit: FoundVisit): Membership {
  const home = rows.find((row) => row.account_id !== null && row.role !== null && isHome(row, row.account_id, row.role))
  if (!home?.account_id) return { ...NOWHERE, refusal: notChosen(rows, true) }
  const { account_id: accountId, payer_account_id } = visit
  const isProved = home.has_totp || home.has_second_factor || !(home.requires_totp || visit.requires_totp)
  return {
    accountId,
    payerId: payer_account_id ?? accountId,
    memberOf: accountId,
    scopes: new Set(scopesOfVisit(visit)),
    hasBudget: false,
    refusal: isProved ? null : needsTotp(),
    home: { accountId: home.account_id, payerId: home.account_id },
  }
}

const isHome = (row: sql.Found, id: string, role: NonNullable<sql.Found['role']>): boolean =>
  isOperatorIn({ is_operator: row.is_operator, account_id: row.home_id }, { id, payer_account_id: row.payer_account_id, role })

const NOWHERE = { accountId: '', payerId: '', memberOf: '', scopes: new Set<string>(), hasBudget: false }

/** Without the header only the one account that there is, whatever its projects: which of several is meant must not be guessed. */
function choose(rows: sql.Found[], named: string | string[] | undefined): Membership {
  const own = rows.filter(({ is_inherited }) => !is_inherited)
  const chosen = named === undefined ? (own.length === 1 ? own[0] : undefined) : rows.find(({ account_id }) => account_id === named)
  if (!chosen?.account_id || !chosen.role) return { ...NOWHERE, refusal: notChosen(rows, named !== undefined) }
  const { account_id: accountId, payer_account_id, member_of, role } = chosen
  const refusal = chosen.requires_totp && !chosen.has_totp && !chosen.has_second_factor ? needsTotp() : null
  const scopes = scopesOf({ role, scopes: chosen.scopes ?? [] })
  return {
    accountId,
    payerId: payer_account_id ?? accountId,
    memberOf: member_of ?? accountId,
    scopes: isHome(chosen, accountId, role) ? new Set([...scopes, OPERATOR]) : scopes,
    hasBudget: chosen.has_budget,
    refusal,
  }
}

function notChosen([first]: sql.Found[], isNamed: boolean): ApiError {
  if (first?.account_id === null) return apiError('account_required', 'You are a member of no account. Accept an invitation first')
  if (isNamed) return apiError('account_required', 'You are not a member of this account: choose one of yours')
  return apiError('account_required', `You are a member of several accounts: name one by the header ${ACCOUNT_HEADER}`)
}

const needsTotp = (): ApiError =>
  apiError('two_factor_required', 'This account requires two-factor authentication: switch it on in your settings first')
