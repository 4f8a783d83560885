import type { AuditEntry } from './schema.ts'
import { REFUSALS, type AuditRow } from './sql.ts'

const isRefused = ({ action, status }: AuditRow): boolean => action === REFUSALS || (status ?? 0) >= 400

const VIA = { token: 'token', person: 'session', operator: null, system: null } as const

/** Entries of people from before there were members name them as the actor alone. */
function personOf({ actor_type, actor_id, actor_name, person_id, person_name }: AuditRow): AuditEntry['actor']['person'] {
  if (person_id !== null) return { id: person_id, name: person_name ?? '' }
  return actor_type === 'person' && actor_id !== null ? { id: actor_id, name: actor_name } : null
}

export const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name, via: VIA[row.actor_type], person: personOf(row) },
  ip: row.ip,
  method: row.method,
  route: row.route,
  resourceId: row.resource_ids.at(-1) ?? null,
  resourceIds: row.resource_ids,
  result: isRefused(row) ? 'refused' : 'succeeded',
  status: row.status,
  errorCode: row.code,
  requestId: row.request_id,
  count: row.count,
  createdAt: row.created_at.toISOString(),
})
