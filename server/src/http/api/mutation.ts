// How a write answers. One transaction holds the effect, its line in the audit log and, where the request carries an Idempotency-Key, the
// answer to give again.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../kernel/clock.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Db, Tx } from '../../kernel/database/db.ts'
import { toAuditRecord, type Audit } from './audit.ts'
import { claim, idempotencyOf, loadStoredResponse, release, storeResponse, type Idempotency, type StoredAnswer } from './idempotency.ts'

/** A write's answer with a status or Location (within the API) of its own; plain data means the operation's first status. */
export class ApiResponse<Data = unknown> {
  readonly data: Data
  readonly status: number
  readonly location: string | null

  constructor(data: Data, status: number, location: string | null = null) {
    this.data = data
    this.status = status
    this.location = location
  }

  /** Where it is found by who asked: the same routes are mounted more than once. */
  under(prefix: string): ApiResponse<Data> {
    return this.location === null ? this : new ApiResponse(this.data, this.status, `${prefix}${this.location}`)
  }
}

/** Thrown by a write to answer and yet change nothing: the transaction is rolled back and no idempotency key is used up. */
export class DryRunResult extends Error {
  readonly answer: ApiResponse
  constructor(data: unknown) {
    super('rolled back on purpose')
    this.answer = new ApiResponse(data, 200)
  }
}

export interface WriteDeps {
  db: Db
  clock: Clock
  vault: Vault
  audit: Audit
}

type Effect<Prepared> = (tx: Tx, prepared: Prepared) => Promise<ApiResponse>

/**
 * `prepare` is for what the write needs from elsewhere and must not hold a transaction for, such as an answer from another server. It
 * runs once for a key: whoever repeats the request meanwhile is told to wait.
 */
export async function runMutation<Prepared>(
  deps: WriteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  prepare: (() => Promise<Prepared>) | undefined,
  effect: Effect<Prepared>,
): Promise<FastifyReply> {
  const idempotency = idempotencyOf(request, request.principal.accountId, deps.vault)
  const earlier = prepare && idempotency ? await deps.db.tx((tx) => claim(tx, deps, idempotency)) : null
  const { stored, replayed } = earlier
    ? { stored: earlier, replayed: true }
    : await runFirstAttempt(deps, request, reply, idempotency, prepare, effect)
  if (stored.location) reply.header('location', stored.location)
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.code(stored.status).type('application/json; charset=utf-8').send(stored.body)
}

async function runFirstAttempt<Prepared>(
  deps: WriteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  idempotency: Idempotency | null,
  prepare: (() => Promise<Prepared>) | undefined,
  effect: Effect<Prepared>,
): Promise<{ stored: StoredAnswer; replayed: boolean }> {
  try {
    const prepared = (await prepare?.()) as Prepared
    return await oneTransaction(deps, idempotency, prepare !== undefined, async (tx) => {
      const answer = await effect(tx, prepared)
      deps.audit.recordSuccess(tx, toAuditRecord(request, answer.status, null, answer.data))
      return toStored(reply, answer)
    })
  } catch (error) {
    if (prepare && idempotency) await release(deps.db, idempotency).catch(() => {}) // a claim that stays lapses by itself
    if (error instanceof DryRunResult) return { stored: toStored(reply, error.answer), replayed: false }
    throw error
  }
}

function oneTransaction(
  deps: WriteDeps,
  idempotency: Idempotency | null,
  claimed: boolean,
  effect: (tx: Tx) => Promise<StoredAnswer>,
): Promise<{ stored: StoredAnswer; replayed: boolean }> {
  return deps.db.tx(async (tx) => {
    if (!idempotency) return { stored: await effect(tx), replayed: false }
    const earlier = claimed ? null : await loadStoredResponse(tx, deps, idempotency)
    if (earlier) return { stored: earlier, replayed: true }
    const stored = await effect(tx)
    await storeResponse(tx, deps, idempotency, stored)
    return { stored, replayed: false }
  })
}

/** Serialised by the schema of its status, inside the transaction: what is stored is byte for byte what was answered. */
const toStored = (reply: FastifyReply, { status, data, location }: ApiResponse): StoredAnswer => ({
  status,
  location,
  body: reply.code(status).serialize({ success: true, data }) as string,
})
