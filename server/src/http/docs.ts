// The OpenAPI document, open to everyone.
import type { FastifyInstance } from 'fastify'
import type { Operation } from './operation.ts'
import { openApiDocument } from './openapi.ts'
import type { RateLimit } from './rate-limit.ts'

export async function serveDocs(
  app: FastifyInstance,
  options: { prefix: string; operations: Operation[]; rateLimit: RateLimit },
): Promise<void> {
  const document = JSON.stringify(openApiDocument(options.prefix, '1.0.0', options.operations))
  app.get(`${options.prefix}/openapi.json`, { onRequest: options.rateLimit.chargeAddress }, async (_, reply) =>
    reply.type('application/json; charset=utf-8').send(document),
  )
}
