// What is remembered of a write: who asked, from where, for what, and what came of it. Never a body, never a secret. What has an effect is
// written down in the transaction of the effect. A refusal has none: it is noted afterwards, and the answer does not wait for that.
import type { FastifyRequest } from 'fastify'
import type { Tx } from '../../kernel/database/db.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the operation alone does not say what was done. */
    auditedAs?: string
  }
}

export interface AuditRecord {
  accountId: string
  actorType: 'token' | 'person'
  actorId: string
  actorName: string
  ip: string
  requestId: string
  action: string
  method: string
  route: string
  /** Those of the path, in its order, and then of what was made. */
  resourceIds: string[]
  status: number
  code: string | null
}

export interface Audit {
  recordSuccess(tx: Tx, call: AuditRecord): void
  /** Never throws, and never makes anybody wait. */
  recordDenied(call: AuditRecord): void
}

/** Who is not known, or asks for what there is not, belongs to nobody's log. */
export const isAudited = ({ method, principal, routeOptions }: FastifyRequest): boolean =>
  method !== 'GET' && method !== 'HEAD' && principal !== null && routeOptions.config.operationId !== undefined

export function toAuditRecord(request: FastifyRequest, status: number, code: string | null, data?: unknown): AuditRecord {
  const { accountId, actorType, actorId, actorName } = request.principal
  const { operationId = '', route = '' } = request.routeOptions.config
  const who = { accountId, actorType, actorId, actorName, ip: request.ip, requestId: request.id }
  return {
    ...who,
    action: request.auditedAs ?? operationId,
    method: request.method,
    route,
    resourceIds: resourceIds(request.params, data),
    status,
    code,
  }
}

/** Somebody may send a secret where an id belongs: only what looks like an id of ours is kept. */
const OUR_ID = /^c[0-9a-z]{24}$/

const isOurId = (value: unknown): value is string => typeof value === 'string' && OUR_ID.test(value)

function resourceIds(params: unknown, data: unknown): string[] {
  const named = Object.values(params ?? {}).filter(isOurId)
  return [...new Set([...named, ...[idOf(data)].filter(isOurId)])]
}

/** Of what an answer shows: `{ id, … }`, or `{ thing: { id, … }, … }`. */
function idOf(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return undefined
  if ('id' in data) return data.id
  const inner: unknown = Object.values(data).find((value: unknown) => typeof value === 'object' && value !== null && 'id' in value)
  return (inner as { id?: unknown } | undefined)?.id
}
