// Ends the rescue of a VM that is in the way of an operator.
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, notFound } from '../../../kernel/errors.ts'
import { recordByOperator } from '../../audit-log/service.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import type { Deps } from '../../deps.ts'
import { endRescue } from '../actions/rescue.ts'
import { findUnrescueObstacle } from '../model/allowed-actions.ts'
import { preemptOpenRun, requireUnfencedHost } from '../model/guards.ts'
import * as sql from '../model/sql.ts'

export async function endRescueByOperator(tx: Tx, deps: Deps, vmId: string): Promise<ActionStarted> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  await preemptOpenRun(tx, deps, vm)
  if (!vm.in_rescue) throw apiError('invalid_state', 'VM is not in rescue')
  if (vm.status === 'UNMANAGED') throw apiError('invalid_state', 'VM is UNMANAGED: adopt it first')
  const obstacle = findUnrescueObstacle(vm)
  if (obstacle !== null) throw apiError('invalid_state', obstacle)
  await requireUnfencedHost(tx, vm)
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'vm unrescue', resourceIds: [vmId] })
  return endRescue(tx, deps, vm, 'operator')
}
