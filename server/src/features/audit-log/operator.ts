import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { insertion } from './sql.ts'

export interface OperatorAct {
  accountId: string
  /** The command, such as `account credit`. */
  action: string
  resourceIds?: string[]
}

/** Call it in the transaction of the operator's change. The entry hides the operator's identity from the customer. */
export function recordByOperator(tx: Tx, now: Date, { accountId, action, resourceIds = [] }: OperatorAct): void {
  const actor = { actor_type: 'operator', actor_id: null, actor_name: 'operator' } as const
  const line = { ...NO_CALL, ...actor, account_id: accountId, created_at: now, id: newId(), action, resource_ids: resourceIds }
  tx.beforeCommit(insertion(line))
}

const NO_CALL = { ip: null, method: null, route: null, status: null, code: null, request_id: null, count: 1 }
