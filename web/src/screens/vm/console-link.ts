// What to do when a console closes: the codes are those of the API (docs/guide/consoles.md).

export type CloseCause =
  | 'closed'
  | 'draining'
  | 'stopped'
  | 'taken_over'
  | 'suspended'
  | 'deleted'
  | 'idle'
  | 'too_long'
  | 'host_ended'
  | 'revoked'
  | 'lost'

const CAUSES: Record<number, CloseCause> = {
  1000: 'closed',
  1001: 'draining',
  4001: 'stopped',
  4002: 'taken_over',
  4003: 'suspended',
  4004: 'deleted',
  4005: 'idle',
  4006: 'too_long',
  4007: 'host_ended',
  4008: 'revoked',
}

export const causeOf = (code: number): CloseCause => CAUSES[code] ?? 'lost'

/** Not where a person decided otherwise, where two pages would take the console from each other for ever, or where there is nothing to come
 *  back to. */
const COMES_BACK: readonly CloseCause[] = ['draining', 'stopped', 'too_long', 'host_ended', 'lost']

export const reconnects = (cause: CloseCause): boolean => COMES_BACK.includes(cause)

const DELAYS_S = [1, 2, 4, 8, 15, 30]
const MOST_ATTEMPTS = 40

/** Seconds until the next attempt, the first of which is 0; null when it is given up. A VM that has stopped is there again soon after a reboot. */
export const delayOf = (attempt: number): number | null =>
  attempt >= MOST_ATTEMPTS ? null : DELAYS_S[Math.min(attempt, DELAYS_S.length - 1)]!
