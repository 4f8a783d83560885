// An Idempotency-Key makes a write safe to repeat. The response is stored in the transaction of the effect, so both exist or neither. Only
// success is stored: an error changed nothing, so the same key can be retried.
import type { FastifyRequest } from 'fastify'
import { addDuration, type Clock } from '../../kernel/clock.ts'
import { sha256, type Vault } from '../../kernel/crypto.ts'
import { inline, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { invalid, apiError, type ApiError } from '../../kernel/errors.ts'
import { bodyOf } from './operation.ts'
import type { Principal } from './principal.ts'

export interface StoredAnswer {
  status: number
  /** Null where it is read again for a repeated request. */
  body: string | null
  location: string | null
}

export interface Idempotency {
  key: string
  accountId: string
  payerId: string
  fingerprint: Buffer
}

interface KeyDeps {
  clock: Clock
  vault: Vault
}

/** The key of the request, or null without one. Of an answer that `isForActorOnly`, and of all to people, another actor's request is a different one: no
 *  member is given the secrets of another's answer. */
export function idempotencyOf(
  request: FastifyRequest,
  { accountId, payerId, actorType, actorId, signedIn }: Principal,
  isForActorOnly: boolean,
  vault: Vault,
): Idempotency | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalid('Idempotency-Key must be 1-255 visible ASCII characters', 'Idempotency-Key')
  // An HMAC: a body may contain a password, which a plain hash would make guessable.
  const actor = isForActorOnly || signedIn ? `\n${actorType} ${actorId}` : ''
  return {
    key,
    accountId,
    payerId,
    fingerprint: vault.digest(`${request.method}\n${request.url}\n${JSON.stringify(bodyOf(request))}${actor}`),
  }
}

/**
 * Limits of an account, and of its projects together. Without them a token could store what its rate limit allows in 24 hours. At a limit a
 * write with a new key is refused before its effect: dropping stored responses instead would make their repeats take effect twice.
 */
export const MAX_KEYS = 50_000
export const MAX_BYTES = 64 * 1024 ** 2

/** A larger response is not stored if its operation can read it again. */
export const MAX_STORED_BYTES = 8 * 1024

type StoredRow = Pick<Row<'idempotency_keys'>, 'fingerprint' | 'status' | 'body' | 'location'>

/** Locks the key for this transaction; returns the stored response, or null when this request is the first. */
export async function loadStoredResponse(
  tx: Tx,
  { clock, vault }: KeyDeps,
  { key, accountId, payerId, fingerprint }: Idempotency,
): Promise<StoredAnswer | null> {
  const lock = sha256(`${accountId}\n${key}`).readBigInt64BE()
  const { claimed, is_full } = await tx.one<{ claimed: boolean; is_full: boolean | null }>(sql`
    select pg_try_advisory_xact_lock(${lock}::int8) as claimed, (
      select sum(keys) >= ${inline(MAX_KEYS)} or sum(bytes) >= ${inline(MAX_BYTES)} from idempotency_usage
      where ${accountId === payerId ? sql`account_id = ${accountId}` : sql`account_id in (select id from accounts where payer_account_id = ${payerId})`}) as is_full`)
  if (!claimed) throw inProgress()
  const row = await tx.maybe<StoredRow>(sql`
    select fingerprint, status, body, location from idempotency_keys
    where account_id = ${accountId} and key = ${key} and expires_at > ${clock.now()}`)
  if (!row) {
    if (is_full) throw tooMany()
    return null
  }
  if (!row.fingerprint.equals(fingerprint))
    throw apiError('idempotency_key_reused', 'This Idempotency-Key was used for a different request: use a new key')
  if (row.status === UNDER_WAY) throw inProgress()
  return { status: row.status, body: vault.open(row.body, contextOf(accountId, key)) || null, location: row.location }
}

const inProgress = (): ApiError =>
  apiError('idempotency_in_progress', 'A request with this Idempotency-Key is still being processed: ask again in a second')

const tooMany = (): ApiError =>
  apiError(
    'too_many_idempotency_keys',
    'This account has used as many Idempotency-Keys as are kept for 24 hours, and nothing was changed: repeat this later, or send it without a key',
  )

/** The status while a request works outside of any transaction. */
const UNDER_WAY = 0
/** The key can be used again after this when the process that claimed it has died. */
const MAX_CLAIM = '60s'

/** Like `loadStoredResponse`, but keeps the key claimed beyond this transaction, until `storeResponse` or `release`. */
export async function claim(tx: Tx, deps: KeyDeps, idempotency: Idempotency): Promise<StoredAnswer | null> {
  const earlier = await loadStoredResponse(tx, deps, idempotency)
  if (!earlier) await storeResponse(tx, deps, idempotency, { status: UNDER_WAY, body: null, location: null }, MAX_CLAIM)
  return earlier
}

export const release = (db: Queries, { accountId, key }: Idempotency): Promise<number> =>
  db.run(sql`delete from idempotency_keys where account_id = ${accountId} and key = ${key} and status = ${UNDER_WAY}`)

export async function storeResponse(
  tx: Tx,
  { clock, vault }: KeyDeps,
  { key, accountId, fingerprint }: Idempotency,
  answer: StoredAnswer,
  keep = '24h',
): Promise<void> {
  const sealed = vault.seal(answer.body ?? '', contextOf(accountId, key))
  const now = clock.now()
  await tx.run(sql`
    insert into idempotency_keys (account_id, key, fingerprint, status, body, location, created_at, expires_at)
    values (${accountId}, ${key}, ${fingerprint}, ${answer.status}, ${sealed}, ${answer.location}, ${now}, ${addDuration(now, keep)})
    on conflict (account_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
      location = excluded.location, created_at = excluded.created_at, expires_at = excluded.expires_at`)
}

const contextOf = (accountId: string, key: string): string => `idempotency:${accountId}:${key}`

/** Returns the number of deleted keys. */
export const deleteExpiredKeys = (db: Queries, now: Date): Promise<number> =>
  db.run(sql`delete from idempotency_keys where expires_at <= ${now}`)
