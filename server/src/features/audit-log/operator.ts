import type { FieldChange } from '../../http/api/field-changes.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { insertion } from './sql.ts'

export { fieldChanges } from '../../http/api/field-changes.ts'

export interface OperatorAct {
  accountId: string
  /** The command, such as `account credit`. */
  action: string
  resourceIds?: string[]
  /** Shown to whoever reads the log. */
  changes?: FieldChange[]
}

/** Accounts whose log has the API call of the transaction itself. */
const calledBy = new WeakMap<Tx, string>()

export const markCaller = (tx: Tx, accountId: string): void => void calledBy.set(tx, accountId)

/** Call it in the transaction of the operator's change. The entry hides the operator's identity from the customer. An operator who
 *  changes the own account by an API call has that call in the log already, with more in it. */
export function recordByOperator(tx: Tx, now: Date, { accountId, action, resourceIds = [], changes }: OperatorAct): void {
  const actor = { actor_type: 'operator', actor_id: null, actor_name: 'operator' } as const
  const line = {
    ...NO_CALL,
    ...actor,
    account_id: accountId,
    created_at: now,
    id: newId(),
    action,
    resource_ids: resourceIds,
    changes: changes ?? null,
  }
  tx.beforeCommitIf(insertion(line), () => calledBy.get(tx) !== accountId)
}

const NO_CALL = {
  person_id: null,
  person_name: null,
  ip: null,
  method: null,
  route: null,
  status: null,
  code: null,
  request_id: null,
  resource: null,
  resource_name: null,
  count: 1,
}
