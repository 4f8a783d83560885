// Tells guests of their addresses again: after a boot, when the agent was silent, and now and then.
import { reconciler, type Deps } from '../deps.ts'
import { CONFIGURE_GUESTS } from '../hosts/public-addresses.ts'
import { askGuests, GUEST_TIMEOUT_MS, type DueGuest } from '../vms/service.ts'
import { configureGuest } from './guest.ts'
import { dueGuests, setGuestState, type DueGuest as DueRow, type GuestOutcome } from './sql.ts'

/** With all of its due addresses. */
interface Guest extends DueGuest {
  addressIds: string[]
}

export const configureGuests = reconciler(CONFIGURE_GUESTS, '5s', (deps: Deps, stopping) =>
  askGuests(
    async () => byVm(await dueGuests(deps.db, deps.clock.now())),
    (guest) => configure(deps, guest),
    stopping,
  ),
)

/** In the order of the first address of each. */
function byVm(rows: DueRow[]): Guest[] {
  const guests = new Map<string, Guest>()
  for (const { id, vm_id: vmId, payer_id: payerId, guest_reason } of rows) {
    const guest = guests.get(vmId) ?? { vmId, payerId, isSilent: false, addressIds: [] }
    guest.addressIds.push(id)
    guest.isSilent ||= guest_reason !== null
    guests.set(vmId, guest)
  }
  return [...guests.values()]
}

/** An agent that does not answer is asked once, not for each address. Resolves to false where it stays due. */
async function configure(deps: Deps, { vmId, addressIds }: Guest): Promise<boolean> {
  let [silence, isDone]: [GuestOutcome | undefined, boolean] = [undefined, true]
  const signal = AbortSignal.timeout(GUEST_TIMEOUT_MS)
  for (const id of addressIds) {
    try {
      const outcome: GuestOutcome = silence ?? (await configureGuest(deps, id, vmId, signal))
      if (outcome.state === 'PENDING' && outcome.dueAt !== null) silence = outcome
      await setGuestState(deps.db, deps.clock.now(), id, vmId, outcome)
    } catch (error) {
      isDone = false
      deps.log.warn({ err: error, addressId: id }, 'reconciling guest address failed; will retry')
    }
  }
  return isDone
}
