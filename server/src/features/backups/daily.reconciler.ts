// Starts daily backups that are due, and expires those of VMs whose daily backups are switched off.
import { ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { reconciler, type Deps } from '../deps.ts'
import { lockOwnVm, recordVmEvent } from '../vms/service.ts'
import { DAILY, triggerRemoval } from './reconciler-names.ts'
import { dueVms, failuresOf, scheduleDailyBackups, scheduleRetry, type DueVm } from './schedule.ts'
import { startBackup } from './service.ts'
import * as sql from './sql.ts'
import { toBackup } from './view.ts'

/** More concurrent copies would compete with each other and with the guests for disk bandwidth. */
const AT_ONCE_ON_A_HOST = 4
/** Every seventh backup is full, which bounds the length of a chain. */
const MAX_INCREMENTAL = 6

export const dailyBackups = reconciler(DAILY, '1m', async (deps) => {
  const { db, clock, log } = deps
  await scheduleDailyBackups(db, clock.now())
  for (const vm of await dueVms(db, clock.now(), AT_ONCE_ON_A_HOST)) {
    await startDaily(deps, vm).catch((error: unknown) => {
      if (isRefusal(error)) return recordRefusal(deps, vm, error)
      log.warn({ err: error, vmId: vm.id }, 'starting daily backup failed')
    })
  }
  if ((await sql.expireUnwanted(db, clock.now())) > 0) await triggerRemoval(db)
})

/** The account's quota or the hosts are full. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 'quota_exceeded' || error.code === 'no_capacity')

/** The owner sees a failed backup with the reason, and it is retried as any other that failed. */
async function recordRefusal(deps: Deps, { id, account_id }: DueVm, { message }: ApiError): Promise<void> {
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const vm = await lockOwnVm(tx, { accountId: account_id }, id)
    await sql.retireFailed(tx, id)
    const { id: backupId } = await sql.insertBackup(tx, {
      labels: {},
      id: newId(),
      vm_id: id,
      account_id,
      os_template_id: vm.os_template_id,
      name: nameOf(now),
      type: 'DAILY',
      parent_id: null,
      host_id: vm.host_id!,
      target_id: null,
      staging_host_id: null,
      counted_gib: 0,
      disk_gib: vm.disk_gib,
      run_id: newId(),
      created_at: now,
    })
    const backup = toBackup(await sql.markFailed(tx, backupId, message, false))
    await scheduleRetry(tx, now, id)
    await recordVmEvent(tx, deps, id, 'backup.failed', { reason: message }, { backup })
  })
}

const nameOf = (now: Date): string => `Daily ${now.toISOString().slice(0, 10)}`

async function startDaily(deps: Deps, { id, account_id }: DueVm): Promise<void> {
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const vm = await lockOwnVm(tx, { accountId: account_id }, id)
    if ((await dueVms(tx, now, AT_ONCE_ON_A_HOST, id)).length === 0) return
    const latest = await sql.latestDaily(tx, id)
    await sql.retireFailed(tx, id)
    const parent = latest && latest.depth < MAX_INCREMENTAL ? latest : null
    await startBackup(tx, deps, vm, { name: nameOf(now), type: 'DAILY', parent, failures: await failuresOf(tx, id) })
  })
}
