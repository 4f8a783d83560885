// Every test also tests the documentation: whatever an operation refuses must be among what it says it refuses.
import type { FastifyInstance } from 'fastify'
import { afterAll } from 'vitest'
import { errorCodesOf } from '../src/http/docs/openapi.ts'
import type { Operation } from '../src/http/api/operation.ts'

/** What any route can refuse to people, which no document for programs need say. */
const OF_PEOPLE = new Set([
  'origin_not_allowed',
  'https_required',
  'reauthentication_required',
  'operator_only',
  'account_required',
  'two_factor_required',
])

export function requireDocumentedErrors(app: FastifyInstance, operations: Operation[]): void {
  const documented = new Map(operations.map((operation) => [operation.operationId, new Set<string>(errorCodesOf(operation))]))
  const surprises = new Set<string>()
  app.addHook('onResponse', (request, reply, done) => {
    const code = String(reply.getHeader('x-error-code') ?? '')
    const { operationId = '' } = request.routeOptions.config
    if (request.url.startsWith('/api/dashboard') && OF_PEOPLE.has(code)) return done()
    if (code && documented.get(operationId)?.has(code) === false)
      surprises.add(`${operationId} refused with ${code}: add that to its refuses`)
    done()
  })
  afterAll(() => {
    if (surprises.size > 0) throw new Error([...surprises].join('\n'))
  })
}
