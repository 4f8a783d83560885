// Routes that need no proof of who asks: those by which one gets it. They are charged to the address, and hold their own transactions.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodySchema, statusesOf, type Operation, type OperationSpec } from './operation.ts'
import type { RateLimit } from './rate-limit.ts'
import type { Static, TProperties, TSchema } from './schema.ts'
import { ApiResponse } from './mutation.ts'

export interface OpenMount {
  prefix: string
  rateLimit: RateLimit
  admit: (request: FastifyRequest) => void
}

type Spec<B extends TSchema> = Omit<OperationSpec<TProperties, TProperties, B>, 'scope' | 'params' | 'query'>
type Handler<B extends TSchema> = (body: Static<B>, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

export class UnauthenticatedRoutes {
  readonly operations: Operation[] = []
  readonly #app: FastifyInstance
  readonly #mount: OpenMount

  constructor(app: FastifyInstance, mount: OpenMount) {
    this.#app = app
    this.#mount = mount
  }

  get = <B extends TSchema>(path: string, spec: Spec<B>, handler: Handler<B>): void => this.#route('GET', path, spec, handler)
  post = <B extends TSchema>(path: string, spec: Spec<B>, handler: Handler<B>): void => this.#route('POST', path, spec, handler)

  #route<B extends TSchema>(method: 'GET' | 'POST', path: string, spec: Spec<B>, handler: Handler<B>): void {
    const { prefix, rateLimit, admit } = this.#mount
    this.operations.push({ ...spec, scope: null, method, path, paged: false })
    this.#app.route({
      method,
      url: `${prefix}${path}`,
      config: { operationId: spec.operationId, route: path },
      ...(method === 'POST' && { schema: { body: bodySchema({ ...spec, scope: null }) } }),
      onRequest: async (request, reply) => {
        reply.header('cache-control', 'no-store')
        await rateLimit.limitIp(request, reply)
        admit(request)
      },
      handler: async (request, reply) => {
        const result = await handler(request.body as Static<B>, request, reply)
        const { data, status } = result instanceof ApiResponse ? result : new ApiResponse(result, statusesOf(spec)[0]!)
        return reply.code(status).send({ success: true, data })
      },
    })
  }
}
