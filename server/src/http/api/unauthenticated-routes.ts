// Routes that need no proof of who asks: those by which one gets it. They are charged to the address, and hold their own transactions.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodySchema, statusesOf, type Operation, type OperationSpec } from './operation.ts'
import type { RateLimit } from './rate-limit.ts'
import type { Static, TProperties, TSchema } from './schema.ts'
import type { DataOf, Exact } from './handler-result.ts'

export interface OpenMount {
  prefix: string
  rateLimit: RateLimit
  requestGuard: (request: FastifyRequest) => void
}

type Spec<B extends TSchema, Data extends TSchema> = Omit<
  OperationSpec<TProperties, TProperties, B, Data, never>,
  'scope' | 'params' | 'query'
>
type Handler<B extends TSchema, Result> = (body: Static<B>, request: FastifyRequest, reply: FastifyReply) => Promise<Result>

export class UnauthenticatedRoutes {
  readonly operations: Operation[] = []
  readonly #app: FastifyInstance
  readonly #mount: OpenMount

  constructor(app: FastifyInstance, mount: OpenMount) {
    this.#app = app
    this.#mount = mount
  }

  get = this.#declare('GET')
  post = this.#declare('POST')

  #declare(method: 'GET' | 'POST') {
    return <B extends TSchema, Data extends TSchema, const Result extends DataOf<Data>>(
      path: string,
      spec: Spec<B, Data>,
      handler: Handler<B, Result & Exact<Result, Data>>,
    ): void => this.#route(method, path, spec, handler)
  }

  #route<B extends TSchema>(method: 'GET' | 'POST', path: string, spec: Spec<B, TSchema>, handler: Handler<B, unknown>): void {
    const { prefix, rateLimit, requestGuard } = this.#mount
    this.operations.push({ ...spec, scope: null, method, path, paged: false })
    this.#app.route({
      method,
      url: `${prefix}${path}`,
      config: { operationId: spec.operationId, route: path },
      ...(method === 'POST' && { schema: { body: bodySchema({ ...spec, scope: null }) } }),
      onRequest: async (request, reply) => {
        reply.header('cache-control', 'no-store')
        await rateLimit.limitIp(request, reply)
        requestGuard(request)
      },
      handler: async (request, reply) => {
        const data = await handler(request.body as Static<B>, request, reply)
        const [usual, ...others] = statusesOf(spec) as [number, ...number[]]
        if (!others.includes(reply.statusCode)) reply.code(usual) // a handler may have set another one
        return reply.send({ success: true, data })
      },
    })
  }
}
