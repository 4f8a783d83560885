// Tells guests of their addresses again: after a boot, when the agent was silent, and now and then.
import { reconciler, type Deps } from '../deps.ts'
import { CONFIGURE_GUESTS } from '../hosts/public-addresses.ts'
import { configureGuest } from './guest.ts'
import { dueGuests, setGuestState, type DueGuest } from './sql.ts'

const TIMEOUT_MS = 15_000
const AT_ONCE = 8

export const configureGuests = reconciler(CONFIGURE_GUESTS, '5s', async (deps: Deps) => {
  const due = await dueGuests(deps.db, deps.clock.now())
  const next = async (): Promise<void> => {
    for (let each = due.shift(); each; each = due.shift()) await configure(deps, each)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
})

async function configure(deps: Deps, { id, vm_id }: DueGuest): Promise<void> {
  try {
    await setGuestState(deps.db, id, vm_id, await configureGuest(deps, id, vm_id, AbortSignal.timeout(TIMEOUT_MS)))
  } catch (error) {
    deps.log.warn({ err: error, addressId: id }, 'configuring guest address failed; will retry')
  }
}
