// Runs the next billing step of every VM whose period is over. Several processes may run at once: each waits for the VM's row lock and
// then finds the step already done. VMs with one payer are processed in order, so that a balance too low for all pays the oldest debt
// first.
import type { Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { reconciler, type Deps } from '../deps.ts'
import { unsuspend } from '../vms/service.ts'
import { GRACE, RETENTION, RETRY, runBillingStep } from './renewal-step.ts'
import * as sql from './sql.ts'

const BATCH = 500
const AT_ONCE = 4
const RENEWALS = 'billing.renew'

/** Call it when a balance grows: a past-due VM may now be payable. */
export const triggerRenewals = (tx: Tx) => triggerReconciler(tx, RENEWALS)

export const renewals = reconciler(RENEWALS, '30s', async (deps) => {
  let last: sql.DueVm | undefined
  do {
    const due = await sql.dueVms(deps.db, deadlines(deps.clock.now()), last, BATCH)
    await forEachPayer(due, (vm) => settle(deps, vm.id))
    last = due.length === BATCH ? due.at(-1) : undefined
  } while (last)
  const now = deps.clock.now()
  for (const vm of await sql.paidButSuspended(deps.db, now, subtractDuration(now, RETRY))) await bringBack(deps, vm)
})

const deadlines = (now: Date): sql.Deadlines => ({
  now,
  graceOver: subtractDuration(now, GRACE),
  retentionOver: subtractDuration(now, RETENTION),
})

/** Payers run concurrently, the VMs of one payer in order. */
async function forEachPayer(vms: sql.DueVm[], work: (vm: sql.DueVm) => Promise<void>): Promise<void> {
  const payers = [...Map.groupBy(vms, (vm) => vm.payer_id).values()]
  const next = async (): Promise<void> => {
    for (let theirs = payers.shift(); theirs; theirs = payers.shift()) for (const vm of theirs) await work(vm)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

/** Each step commits separately, and a failure affects only this VM. */
async function settle(deps: Deps, vmId: string): Promise<void> {
  try {
    while (await deps.db.tx((tx) => runBillingStep(tx, deps, vmId)));
  } catch (error) {
    complain(deps, vmId, error)
  }
}

async function bringBack(deps: Deps, { id, account_id }: { id: string; account_id: string }): Promise<void> {
  try {
    await deps.db.tx((tx) => unsuspend(tx, deps, { accountId: account_id }, id))
  } catch (error) {
    complain(deps, id, error)
  }
}

/** A busy VM is retried at the next run. */
function complain({ log }: Deps, vmId: string, error: unknown): void {
  if (error instanceof ApiError) log.info({ vmId, code: error.code, reason: error.message }, 'renewal postponed')
  else log.error({ err: error, vmId }, 'renewal failed; will retry')
}
