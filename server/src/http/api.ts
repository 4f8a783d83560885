// What a feature's routes are written with. An operation is declared once: path, scope, schemas, handler. Reads get a context;
// writes get a transaction that holds the effect, the stored idempotent answer and everything that must be true together.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Clock } from '../kernel/clock.ts'
import type { Vault } from '../kernel/crypto.ts'
import type { Db, Tx } from '../kernel/db.ts'
import { idempotencyOf, recall, remember, type StoredAnswer } from './idempotency.ts'
import type { Principal } from './principal.ts'
import {
  envelope,
  pagedEnvelope,
  PageQuery,
  Type,
  type Paged,
  type PageRequest,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
} from './schema.ts'

export interface OperationSpec<P extends TProperties, Q extends TProperties, B extends TSchema> {
  operationId: string
  summary: string
  tag: string
  /** The scope a token needs; null = any valid token. */
  scope: string | null
  params?: P
  query?: Q
  body?: B
  /** A body may be left out although the operation knows fields for it. */
  optionalBody?: boolean
  /** The success status; 200 unless given. A write may answer others it lists here. */
  status?: number | number[]
  data: TSchema
  /** Further shapes by status, where an operation answers more than one. */
  otherData?: Record<number, TSchema>
}

export interface Operation extends OperationSpec<TProperties, TProperties, TSchema> {
  method: HTTPMethods
  path: string
  paged: boolean
}

type ValueOf<P extends TProperties> = Static<TObject<P>>

export interface Context<P extends TProperties, Q extends TProperties, B extends TSchema> {
  principal: Principal
  params: { [K in keyof P]: string }
  query: ValueOf<Q>
  body: Static<B>
  request: FastifyRequest
}

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

export interface ApiDeps {
  db: Db
  clock: Clock
  vault: Vault
}

type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE'
// A path parameter is only ever looked up, so its pattern is not checked; what could not be an id at all reads as unknown.
const PathParameter = Type.String()
const NO_BODY = Type.Object({}, { additionalProperties: false, optionalBody: true })

export class Api {
  readonly #app: FastifyInstance
  readonly #deps: ApiDeps
  readonly #operations: Operation[]

  /** Every operation declared here is also added to `operations`, for the OpenAPI document. */
  constructor(app: FastifyInstance, deps: ApiDeps, operations: Operation[]) {
    this.#app = app
    this.#deps = deps
    this.#operations = operations
  }

  get<P extends TProperties = {}, Q extends TProperties = {}>(
    path: string,
    spec: OperationSpec<P, Q, TSchema>,
    handler: (context: Context<P, Q, TSchema>, reply: FastifyReply) => Promise<unknown>,
  ): void {
    this.#route('GET', path, spec, false, async (request, reply) => ({ success: true, data: await handler(contextOf(request), reply) }))
  }

  page<P extends TProperties = {}, Q extends TProperties = {}>(
    path: string,
    spec: OperationSpec<P, Q, TSchema>,
    handler: (context: Context<P, Q, TSchema>, page: PageRequest) => Promise<Paged<unknown>>,
  ): void {
    const paged = { ...spec, query: { ...PageQuery, ...spec.query } }
    this.#route('GET', path, paged, true, async (request) => {
      const { page, limit } = request.query as PageRequest
      const { items, total } = await handler(contextOf(request), { page, limit })
      return { success: true, data: items, pagination: { page, limit, total, totalPages: Math.ceil(total / limit) } }
    })
  }

  post = this.#writer('POST')
  put = this.#writer('PUT')
  patch = this.#writer('PATCH')
  delete = this.#writer('DELETE')

  #writer(method: WriteMethod) {
    return <P extends TProperties = {}, Q extends TProperties = {}, B extends TSchema = TSchema>(
      path: string,
      spec: OperationSpec<P, Q, B>,
      handler: (tx: Tx, context: Context<P, Q, B>) => Promise<unknown>,
    ): void => {
      this.#route(method, path, spec, false, async (request, reply) => {
        const answer = await this.#write(request, reply, statusesOf(spec)[0]!, (tx) => handler(tx, contextOf(request)))
        if (answer.location) reply.header('location', answer.location)
        return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
      })
    }
  }

  async #write(request: FastifyRequest, reply: FastifyReply, status: number, effect: (tx: Tx) => Promise<unknown>): Promise<StoredAnswer> {
    const { db, clock, vault } = this.#deps
    const idempotency = idempotencyOf(request, request.principal.accountId)
    const toStored = (result: unknown): StoredAnswer => {
      const answer = result instanceof Answer ? result : new Answer(result, status)
      return { status: answer.status, location: answer.location, body: serialise(reply.code(answer.status), answer.data) }
    }
    try {
      return await db.tx(async (tx) => {
        if (!idempotency) return toStored(await effect(tx))
        const stored = await recall(tx, clock, vault, idempotency)
        if (stored) return replayed(reply, stored)
        const answer = toStored(await effect(tx))
        await remember(tx, clock, vault, idempotency, answer)
        return answer
      })
    } catch (error) {
      if (error instanceof Rehearsal) return toStored(error.answer)
      throw error
    }
  }

  #route(
    method: HTTPMethods,
    path: string,
    spec: OperationSpec<TProperties, TProperties, TSchema>,
    paged: boolean,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): void {
    this.#operations.push({ ...spec, method, path, paged })
    this.#app.route({
      method,
      url: path,
      config: { operationId: spec.operationId, scope: spec.scope },
      schema: {
        ...(spec.params && { params: Type.Object(Object.fromEntries(Object.keys(spec.params).map((name) => [name, PathParameter]))) }),
        ...(spec.query && { querystring: Type.Object(spec.query) }),
        ...(method !== 'GET' && { body: bodySchema(spec) }),
        response: Object.fromEntries(responses(spec, paged)),
      },
      handler,
    })
  }
}

const serialise = (reply: FastifyReply, data: unknown): string => reply.serialize({ success: true, data }) as string

function replayed(reply: FastifyReply, stored: StoredAnswer): StoredAnswer {
  reply.header('idempotent-replayed', 'true')
  return stored
}

function bodySchema({ body, optionalBody }: OperationSpec<TProperties, TProperties, TSchema>): TSchema {
  if (!body) return NO_BODY
  return optionalBody ? { ...body, optionalBody: true } : body
}

const statusesOf = ({ status = 200 }: { status?: number | number[] }): number[] => (Array.isArray(status) ? status : [status])

function responses(spec: OperationSpec<TProperties, TProperties, TSchema>, paged: boolean): [number, TSchema][] {
  const main = statusesOf(spec).map((status): [number, TSchema] => [status, paged ? pagedEnvelope(spec.data) : envelope(spec.data)])
  return [...main, ...Object.entries(spec.otherData ?? {}).map(([status, data]): [number, TSchema] => [Number(status), envelope(data)])]
}

export const responsesOf = (operation: Operation): [number, TSchema][] => responses(operation, operation.paged)

function contextOf<P extends TProperties, Q extends TProperties, B extends TSchema>(request: FastifyRequest): Context<P, Q, B> {
  const { principal, params, query, body } = request
  return { principal, params, query, body: body ?? undefined, request } as Context<P, Q, B>
}
