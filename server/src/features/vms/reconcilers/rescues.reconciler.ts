// Ends rescues that have lasted their time: a VM is not left in one that its owner has forgotten. One that cannot be ended now is tried again later.
import { addDuration } from '../../../kernel/clock.ts'
import { reconciler } from '../../deps.ts'
import { endRescue } from '../actions/rescue.ts'
import { findUnrescueObstacle } from '../model/allowed-actions.ts'
import { recordVmEvent } from '../model/events.ts'
import { findBlockingRun } from '../model/guards.ts'
import { findRescue, overdueRescues, postponeRescueEnd } from '../model/rescue.ts'
import { lockVmById } from '../model/sql.ts'

const TRY_AGAIN = '10m'

export const endRescues = reconciler('vms.rescues', '1m', async (deps) => {
  const { db, clock, log } = deps
  for (const { vm_id: vmId } of await overdueRescues(db, clock.now()))
    await db
      .tx(async (tx) => {
        const vm = await lockVmById(tx, vmId)
        const now = clock.now()
        const due = await findRescue(tx, vmId)
        if (!vm?.in_rescue || !due?.ends_at || due.ends_at > now || (due.next_attempt_at && due.next_attempt_at > now)) return
        if (findUnrescueObstacle(vm) !== null) return
        if (vm.host_id === null || vm.status === 'UNMANAGED' || (await findBlockingRun(tx, deps, vm))) return
        if (due.next_attempt_at === null) await recordVmEvent(tx, deps, vmId, 'vm.rescue_expired')
        await postponeRescueEnd(tx, vmId, addDuration(now, TRY_AGAIN))
        await endRescue(tx, deps, vm, 'expired')
      })
      .catch((error: unknown) => log.warn({ err: error, vmId }, 'ending rescue failed; will retry'))
})
