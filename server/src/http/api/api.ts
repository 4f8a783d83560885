// What a feature's routes are written with. Reads get a context; writes get a transaction that holds the effect, the stored
// idempotent answer and everything that must be true together.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Tx } from '../../kernel/database/db.ts'
import {
  bodySchema,
  contextOf,
  deprecationHeaders,
  statusesOf,
  type AnySpec,
  type Context,
  type Operation,
  type OperationSpec,
} from './operation.ts'
import { fromCursor, PageQuery, toCursor, Type, type Paged, type PageRequest, type TProperties, type TSchema } from './schema.ts'
import { ApiResponse, DryRunResult, RefusalWithAdvice, runMutation, type WriteDeps } from './mutation.ts'
import type { DataOf, Exact, ReadResult, WriteResult } from './handler-result.ts'

export { ApiResponse, DryRunResult, RefusalWithAdvice }

export type ApiDeps = WriteDeps

interface WriteOptions<P extends TProperties, Q extends TProperties, B extends TSchema, Data extends TSchema, Prepared> {
  /** Work before the transaction, for a write that needs a response from another server, or a slow computation. */
  prepare?: (context: Context<P, Q, B>) => Promise<Prepared>
  /** Where only some requests need it; for the others nothing is prepared. */
  preparesFor?: (context: Context<P, Q, B>) => boolean
  /** The resource as reads show it, for the audit log of what changes or deletes it. */
  before?: (tx: Tx, context: Context<P, Q, B>) => Promise<object>
  /** Answers a repeated request with what there is now, for a write whose response can be large: such a response is not stored. */
  reread?: (context: Context<P, Q, B>) => Promise<DataOf<Data>>
}

type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

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

  /** A handler may return a stream instead of data, with its own content type. */
  get<Data extends TSchema, const Result extends ReadResult<Data>, P extends TProperties = {}, Q extends TProperties = {}>(
    path: string,
    spec: OperationSpec<P, Q, TSchema, Data, never>,
    handler: (context: Context<P, Q, TSchema>, reply: FastifyReply) => Promise<Result & Exact<Result, Data>>,
  ): void {
    this.#route('GET', path, spec, false, async (request, reply) => {
      const data: unknown = await handler(contextOf(request), reply)
      return data instanceof Readable ? reply.send(data) : { success: true, data }
    })
  }

  page<Data extends TSchema, const Item extends DataOf<Data>, P extends TProperties = {}, Q extends TProperties = {}>(
    path: string,
    spec: OperationSpec<P, Q, TSchema, Data, never>,
    handler: (context: Context<P, Q, TSchema>, page: PageRequest) => Promise<Paged<Item & Exact<Item, Data>>>,
  ): void {
    const paged = { ...spec, query: { ...PageQuery, ...spec.query } }
    this.#route('GET', path, paged, true, async (request) => {
      const { page, limit, cursor } = request.query as { page: number; limit: number; cursor?: string }
      const after = cursor === undefined ? null : fromCursor(spec.operationId, cursor)
      const { items, total, keyOf } = await handler(contextOf(request), { page, limit, after })
      const last = items.length === limit ? items.at(-1) : undefined
      const nextCursor = last ? toCursor(spec.operationId, keyOf?.(last) ?? [(last as { id: string }).id]) : null
      return { success: true, data: items, pagination: { page, limit, total, totalPages: Math.ceil(total / limit) }, nextCursor }
    })
  }

  post = this.#writer('POST')
  put = this.#writer('PUT')
  patch = this.#writer('PATCH')
  delete = this.#writer('DELETE')

  #writer(method: WriteMethod) {
    return <
      Data extends TSchema,
      const Result extends WriteResult<Data, DryRunData>,
      P extends TProperties = {},
      Q extends TProperties = {},
      B extends TSchema = TSchema,
      DryRunData extends TSchema = never,
      Prepared = undefined,
    >(
      path: string,
      { prepare, preparesFor, before, reread, ...spec }: OperationSpec<P, Q, B, Data, DryRunData> & WriteOptions<P, Q, B, Data, Prepared>,
      handler: (tx: Tx, context: Context<P, Q, B>, prepared: Prepared) => Promise<Result & Exact<Result, Data, DryRunData>>,
    ): void => {
      const status = statusesOf(spec)[0]!
      this.#route(method, path, spec, false, (request, reply) => {
        const context = contextOf<P, Q, B>(request)
        return runMutation(this.#deps, request, reply, {
          ignoresIdempotencyKey: spec.ignoresIdempotencyKey ?? false,
          answersSecret: spec.answersSecret ?? false,
          prepare: prepare && (preparesFor?.(context) ?? true) ? () => prepare(context) : undefined,
          before: before && ((tx) => before(tx, context)),
          reread: reread && (() => reread(context)),
          effect: async (tx, prepared) => {
            const result: unknown = await handler(tx, context, prepared)
            if (result instanceof DryRunResult) return result
            return result instanceof ApiResponse ? result.under(this.#app.prefix) : new ApiResponse(result, status)
          },
        })
      })
    }
  }

  #route(
    method: HTTPMethods,
    path: string,
    spec: AnySpec,
    paged: boolean,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): void {
    this.#operations.push({ ...spec, method, path, paged })
    this.#app.route({
      method,
      url: path,
      config: {
        operationId: spec.operationId,
        scope: spec.scope,
        isPersonal: spec.isPersonal ?? false,
        isOfPayer: spec.isOfPayer ?? false,
        requiresReauth: spec.requiresReauth ?? false,
        answersSecret: spec.answersSecret ?? false,
        duringVisit: spec.duringVisit ?? false,
        givesLogin: spec.givesLogin ?? false,
        ...(spec.deprecated && { headers: deprecationHeaders(spec.deprecated) }),
        ...(method !== 'GET' && { offersDryRun: spec.query?.['dryRun'] !== undefined }),
        route: path.replace(/:(\w+)/g, '{$1}'),
      },
      schema: {
        ...(spec.query && { querystring: Type.Object(spec.query) }),
        ...(method !== 'GET' && { body: bodySchema(spec) }),
      },
      handler,
    })
  }
}
