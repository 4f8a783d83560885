// Tells guests where the routes and peers of their networks are: after a change, after a boot, when the agent was silent, and now and then.
import { DriverError } from '../../../hypervisor/driver.ts'
import { addDuration } from '../../../kernel/clock.ts'
import { reconciler, type Deps } from '../../deps.ts'
import {
  dueRoutes,
  forgetRoutes,
  guestRoutesOf,
  recordTold,
  recordUntold,
  retellRoutes,
  TELL_ROUTES,
  type DueRoutes,
} from '../../networks/service.ts'
import { askGuests, GUEST_TIMEOUT_MS, LOOK_AGAIN, nextTry } from '../model/guest-turns.ts'
import { driverForVm } from '../model/machine-spec.ts'
import { isPlaced } from '../model/ports.ts'
import { vmById } from '../model/sql.ts'

export const tellRoutes = reconciler(TELL_ROUTES, '5s', (deps: Deps, stopping) => {
  const due = async () => {
    const rows = await dueRoutes(deps.db, deps.clock.now())
    return rows.map((row) => ({ vmId: row.vm_id, payerId: row.payer_id, isSilent: row.is_silent, row }))
  }
  return askGuests(due, ({ row }) => settle(deps, row), stopping)
})

/** Resolves to false where it stays due. */
async function settle(deps: Deps, due: DueRoutes): Promise<boolean> {
  const { db, clock, log } = deps
  try {
    const outcome = await tell(deps, due.vm_id)
    const recorded =
      outcome === 'none'
        ? await forgetRoutes(db, due)
        : outcome === 'told'
          ? await recordTold(db, due, addDuration(clock.now(), LOOK_AGAIN))
          : await recordUntold(db, due, nextTry(clock.now(), due.wanted_at))
    if (recorded === 0) await retellRoutes(db, clock.now(), due.vm_id)
    return true
  } catch (error) {
    log.warn({ err: error, vmId: due.vm_id }, 'telling guest of routes failed; will retry')
    return false
  }
}

/** `none`: nothing is left to be told, or nobody is there who could be. */
async function tell(deps: Deps, vmId: string): Promise<'told' | 'untold' | 'none'> {
  const vm = await vmById(deps.db, vmId)
  if (!vm?.has_agent || !isPlaced(vm)) return 'none'
  const routes = await guestRoutesOf(deps.db, vmId)
  try {
    const driver = await driverForVm(deps, vm)
    await driver.ensureGuestRoutes(vmId, routes, AbortSignal.timeout(GUEST_TIMEOUT_MS))
    return routes.length > 0 ? 'told' : 'none'
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    if (error.kind === 'unsupported') return 'none'
    deps.log.info({ err: error, vmId }, 'configuring guest routes failed; will retry')
    return 'untold'
  }
}
