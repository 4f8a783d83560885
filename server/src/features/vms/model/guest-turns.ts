// Calls the guest agents of VMs, some at a time. A silent agent takes the whole timeout, so neither the guests of one account nor silent ones have all
// turns; what becomes due meanwhile gets the next free one.
import { parseDurationMs, sleep, stopwatch } from '../../../kernel/clock.ts'
import type { Deps } from '../../deps.ts'
import { markGuestAddressesDue } from '../../hosts/public-addresses.ts'
import { markGuestRoutesDue } from '../../networks/service.ts'

/** Of a call. */
export const GUEST_TIMEOUT_MS = 15_000
const AT_ONCE = 8
const AT_ONCE_OF_ACCOUNT = 2
const AT_ONCE_SILENT = 4
const LOOK_EVERY_MS = 200
/** Whoever is silent all the time must not keep a run from ending. */
const RUN_MS = 60_000

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
  accountId: string
  /** When it was asked last. */
  isSilent: boolean
}

/** `ask` resolves to false where the guest stays due: it is not asked again in this run. */
export async function askGuests<G extends DueGuest>(
  due: () => Promise<G[]>,
  ask: (guest: G) => Promise<boolean>,
  stopping?: AbortSignal,
): Promise<void> {
  const failed = new Set<string>()
  const running = new Map<G, Promise<void>>()
  const elapsed = stopwatch()
  const count = (which: (guest: G) => boolean): number => [...running.keys()].filter(which).length
  const isTurnOf = ({ accountId, isSilent }: G): boolean =>
    running.size < AT_ONCE &&
    count((each) => each.accountId === accountId) < AT_ONCE_OF_ACCOUNT &&
    !(isSilent && count((each) => each.isSilent) >= AT_ONCE_SILENT)
  for (;;) {
    const isOver = stopping?.aborted || elapsed() > RUN_MS
    // One that finishes while the due ones are read is still among them.
    const asked = new Set([...running.keys()].map(({ vmId }) => vmId))
    for (const guest of isOver ? [] : await due()) {
      if (asked.has(guest.vmId) || failed.has(guest.vmId) || !isTurnOf(guest)) continue
      const answer = ask(guest).then((isDone) => void (isDone || failed.add(guest.vmId)))
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
