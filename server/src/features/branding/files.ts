// The images of the branding, and the colours of the documentation: for everybody, at addresses of their own beside the API. A logo is shown by <img>,
// and whoever opens its address gets it in a sandbox that runs no script.
import type { FastifyInstance } from 'fastify'
import type { RateLimit } from '../../http/api/rate-limit.ts'
import { sha256 } from '../../kernel/crypto.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import { FILES } from './skin.ts'
import * as sql from './sql.ts'

const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

export function serveBranding(app: FastifyInstance, { db, branding }: Pick<Deps, 'db' | 'branding'>, rateLimit: RateLimit): void {
  const counted = { onRequest: rateLimit.limitIp }

  app.get(`${FILES}docs.css`, counted, async (request, reply) => {
    const { skin } = await branding.current()
    const etag = `"${sha256(skin.docsCss).toString('base64url').slice(0, 22)}"`
    reply.headers({ etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }).type('text/css; charset=utf-8')
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(skin.docsCss)
  })

  app.get<{ Params: { file: string } }>(`${FILES}:file`, counted, async ({ params: { file } }, reply) => {
    const [, hash] = /^([\da-f]{32})\.(?:png|svg)$/.exec(file) ?? []
    const image = hash === undefined ? undefined : await sql.findImage(db, hash)
    if (!image) throw notFound('File')
    return reply
      .headers({
        'content-security-policy': SANDBOX,
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      })
      .type(image.type)
      .send(image.bytes)
  })
}
