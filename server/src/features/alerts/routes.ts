import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { Alert, AlertQuery, CreateAlert, DeletedAlert, UpdateAlert } from './schema.ts'
import { createAlert, deleteAlert, getAlert, listAlerts, updateAlert } from './service.ts'

const tag = 'Alerts'
const params = { id: Type.String() }

export const alertRoutes: Routes = (api, deps) => {
  const { db, clock } = deps
  api.page(
    '/alerts',
    { operationId: 'listAlerts', summary: 'List alerts, newest first', tag, scope: 'alerts:read', query: AlertQuery, data: Alert },
    ({ principal, query }, page) => listAlerts(db, principal.accountId, query.labelSelector, page),
  )

  api.post(
    '/alerts',
    {
      operationId: 'createAlert',
      errorCodes: ['not_found', 'quota_exceeded', 'in_project'],
      summary: 'Be told when VMs, or the balance, pass a threshold',
      tag,
      scope: 'alerts:create',
      body: CreateAlert,
      status: 201,
      data: Alert,
    },
    (tx, { principal, body }) => createAlert(tx, clock.now(), principal.accountId, body),
  )

  api.get(
    '/alerts/:id',
    { operationId: 'getAlert', summary: 'Get an alert, and where it fires', tag, scope: 'alerts:read', params, data: Alert },
    ({ principal, params: { id } }) => getAlert(db, principal.accountId, id),
  )

  api.patch(
    '/alerts/:id',
    {
      operationId: 'updateAlert',
      summary: 'Change an alert. What it measures stays as it was created',
      tag,
      scope: 'alerts:update',
      params,
      body: UpdateAlert,
      data: Alert,
      before: (tx, { principal, params: { id } }) => getAlert(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => updateAlert(tx, clock.now(), principal.accountId, id, body),
  )

  api.delete(
    '/alerts/:id',
    {
      operationId: 'deleteAlert',
      summary: 'Delete an alert. What it fires for is told as ended',
      tag,
      scope: 'alerts:delete',
      params,
      data: DeletedAlert,
      before: (tx, { principal, params: { id } }) => getAlert(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => deleteAlert(tx, deps, principal.accountId, id),
  )
}
