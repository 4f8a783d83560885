import { notFound } from '../../kernel/errors.ts'
import { recordByOperator } from '../audit-log/service.ts'
import type { Deps } from '../deps.ts'
import { suspend, unsuspend } from './power.ts'
import { vmById } from './sql.ts'

type Order = typeof suspend

/** By an operator, who needs no account to find a VM. */
const ordered =
  (order: Order, action: string) =>
  (deps: Deps, vmId: string): Promise<string> =>
    deps.db.tx(async (tx) => {
      const vm = await vmById(tx, vmId)
      if (!vm) throw notFound('VM')
      recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action, resourceIds: [vmId] })
      return (await order(tx, deps, { accountId: vm.account_id }, vmId)).actionId
    })

export const suspendByOperator = ordered(suspend, 'vm suspend')
export const unsuspendByOperator = ordered(unsuspend, 'vm unsuspend')
