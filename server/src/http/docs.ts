// The documentation, open to everyone and complete without the Internet: the OpenAPI document, a viewer for it at /docs, and what every
// error means. Pages are charged to the address; the viewer's files are not.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Worker } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import { moduleBeside } from '../kernel/places.ts'
import { servePages } from './docs-pages.ts'
import { openApiDocument } from './openapi.ts'
import type { Operation } from './operation.ts'
import type { RateLimit } from './rate-limit.ts'

/** Nothing from anywhere else, not even when the viewer would like to. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function serveDocs(app: FastifyInstance, options: { prefix: string; operations: Operation[]; rateLimit: RateLimit }): void {
  const url = `${options.prefix}/openapi.json`
  let document: string | undefined
  const counted = { onRequest: options.rateLimit.chargeAddress }
  const viewer = loadOnce()
  app.get(url, counted, async (_, reply) => {
    document ??= JSON.stringify(openApiDocument(options.prefix, options.operations))
    return reply.type('application/json; charset=utf-8').send(document)
  })
  for (const path of ['/docs', '/docs/']) app.get(path, counted, async (_, reply) => page(reply, VIEWER_PAGE))
  servePages(app, counted, page)
  app.get('/docs/start.js', async (_, reply) => script(reply).send(startScript(url)))
  app.get('/docs/viewer.js', async (request, reply) => {
    const gzipped = await viewer()
    script(reply).header('vary', 'accept-encoding')
    if (!/\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')) return reply.send(gunzipSync(gzipped))
    return reply.header('content-encoding', 'gzip').send(gzipped)
  })
}

/** The viewer takes 40 MB and a second to load, so it is unpacked in a thread of its own, and only when somebody looks at it. */
function loadOnce(): () => Promise<Buffer> {
  let loading: Promise<Buffer> | undefined
  const load = (): Promise<Buffer> =>
    new Promise<Uint8Array>((resolve, reject) =>
      new Worker(moduleBeside(import.meta.url, './docs-viewer')).once('message', resolve).once('error', reject),
    ).then((bytes) => Buffer.from(bytes.buffer))
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
}

const page = (reply: FastifyReply, html: string): FastifyReply =>
  reply.header('content-security-policy', POLICY).header('referrer-policy', 'no-referrer').type('text/html; charset=utf-8').send(html)

const script = (reply: FastifyReply): FastifyReply =>
  reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=3600').header('x-content-type-options', 'nosniff')

const frame = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body>${body}</body>
</html>
`

const VIEWER_PAGE = frame('Berth API', '<div id="app"></div><script src="/docs/viewer.js"></script><script src="/docs/start.js"></script>')

const startScript = (url: string): string => `Scalar.createApiReference('#app', ${JSON.stringify({
  url,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
})})
`
