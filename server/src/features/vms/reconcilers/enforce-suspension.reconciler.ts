// Suspends running VMs of suspended accounts, and carries out what an operator ordered for a busy VM: a VM that was busy then, or has
// started since, is suspended or unmanaged as soon as it has no open action.
import { subtractDuration } from '../../../kernel/clock.ts'
import { type Queries, sql } from '../../../kernel/database/db.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { reconciler, type Deps } from '../../deps.ts'
import { suspend } from '../actions/power.ts'
import { preemptOpenRun } from '../model/guards.ts'
import { lockVmById, setPendingHold } from '../model/sql.ts'
import { leaveUnmanaged } from '../operator/manage.ts'
import { ENFORCE_SUSPENSION } from '../move/steps.ts'

/** Retry delay; short, because the VM keeps running until then. */
const RETRY = '2m'

export const enforceSuspension = reconciler(ENFORCE_SUSPENSION, '30s', async (deps) => {
  for (const { id } of await vmsToSuspend(deps.db, subtractDuration(deps.clock.now(), RETRY))) {
    await switchOff(deps, id).catch((error: unknown) => {
      if (error instanceof ApiError) deps.log.info({ vmId: id, code: error.code, reason: error.message }, 'VM suspension postponed')
      else deps.log.error({ err: error, vmId: id }, 'suspending or unmanaging VM failed; will retry')
    })
  }
})

/** Re-checks under the lock: the suspension may have been lifted in the meantime. */
const switchOff = (deps: Deps, id: string): Promise<void> =>
  deps.db.tx(async (tx) => {
    const vm = await lockVmById(tx, id)
    if (vm?.pending_hold === 'UNMANAGE' && vm.shelved_at !== null && vm.host_id === null) await setPendingHold(tx, id, null)
    else if (vm?.pending_hold === 'UNMANAGE') {
      await preemptOpenRun(tx, deps, vm)
      await leaveUnmanaged(tx, deps, id)
    } else if (vm?.account_suspended || vm?.pending_hold === 'SUSPEND') await suspend(tx, deps, { accountId: vm.account_id }, id)
  })

/** VMs on reachable hosts, or on none, to which it has still to be done; after a failed attempt only once the retry delay has passed. */
const vmsToSuspend = (db: Queries, triedBefore: Date) =>
  db.many<{ id: string }>(sql`
    select v.id from (
        select v.id from accounts a join vms v on v.account_id = a.id where a.suspended_at is not null and v.status in ('RUNNING', 'STOPPED')
        union select id from vms where pending_hold = 'UNMANAGE' or (pending_hold = 'SUSPEND' and status in ('RUNNING', 'STOPPED', 'ERROR'))) held
      join vms v using (id) left join hosts h on h.id = v.host_id
    where v.provisioned and h.unreachable_since is null
      and not exists (select from workflow_runs r where r.subject_id = v.id and r.label = 'SUSPEND'
        and (r.status in ('PENDING', 'RUNNING') or (r.status = 'FAILED' and r.created_at > ${triedBefore})))
    order by v.id limit 500`)
