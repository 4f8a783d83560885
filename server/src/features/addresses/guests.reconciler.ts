// Tells guests of their addresses again: after a boot, when the agent was silent, and now and then. A silent agent takes the whole timeout, so
// neither the guests of one account nor silent ones have all turns; what becomes due meanwhile gets the next free one.
import { sleep, stopwatch } from '../../kernel/clock.ts'
import { reconciler, type Deps } from '../deps.ts'
import { CONFIGURE_GUESTS } from '../hosts/public-addresses.ts'
import { configureGuest } from './guest.ts'
import { dueGuests, setGuestState, type DueGuest, type GuestOutcome } from './sql.ts'

const TIMEOUT_MS = 15_000
const AT_ONCE = 8
const AT_ONCE_OF_ACCOUNT = 2
const AT_ONCE_SILENT = 4
const LOOK_EVERY_MS = 200
/** Whoever is silent all the time must not keep a run from ending. */
const RUN_MS = 60_000

/** With all of its due addresses. */
interface Guest {
  vmId: string
  accountId: string
  /** When it was asked last. */
  isSilent: boolean
  addressIds: string[]
}

export const configureGuests = reconciler(CONFIGURE_GUESTS, '5s', async (deps: Deps, stopping) => {
  const failed = new Set<string>()
  const running = new Map<Guest, Promise<void>>()
  const elapsed = stopwatch()
  const count = (which: (guest: Guest) => boolean): number => [...running.keys()].filter(which).length
  const isTurnOf = ({ accountId, isSilent }: Guest): boolean =>
    running.size < AT_ONCE &&
    count((each) => each.accountId === accountId) < AT_ONCE_OF_ACCOUNT &&
    !(isSilent && count((each) => each.isSilent) >= AT_ONCE_SILENT)
  for (;;) {
    const isOver = stopping?.aborted || elapsed() > RUN_MS
    // One that finishes while the due ones are read is still among them.
    const asked = new Set([...running.keys()].map(({ vmId }) => vmId))
    const due = isOver ? [] : byVm(await dueGuests(deps.db, deps.clock.now()))
    for (const guest of due) {
      if (asked.has(guest.vmId) || failed.has(guest.vmId) || !isTurnOf(guest)) continue
      const answer = configure(deps, guest).then((isDone) => void (isDone || failed.add(guest.vmId)))
      running.set(
        guest,
        answer.finally(() => running.delete(guest)),
      )
    }
    if (running.size === 0) return
    await Promise.race([...running.values(), sleep(LOOK_EVERY_MS)])
  }
})

/** In the order of the first address of each. */
function byVm(rows: DueGuest[]): Guest[] {
  const guests = new Map<string, Guest>()
  for (const { id, vm_id: vmId, account_id: accountId, guest_reason } of rows) {
    const guest = guests.get(vmId) ?? { vmId, accountId, isSilent: false, addressIds: [] }
    guest.addressIds.push(id)
    guest.isSilent ||= guest_reason !== null
    guests.set(vmId, guest)
  }
  return [...guests.values()]
}

/** An agent that does not answer is asked once, not for each address. Resolves to false where it stays due. */
async function configure(deps: Deps, { vmId, addressIds }: Guest): Promise<boolean> {
  let [silence, isDone]: [GuestOutcome | undefined, boolean] = [undefined, true]
  for (const id of addressIds) {
    try {
      const outcome: GuestOutcome = silence ?? (await configureGuest(deps, id, vmId, AbortSignal.timeout(TIMEOUT_MS)))
      if (outcome.state === 'PENDING' && outcome.dueAt !== null) silence = outcome
      await setGuestState(deps.db, deps.clock.now(), id, vmId, outcome)
    } catch (error) {
      isDone = false
      deps.log.warn({ err: error, addressId: id }, 'reconciling guest address failed; will retry')
    }
  }
  return isDone
}
