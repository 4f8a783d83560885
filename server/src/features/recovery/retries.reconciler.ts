// Starts again what no other host could start after its own was lost: first where it is, because its addresses may be those of that host, then on yet
// another, if its machine is known to be off where it is.
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { reconciler, type Deps } from '../deps.ts'
import { getHost, isStable, listHostsIn } from '../hosts/service.ts'
import {
  clearFailedRecovery,
  findFailedRecovery,
  findStaleElsewhere,
  hasStaleMachine,
  listFailedRecoveries,
  lockVmById,
  postponeFailedRecovery,
  startOnHost,
  startOnOtherHost,
} from '../vms/service.ts'
import * as sql from './sql.ts'

const NOT_NOW = '1m'

export const retryRecoveries = reconciler('recovery.retries', '10s', async (deps) => {
  const { db, clock, log, metrics } = deps
  const failed = await listFailedRecoveries(db)
  metrics.recoveriesFailed.set(failed.length)
  for (const { vm_id: vmId, next_attempt_at } of failed) {
    if (next_attempt_at > clock.now()) continue
    const attempt = (mayMove: boolean) => db.tx((tx) => retry(tx, deps, vmId, mayMove))
    await attempt(true)
      .catch((error: unknown) => (error instanceof ApiError ? attempt(false) : Promise.reject(error))) // no room elsewhere
      .catch(async (error: unknown) => {
        log.warn({ err: error, vmId }, 'starting VM of a lost host again failed; will retry')
        await postponeFailedRecovery(db, vmId, addDuration(clock.now(), NOT_NOW))
      })
  }
})

async function retry(tx: Tx, deps: Deps, vmId: string, mayMove: boolean): Promise<void> {
  const vm = await lockVmById(tx, vmId)
  const failed = await findFailedRecovery(tx, vmId)
  if (!vm || !failed || failed.next_attempt_at > deps.clock.now() || (await sql.openRunsOf(tx, vmId)).length > 0) return
  const isWaiting = vm.host_id !== null && (vm.status === 'ERROR' || vm.status === 'SUSPENDED')
  if (!isWaiting) return void (await clearFailedRecovery(tx, vmId)) // somebody has started it meanwhile
  const host = await getHost(tx, vm.host_id!)
  if (!isStable(host, deps.clock.now())) return // it is started elsewhere, or here, with all others of this host
  if (await findStaleElsewhere(tx, vm.id, vm.host_id)) return
  const isElsewhere = mayMove && failed.failures > 1 && !(await hasStaleMachine(tx, vmId, host.id))
  if (!isElsewhere) return void (await startOnHost(tx, deps, vm, failed.source_id))
  const others = (await listHostsIn(tx, host.region_id)).filter(({ id }) => id !== host.id)
  await startOnOtherHost(tx, deps, vm, new Set(others.map(({ id }) => id)))
}
