import type { Routes } from '../deps.ts'
import { AuditEntry, AuditFilter } from './schema.ts'
import { listAuditLog } from './service.ts'

export const auditLogRoutes: Routes = (api, { db }) => {
  api.page(
    '/audit-log',
    {
      operationId: 'listAuditLog',
      summary: 'List who changed what and what was refused, newest first; pages reach back 10,000 entries, dates all of 365 days',
      tag: 'Account',
      scope: 'account:read',
      query: AuditFilter,
      data: AuditEntry,
    },
    ({ principal, query }, page) => listAuditLog(db, principal, query, page),
  )
}
