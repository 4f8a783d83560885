// Starts daily backups that are due, and expires those of VMs whose daily backups are switched off.
import { reconciler, type Deps } from '../deps.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { lockOwnVm } from '../vms/service.ts'
import { DAILY, REMOVE } from './reconciler-names.ts'
import { dueVms, failuresOf, scheduleDailyBackups, type DueVm } from './schedule.ts'
import { startBackup } from './service.ts'
import * as sql from './sql.ts'

/** More concurrent copies would compete with each other and with the guests for disk bandwidth. */
const AT_ONCE_ON_A_HOST = 4
/** Every seventh backup is full, which bounds the length of a chain. */
const MAX_INCREMENTAL = 6

export const dailyBackups = reconciler(DAILY, '1m', async (deps) => {
  const { db, clock, log } = deps
  await scheduleDailyBackups(db, clock.now())
  for (const vm of await dueVms(db, clock.now(), AT_ONCE_ON_A_HOST)) {
    await startDaily(deps, vm).catch((error: unknown) => log.warn({ err: error, vmId: vm.id }, 'starting daily backup failed'))
  }
  if ((await sql.expireUnwanted(db, clock.now())) > 0) await triggerReconciler(db, REMOVE)
})

async function startDaily(deps: Deps, { id, account_id }: DueVm): Promise<void> {
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const vm = await lockOwnVm(tx, { accountId: account_id }, id)
    if ((await dueVms(tx, now, AT_ONCE_ON_A_HOST, id)).length === 0) return
    const latest = await sql.latestDaily(tx, id)
    await sql.retireFailed(tx, id)
    const parent = latest && latest.depth < MAX_INCREMENTAL ? latest : null
    const name = `Daily ${now.toISOString().slice(0, 10)}`
    await startBackup(tx, deps, vm, { name, type: 'DAILY', parent, failures: await failuresOf(tx, id) })
  })
}
