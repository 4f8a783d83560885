// How a write answers. One transaction holds the effect, its line in the audit log and, where the request carries an Idempotency-Key, the
// answer to give again.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../kernel/clock.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Db, Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { toAuditRecords, type Audit } from './audit.ts'
import { isDryRun } from './dry-run.ts'
import { bindRequest } from './principal.ts'
import {
  claim,
  idempotencyOf,
  loadStoredResponse,
  MAX_STORED_BYTES,
  release,
  storeResponse,
  type Idempotency,
  type StoredAnswer,
} from './idempotency.ts'

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

/** Returned by a write to respond with 200 and yet change nothing: its transaction is rolled back and no idempotency key is used up. */
export class DryRunResult<Data = unknown> {
  readonly preview: Data

  constructor(preview: Data) {
    this.preview = preview
  }
}

/** Thrown by a write whose refusal says more than was needed to refuse: that is looked up when its transaction is rolled back, because others wait for what it has locked. */
export class RefusalWithAdvice extends ApiError {
  /** Returns the error to respond with. */
  readonly advise: (tx: Tx) => Promise<unknown>

  constructor({ code, message, fields, retryAfterSeconds, details }: ApiError, advise: (tx: Tx) => Promise<unknown>) {
    super(code, message, fields, retryAfterSeconds, details)
    this.advise = advise
  }
}

export interface WriteDeps {
  db: Db
  clock: Clock
  vault: Vault
  audit: Audit
}

export interface Mutation<Prepared> {
  ignoresIdempotencyKey: boolean
  answersSecret: boolean
  /**
   * For what the write needs from elsewhere and must not hold a transaction for, such as an answer from another server. It runs once for
   * a key: whoever repeats the request meanwhile is told to wait.
   */
  prepare: (() => Promise<Prepared>) | undefined
  effect: (tx: Tx, prepared: Prepared) => Promise<ApiResponse | DryRunResult>
  /** The resource as it is before the effect, for the audit log. */
  before: ((tx: Tx) => Promise<unknown>) | undefined
  /** The data for a repeated request, where the response was too large to store. */
  reread: (() => Promise<unknown>) | undefined
}

export async function runMutation<Prepared>(
  deps: WriteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  mutation: Mutation<Prepared>,
): Promise<FastifyReply> {
  const { prepare, reread, ignoresIdempotencyKey, answersSecret } = mutation
  const idempotency = ignoresIdempotencyKey ? null : idempotencyOf(request, request.principal, answersSecret, deps.vault)
  const earlier = prepare && idempotency ? await deps.db.tx((tx) => claim(tx, deps, idempotency)) : null
  const { stored, replayed } = earlier ? { stored: earlier, replayed: true } : await runFirstAttempt(deps, request, idempotency, mutation)
  if (stored.location) reply.header('location', stored.location)
  if (replayed) reply.header('idempotent-replayed', 'true')
  const body = stored.body ?? toBody(await reread?.())
  return reply.code(stored.status).type('application/json; charset=utf-8').send(body)
}

interface Attempt {
  stored: StoredAnswer
  replayed: boolean
  isDryRun?: true
}

async function runFirstAttempt<Prepared>(
  deps: WriteDeps,
  request: FastifyRequest,
  idempotency: Idempotency | null,
  { prepare, effect, before, reread }: Mutation<Prepared>,
): Promise<Attempt> {
  const claimed = prepare ? idempotency : null
  const releaseClaim = async () => claimed && release(deps.db, claimed).catch(() => {}) // a claim that stays lapses by itself
  try {
    const prepared = (await prepare?.()) as Prepared
    const key = idempotency && { ...idempotency, isClaimed: claimed !== null, canReread: reread !== undefined }
    const attempt = await oneTransaction(deps, request, key, { before, effect: (tx) => effect(tx, prepared) })
    if (attempt.isDryRun) await releaseClaim()
    return attempt
  } catch (error) {
    await releaseClaim()
    throw error instanceof RefusalWithAdvice ? await deps.db.tx((tx) => error.advise(tx)) : error
  }
}

function oneTransaction(
  deps: WriteDeps,
  request: FastifyRequest,
  key: (Idempotency & { isClaimed: boolean; canReread: boolean }) | null,
  { before, effect }: { before: Mutation<never>['before']; effect: (tx: Tx) => Promise<ApiResponse | DryRunResult> },
): Promise<Attempt> {
  return deps.db.tx(async (tx) => {
    bindRequest(tx, { principal: request.principal, isDryRun: isDryRun(request) })
    const earlier = key && !key.isClaimed ? await loadStoredResponse(tx, deps, key) : null
    if (earlier) return { stored: earlier, replayed: true }
    const was = before && !isDryRun(request) ? await before(tx).catch(nothingIfRefused) : undefined
    const result = await effect(tx)
    if (result instanceof DryRunResult) {
      tx.rollBack()
      return { stored: toStored(new ApiResponse(result.preview, 200)), replayed: false, isDryRun: true }
    }
    for (const record of toAuditRecords(request, result.status, null, { data: result.data, before: was }))
      deps.audit.recordSuccess(tx, record)
    const stored = toStored(result)
    if (key) await storeResponse(tx, deps, key, key.canReread && isLarge(stored) ? { ...stored, body: null } : stored)
    return { stored, replayed: false }
  })
}

/** What the caller has no such resource of, the effect refuses in its own order of checks. */
function nothingIfRefused(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}

/** Serialised inside the transaction: what is stored is byte for byte what is sent. */
const toStored = ({ status, data, location }: ApiResponse): StoredAnswer => ({
  status,
  location,
  body: toBody(data),
})

const toBody = (data: unknown): string => JSON.stringify({ success: true, data })

const isLarge = ({ body }: StoredAnswer): boolean => Buffer.byteLength(body ?? '') > MAX_STORED_BYTES
