import type { AuditEntry } from './schema.ts'
import { REFUSALS, type AuditRow } from './sql.ts'

const isRefused = ({ action, status }: AuditRow): boolean => action === REFUSALS || (status ?? 0) >= 400

const VIA = { token: 'token', person: 'session', operator: null, system: null } as const

/** Entries of people from before there were members name them as the actor alone. */
function personOf({ actor_type, actor_id, actor_name, person_id, person_name }: AuditRow): AuditEntry['actor']['person'] {
  if (person_id !== null) return { id: person_id, name: person_name ?? '' }
  return actor_type === 'person' && actor_id !== null ? { id: actor_id, name: actor_name } : null
}

/** Names and changes are the resource's: a role that may read the log alone does not see them. */
const isReadable = ({ resource }: AuditRow, scopes: ReadonlySet<string>): boolean => resource === null || scopes.has(`${resource}:read`)

export const toEntry = (row: AuditRow, scopes: ReadonlySet<string>): AuditEntry => ({
  id: row.id,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name, via: VIA[row.actor_type], person: personOf(row) },
  ip: row.ip,
  method: row.method,
  route: row.route,
  resourceId: row.resource_ids.at(-1) ?? null,
  resourceIds: row.resource_ids,
  resourceName: isReadable(row, scopes) ? row.resource_name : null,
  changes: isReadable(row, scopes) ? (row.changes as AuditEntry['changes']) : null,
  result: isRefused(row) ? 'refused' : 'succeeded',
  status: row.status,
  errorCode: row.code,
  requestId: row.request_id,
  count: row.count,
  createdAt: row.created_at.toISOString(),
})
