import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { Action, StatusQuery, WaitQuery } from './schema.ts'
import { awaitAction, listActions, listVmActions } from './service.ts'

const tag = 'Actions'
const scope = 'vms:read'

export const actionRoutes: Routes = (api, { db, watch }) => {
  api.get(
    '/vms/:id/actions/:actionId',
    {
      operationId: 'getAction',
      summary: 'Get an action of a VM',
      tag,
      scope,
      params: { id: Type.String(), actionId: Type.String() },
      query: WaitQuery,
      data: Action,
    },
    ({ principal, params, query, request }) =>
      awaitAction(
        db,
        watch,
        { ownerId: principal.accountId, vmId: params.id, actionId: params.actionId, seconds: query.wait ?? 0 },
        request.signal,
      ),
  )

  api.page(
    '/vms/:id/actions',
    {
      operationId: 'listVmActions',
      summary: 'List the actions of a VM, newest first',
      tag,
      scope,
      params: { id: Type.String() },
      query: StatusQuery,
      data: Action,
    },
    ({ principal, params, query }, page) => listVmActions(db, { ownerId: principal.accountId, subjectId: params.id, ...query }, page),
  )

  api.page(
    '/actions',
    { operationId: 'listActions', summary: 'List the actions of all VMs, newest first', tag, scope, query: StatusQuery, data: Action },
    ({ principal, query }, page) => listActions(db, { ownerId: principal.accountId, ...query }, page),
  )
}
