import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { OPERATOR } from '../sessions/service.ts'
import * as shapes from './work.schema.ts'
import * as work from './actions-health.ts'

const common = { tag: 'Operator', scope: OPERATOR }
const params = { id: Type.String() }

export const workRoutes =
  (look: work.HealthChecks): Routes =>
  (api, deps) => {
    const { db, clock } = deps
    const startedAt = clock.now()

    api.page(
      '/operator/actions',
      {
        operationId: 'operatorListActions',
        summary: 'List the actions of all accounts, newest first',
        ...common,
        query: shapes.ActionQuery,
        data: shapes.OperatorAction,
      },
      ({ query }, page) => work.showActions(db, query, page),
    )

    api.get(
      '/operator/actions/:id',
      { operationId: 'operatorGetAction', summary: 'Get an action with its steps', ...common, params, data: shapes.OperatorActionDetails },
      ({ params: { id } }) => work.showAction(db, id),
    )

    api.post(
      '/operator/actions/:id/retry',
      {
        operationId: 'operatorRetryAction',
        summary: 'Try an action now that waits for its next attempt',
        ...common,
        params,
        status: 202,
        data: shapes.OperatorAction,
        errorCodes: ['invalid_state', 'busy'],
      },
      (tx, { params: { id } }) => work.retryAction(tx, deps, id),
    )

    api.get(
      '/operator/quarantine',
      {
        operationId: 'operatorListQuarantine',
        summary: 'List volumes on hosts that nobody needs and that will be removed',
        ...common,
        data: Type.Array(shapes.Stray),
      },
      () => work.listQuarantine(db),
    )

    api.get(
      '/operator/health',
      { operationId: 'operatorGetHealth', summary: 'How the whole is doing', ...common, data: shapes.SystemHealth },
      () => work.showHealth(deps, look, startedAt),
    )
  }
