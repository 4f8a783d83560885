// What a feature's routes are written with. Reads get a context; writes get a transaction that holds the effect, the stored
// idempotent answer and everything that must be true together.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Tx } from '../../kernel/database/db.ts'
import { bodySchema, contextOf, statusesOf, type AnySpec, type Context, type Operation, type OperationSpec } from './operation.ts'
import { PageQuery, Type, type Paged, type PageRequest, type TProperties, type TSchema } from './schema.ts'
import { ApiResponse, runMutation, type WriteDeps } from './mutation.ts'

export { ApiResponse as Answer, DryRunResult as Rehearsal } from './mutation.ts'

export type ApiDeps = WriteDeps

/** Work before the transaction, for a write that needs a response from another server. */
interface Preparation<P extends TProperties, Q extends TProperties, B extends TSchema, Prepared> {
  prepare?: (context: Context<P, Q, B>) => Promise<Prepared>
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
  get<P extends TProperties = {}, Q extends TProperties = {}>(
    path: string,
    spec: OperationSpec<P, Q, TSchema>,
    handler: (context: Context<P, Q, TSchema>, reply: FastifyReply) => Promise<unknown>,
  ): void {
    this.#route('GET', path, spec, false, async (request, reply) => {
      const data = await handler(contextOf(request), reply)
      return data instanceof Readable ? reply.send(data) : { success: true, data }
    })
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
    return <P extends TProperties = {}, Q extends TProperties = {}, B extends TSchema = TSchema, Prepared = undefined>(
      path: string,
      { prepare, ...spec }: OperationSpec<P, Q, B> & Preparation<P, Q, B, Prepared>,
      handler: (tx: Tx, context: Context<P, Q, B>, prepared: Prepared) => Promise<unknown>,
    ): void => {
      const status = statusesOf(spec)[0]!
      this.#route(method, path, spec, false, (request, reply) => {
        const context = contextOf<P, Q, B>(request)
        return runMutation(this.#deps, request, reply, prepare && (() => prepare(context)), async (tx, prepared) => {
          const result = await handler(tx, context, prepared)
          return result instanceof ApiResponse ? result.under(this.#app.prefix) : new ApiResponse(result, status)
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
        requiresReauth: spec.requiresReauth ?? false,
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
