import type { AuditEntry } from './schema.ts'
import { REFUSALS, type AuditRow } from './sql.ts'

const isRefused = ({ action, status }: AuditRow): boolean => action === REFUSALS || (status ?? 0) >= 400

export const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
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
