import { Type } from '../../http/api/schema.ts'
import { externalUrl } from '../../http/server/origin.ts'
import type { Routes } from '../deps.ts'
import { ConsoleLink, OpenConsole } from './schema.ts'
import { issueLink, requireConsole } from './service.ts'

export const consoleRoutes: Routes = (api, deps) => {
  api.post(
    '/vms/:id/console',
    {
      operationId: 'openConsole',
      errorCodes: ['invalid_state', 'incompatible', 'quota_exceeded'],
      summary: 'Get a WebSocket URL that opens the console of a VM once, within 60 seconds',
      tag: 'Virtual machines',
      scope: 'vms:console',
      params: { id: Type.String() },
      body: OpenConsole,
      status: 201,
      data: ConsoleLink,
      prepare: ({ principal, params: { id }, body }) => requireConsole(deps, principal.accountId, id, body.type),
    },
    (tx, { principal, params: { id }, body, request }) =>
      issueLink(tx, deps, principal, { vmId: id, type: body.type, address: externalUrl(request, deps.config.publicUrl) }),
  )
}
