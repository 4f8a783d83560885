// Calls the guest agents of VMs, some at a time. A silent agent takes the whole timeout, so neither the guests of one payer nor silent ones have all
// turns; what becomes due meanwhile gets the next free one.
import { parseDurationMs, sleep, stopwatch } from '../../../kernel/clock.ts'
import type { Deps } from '../../deps.ts'
import { markGuestAddressesDue } from '../../hosts/public-addresses.ts'
import { markGuestRoutesDue } from '../../networks/service.ts'

/** Of all calls to a guest together, with the wait for their turns at its host: a guest has 15 seconds to answer one. */
export const GUEST_TIMEOUT_MS = 30_000
const AT_ONCE = 8
const AT_ONCE_OF_PAYER = 2
const AT_ONCE_SILENT = 4
const LOOK_EVERY_MS = 200
const RETRY_FAILED_MS = 60_000

/** A guest is asked again after as long as it has been silent already, within these. */
const RETRY = { first: '10s', last: '10m' }
/** A guest may lose what it was told without a reboot, for example when its owner restarts its network. */
export const LOOK_AGAIN = '10m'

/** Call it when a guest has booted: it has lost what it was told while it ran. */
export async function markGuestDue({ db, clock }: Pick<Deps, 'db' | 'clock'>, vmId: string): Promise<void> {
  await markGuestAddressesDue(db, clock.now(), vmId)
  await markGuestRoutesDue(db, clock.now(), vmId)
}

export interface DueGuest {
  vmId: string
  payerId: string
  /** When it was asked last. */
  isSilent: boolean
}

/** Until nobody is due. `ask` resolves to false where the guest stays due: it is asked again after a minute if that has not ended, or in the next run. */
export async function askGuests<G extends DueGuest>(
  due: () => Promise<G[]>,
  ask: (guest: G) => Promise<boolean>,
  stopping?: AbortSignal,
): Promise<void> {
  /** By VM, when. */
  const failed = new Map<string, number>()
  const running = new Map<G, Promise<void>>()
  const elapsed = stopwatch()
  const count = (which: (guest: G) => boolean): number => [...running.keys()].filter(which).length
  const isTurnOf = ({ payerId, isSilent }: G): boolean =>
    running.size < AT_ONCE &&
    count((each) => each.payerId === payerId) < AT_ONCE_OF_PAYER &&
    !(isSilent && count((each) => each.isSilent) >= AT_ONCE_SILENT)
  for (;;) {
    // One that finishes while the due ones are read is still among them.
    const asked = new Set([...running.keys()].map(({ vmId }) => vmId))
    for (const guest of stopping?.aborted ? [] : await due()) {
      const failedMs = elapsed() - (failed.get(guest.vmId) ?? -Infinity)
      if (asked.has(guest.vmId) || failedMs < RETRY_FAILED_MS || !isTurnOf(guest)) continue
      const answer = ask(guest).then((isDone) => void (isDone || failed.set(guest.vmId, elapsed())))
      running.set(
        guest,
        answer.finally(() => running.delete(guest)),
      )
    }
    if (running.size === 0) return
    await Promise.race([...running.values(), sleep(LOOK_EVERY_MS)])
  }
}

/** `silentSince`: null for the first time. */
export function nextTry(now: Date, silentSince: Date | null): Date {
  const silentMs = silentSince === null ? 0 : now.getTime() - silentSince.getTime()
  return new Date(now.getTime() + Math.min(Math.max(silentMs, parseDurationMs(RETRY.first)), parseDurationMs(RETRY.last)))
}
