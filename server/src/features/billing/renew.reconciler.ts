// Takes every VM whose month is over one step on. Several processes may do so at once: each waits for the other's row and then finds
// nothing left to do. Within an account they go in one order, so that money that does not do for all goes to the oldest debt first.
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

/** Some VM may wait for the money. */
export const triggerRenewals = (tx: Tx) => triggerReconciler(tx, RENEWALS)

export const renewals = reconciler(RENEWALS, '30s', async (deps) => {
  let last: sql.DueVm | undefined
  do {
    const due = await sql.dueVms(deps.db, deadlines(deps.clock.now()), last, BATCH)
    await forEachAccount(due, (vm) => settle(deps, vm.id))
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

/** Accounts side by side, the VMs of one account in order. */
async function forEachAccount(vms: sql.DueVm[], work: (vm: sql.DueVm) => Promise<void>): Promise<void> {
  const accounts = [...Map.groupBy(vms, (vm) => vm.account_id).values()]
  const next = async (): Promise<void> => {
    for (let account = accounts.shift(); account; account = accounts.shift()) for (const vm of account) await work(vm)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

/** Each step commits by itself. What goes wrong with one VM is not for the others to bear. */
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

/** A VM that is busy is looked at again the next time. */
function complain({ log }: Deps, vmId: string, error: unknown): void {
  if (error instanceof ApiError) log.info({ vmId, code: error.code, reason: error.message }, 'renewal postponed')
  else log.error({ err: error, vmId }, 'renewal failed; will retry')
}
