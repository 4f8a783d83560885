// Requests without a route: an unknown path (404), a wrong method (405), or OPTIONS.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { apiError } from '../../kernel/errors.ts'
import type { Pages } from './static-site.ts'
import type { RateLimit } from '../api/rate-limit.ts'

/**
 * Responds before the body is read. Behind a mount its hooks have run by then; other paths are dashboard pages or files, or are charged to
 * the IP address.
 */
export function handleNotFound(app: FastifyInstance, rateLimit: RateLimit, pages?: Pages): void {
  const methodsAt = collectMethods(app)
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (await pages?.answer(request, reply)) return
    if (!reply.hasHeader('x-ratelimit-limit')) await rateLimit.limitIp(request, reply)
    const path = request.url.split('?')[0]!
    const methods = methodsAt(path)
    if (methods.length === 0) throw apiError('not_found', `There is nothing at ${request.method} ${path.slice(0, 200)}: see /docs`)
    reply.header('allow', methods.join(', '))
    if (request.method !== 'OPTIONS')
      throw apiError('method_not_allowed', `${request.method} is not allowed here: use ${methods.join(' or ')}`)
    await reply.code(204).send()
  }
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404) void toCallback(answer(request, reply), (error) => done(error, payload))
    else done(null, payload)
  })
}

function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    const source = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')
    const entry = known.get(source) ?? { pattern: new RegExp(`^${source}$`), methods: new Set() }
    for (const each of [method].flat()) entry.methods.add(each)
    known.set(source, entry)
  })
  return (path) => [...new Set([...known.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]))]
}

/** For hooks of every request that rarely wait: callback hooks are free for the other requests, async ones are not. */
export async function toCallback(work: Promise<unknown>, done: (error: Error | null) => void): Promise<void> {
  const error = await work.then(
    () => null,
    (reason: Error) => reason,
  )
  done(error)
}
