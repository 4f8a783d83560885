// How a write answers. One transaction holds the effect and, where the request carries an Idempotency-Key, the answer to give again.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../kernel/clock.ts'
import type { Vault } from '../kernel/crypto.ts'
import type { Db, Tx } from '../kernel/db.ts'
import { idempotencyOf, recall, remember, type StoredAnswer } from './idempotency.ts'

/** A write's answer with a status or Location of its own; plain data means the operation's first status. */
export class Answer<Data = unknown> {
  readonly data: Data
  readonly status: number
  readonly location: string | null

  constructor(data: Data, status: number, location: string | null = null) {
    this.data = data
    this.status = status
    this.location = location
  }
}

/** Thrown by a write to answer and yet change nothing: the transaction is rolled back and no idempotency key is used up. */
export class Rehearsal extends Error {
  readonly answer: Answer
  constructor(data: unknown) {
    super('rolled back on purpose')
    this.answer = new Answer(data, 200)
  }
}

export interface WriteDeps {
  db: Db
  clock: Clock
  vault: Vault
}

type Effect = (tx: Tx) => Promise<Answer>

export async function write(deps: WriteDeps, request: FastifyRequest, reply: FastifyReply, effect: Effect): Promise<FastifyReply> {
  const { stored, replayed } = await oneTransaction(deps, request, async (tx) => toStored(reply, await effect(tx))).catch(
    (error: unknown) => {
      if (error instanceof Rehearsal) return { stored: toStored(reply, error.answer), replayed: false }
      throw error
    },
  )
  if (stored.location) reply.header('location', stored.location)
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.code(stored.status).type('application/json; charset=utf-8').send(stored.body)
}

function oneTransaction(
  { db, clock, vault }: WriteDeps,
  request: FastifyRequest,
  effect: (tx: Tx) => Promise<StoredAnswer>,
): Promise<{ stored: StoredAnswer; replayed: boolean }> {
  const idempotency = idempotencyOf(request, request.principal.accountId, vault)
  return db.tx(async (tx) => {
    if (!idempotency) return { stored: await effect(tx), replayed: false }
    const earlier = await recall(tx, clock, vault, idempotency)
    if (earlier) return { stored: earlier, replayed: true }
    const stored = await effect(tx)
    await remember(tx, clock, vault, idempotency, stored)
    return { stored, replayed: false }
  })
}

/** Serialised by the schema of its status, inside the transaction: what is stored is byte for byte what was answered. */
const toStored = (reply: FastifyReply, { status, data, location }: Answer): StoredAnswer => ({
  status,
  location,
  body: reply.code(status).serialize({ success: true, data }) as string,
})
