import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { insertion } from './sql.ts'

export interface OperatorAct {
  accountId: string
  /** The words of the command, such as `account credit`. */
  action: string
  resourceIds?: string[]
}

/** In the transaction of what the operator does. Which operator it was is not for the customer to know. */
export function recordByOperator(tx: Tx, now: Date, { accountId, action, resourceIds = [] }: OperatorAct): void {
  const actor = { actor_type: 'operator', actor_id: null, actor_name: 'operator' } as const
  const line = { ...NO_CALL, ...actor, account_id: accountId, created_at: now, id: newId(), action, resource_ids: resourceIds }
  tx.beforeCommit(insertion(line))
}

const NO_CALL = { ip: null, method: null, route: null, status: null, code: null, request_id: null, count: 1 }
