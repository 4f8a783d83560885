import type { Tx } from '../../kernel/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { recordByOperator } from '../audit-log/service.ts'
import type { Deps } from '../deps.ts'
import { suspend, unsuspend } from './power.ts'
import { vmById } from './sql.ts'

type Order = typeof suspend

/** By an operator, who needs no account to find a VM. */
const ordered =
  (order: Order, action: string) =>
  async (tx: Tx, deps: Deps, vmId: string): Promise<string> => {
    const vm = await vmById(tx, vmId)
    if (!vm) throw notFound('VM')
    const { actionId } = await order(tx, deps, { accountId: vm.account_id }, vmId)
    recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action, resourceIds: [vmId] })
    return actionId
  }

/** These answer the action. */
export const startSuspension = ordered(suspend, 'vm suspend')
export const startUnsuspension = ordered(unsuspend, 'vm unsuspend')

export const suspendByOperator = (deps: Deps, vmId: string): Promise<string> => deps.db.tx((tx) => startSuspension(tx, deps, vmId))
export const unsuspendByOperator = (deps: Deps, vmId: string): Promise<string> => deps.db.tx((tx) => startUnsuspension(tx, deps, vmId))
