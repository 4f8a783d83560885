import { ApiResponse, DryRunResult } from '../../http/api/api.ts'
import type { Routes } from '../deps.ts'
import { DryRunQuery } from '../wallet/schema.ts'
import { BulkActionQuote, BulkActionStarted, StartBulkAction } from './schema.ts'
import { startBulkAction } from './service.ts'

export const bulkActionRoutes: Routes = (api, deps) => {
  api.post(
    '/vms/actions',
    {
      operationId: 'startBulkAction',
      errorCodes: ['missing_scope', 'reauthentication_required', 'quota_exceeded'],
      summary:
        'Start, stop, restart, delete or snapshot all VMs with such labels or ids, an action for each. A VM that cannot is named with the reason, and keeps no other from it',
      tag: 'Virtual machines',
      scope: 'vms:read',
      body: StartBulkAction,
      status: 202,
      data: BulkActionStarted,
      query: DryRunQuery,
      dryRunData: BulkActionQuote,
    },
    async (tx, { principal, body, query, request }) => {
      const result = await startBulkAction(tx, deps, principal, body, query.dryRun)
      if (result instanceof DryRunResult) return result
      request.auditedIds = result.vms.filter(({ actionId }) => actionId !== null).map(({ vmId }) => vmId)
      return new ApiResponse(result, 202)
    },
  )
}
