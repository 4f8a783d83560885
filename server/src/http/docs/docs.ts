// The documentation, public and usable offline: the OpenAPI document, the reference at /docs, the guides, and the errors. Pages are rate
// limited per address; their style and scripts are not.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { notFound } from '../../kernel/errors.ts'
import { sendPage } from './layout.ts'
import { servePages } from './guides.ts'
import { openApiDocument, type WebhookMessage } from './openapi.ts'
import type { Operation } from '../api/operation.ts'
import type { RateLimit } from '../api/rate-limit.ts'
import type { Skin } from '../server/skin.ts'
import { openReference, type Reference } from './reference.ts'

const FILES = join(import.meta.dirname, 'files')
const TYPES: Record<string, string> = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' }

interface DocsOptions {
  prefix: string
  operations: Operation[]
  webhooks: WebhookMessage[]
  rateLimit: RateLimit
  skin: () => Promise<Skin>
}

export function serveDocs(app: FastifyInstance, { prefix, operations, webhooks, rateLimit, skin }: DocsOptions): void {
  const counted = { onRequest: rateLimit.limitIp }
  // Rendered on the first request: most processes never serve them.
  let document: string | undefined
  let reference: Reference | undefined
  const openDocument = () => openApiDocument(prefix, operations, { webhooks })
  const openPages = (): Reference => (reference ??= openReference(prefix, openDocument()))

  app.get(`${prefix}/openapi.json`, counted, async (_, reply) => {
    document ??= JSON.stringify(openDocument())
    return reply.type('application/json; charset=utf-8').send(document)
  })
  for (const path of ['/docs', '/docs/']) app.get(path, counted, async (_, reply) => sendPage(reply, openPages().index(), await skin()))
  app.get('/docs/reference/:group', counted, async ({ params }, reply) => {
    const page = openPages().group((params as { group: string }).group)
    if (page === undefined) throw notFound('Page')
    return sendPage(reply, page, await skin())
  })
  app.get('/docs/files/:name', async ({ params }, reply) => sendFile(reply, (params as { name: string }).name))
  servePages(app, counted, skin)
}

function sendFile(reply: FastifyReply, name: string): FastifyReply {
  if (!readdirSync(FILES).includes(name)) throw notFound('File')
  return reply
    .type(TYPES[extname(name)]!)
    .headers({ 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })
    .send(readFileSync(join(FILES, name)))
}
