// A console is opened in two steps: an authorized client requests a URL, and the URL opens the console once within a minute. A browser
// therefore needs no API token, and a URL that leaks later is useless.
import type { Principal } from '../../http/api/principal.ts'
import { isDriverError, type ConsoleType } from '../../hypervisor/driver.ts'
import { addDuration, type Clock } from '../../kernel/clock.ts'
import { isWellFormedToken, newToken, sha256 } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, unauthorized, type ApiError } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import { driverForVm, requireAllowed, requireVm } from '../vms/service.ts'
import type { ConsoleLink } from './schema.ts'
import * as sql from './sql.ts'

export const PATH = '/consoles'

const PREFIX = 'vmc_'
const LINK_LIFE = '60s'
const SESSIONS_PER_ACCOUNT = 10
const HOST_TIMEOUT_MS = 10_000

/** Checks that the console can be opened before a URL is issued. */
export async function requireConsole(
  deps: Pick<Deps, 'db' | 'clock' | 'hypervisors'>,
  accountId: string,
  vmId: string,
  type: ConsoleType,
): Promise<void> {
  const vm = await requireVm(deps.db, accountId, vmId)
  requireAllowed(vm, 'console')
  const offered = await (
    await driverForVm(deps, vm)
  )
    .facts(AbortSignal.timeout(HOST_TIMEOUT_MS))
    .then(({ consoles }) => consoles)
    .catch(refuseFor)
  if (!offered.includes(type))
    throw apiError('incompatible', `The host of this VM has no ${type} console. It offers: ${offered.join(', ')}`)
  await requireRoom(deps.db, deps.clock, { accountId, vmId, type })
}

export async function requireRoom(db: Queries, clock: Clock, console: Omit<sql.SessionKey, 'id'>): Promise<void> {
  if ((await sql.countOtherSessions(db, clock.now(), console)) < SESSIONS_PER_ACCOUNT) return
  throw apiError('quota_exceeded', `Quota exceeded: ${SESSIONS_PER_ACCOUNT} consoles of this account are open. Close one first`)
}

export interface LinkOrder {
  vmId: string
  type: ConsoleType
  /** Public base URL of the API. */
  address: URL
}

export async function issueLink(
  tx: Tx,
  { clock }: Pick<Deps, 'clock'>,
  { accountId, actorId, signedIn }: Principal,
  { vmId, type, address }: LinkOrder,
): Promise<ConsoleLink> {
  const vm = await requireVm(tx, accountId, vmId)
  requireAllowed(vm, 'console')
  const secret = newToken(PREFIX)
  const expiresAt = addDuration(clock.now(), LINK_LIFE)
  await sql.insertLink(tx, sha256(secret), {
    vm_id: vm.id,
    account_id: accountId,
    actor_id: signedIn?.sessionId ?? actorId,
    type,
    expires_at: expiresAt,
  })
  return { url: urlOf(address, secret), expiresAt: expiresAt.toISOString() }
}

function urlOf(address: URL, secret: string): string {
  const url = new URL(address)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.pathname = `${url.pathname.replace(/\/$/, '')}${PATH}/${secret}`
  return url.href
}

/** Consumes the URL. Only a client that knows the secret learns whether it was used or has expired. */
export async function redeem({ db, clock }: Pick<Deps, 'db' | 'clock'>, secret: string): Promise<sql.LinkRow> {
  if (!isWellFormedToken(PREFIX, secret)) throw unauthorized('This console URL is not known')
  const hash = sha256(secret)
  const link = await sql.useLink(db, clock.now(), hash)
  if (link) return link
  const late = await sql.findLink(db, hash)
  if (!late) throw unauthorized('This console URL is not known')
  throw unauthorized(`This console URL has ${late.used_at ? 'been used' : 'expired'}: ask for a new one`)
}

/** Maps a driver error to an API error. */
export function refuseFor(error: unknown): never {
  throw isDriverError(error) ? refusalFor(error.kind, error.userMessage) : error
}

function refusalFor(kind: string, sentence: string): ApiError {
  if (kind === 'unsupported') return apiError('incompatible', sentence)
  if (kind === 'invalid_state' || kind === 'not_found')
    return apiError('invalid_state', 'VM must be RUNNING to console; it has just stopped')
  return apiError('service_unavailable', kind === 'unreachable' ? sentence : `${sentence} Try again in a moment`)
}
