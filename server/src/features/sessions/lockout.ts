// Limits failed sign-ins. Attempts are counted before they are checked, so that concurrent ones cannot exceed the limit, and uncounted
// when they succeed. One client (an IPv4 address or IPv6 /64) gets few attempts per user, all addresses together some more; after that only addresses from which
// the user has signed in before may try. Attackers cannot guess further and cannot lock the user out. Codes of a second factor
// are limited likewise.
import type { Counters } from '../../kernel/database/window-counters.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { ApiError, type ErrorCode } from '../../kernel/errors.ts'
import { clientNetwork } from '../../kernel/net/client-network.ts'

const WINDOW_MS = parseDurationMs('15m')
const WRONG: ErrorCode[] = ['wrong_credentials', 'wrong_totp', 'identity_refused']

export interface AttemptLimit {
  key: string
  most: number
}

export const attemptLimits = {
  address: (ip: string): AttemptLimit => ({ key: `address:${clientNetwork(ip)}`, most: 50 }),
  /** Anybody can return with a code that they made up, and then the provider is asked. */
  returnAt: (ip: string): AttemptLimit => ({ key: `return:${clientNetwork(ip)}`, most: 50 }),
  userAt: (email: string, ip: string): AttemptLimit => ({ key: `person:${email}:${clientNetwork(ip)}`, most: 10 }),
  user: (email: string): AttemptLimit => ({ key: `person:${email}`, most: 50 }),
  /** Reached only with the right password. */
  code: (userId: string): AttemptLimit => ({ key: `code:${userId}`, most: 10 }),
  /** The same for a known address or a session, which others cannot use up. */
  codeAt: (userId: string, known: string): AttemptLimit => ({ key: `code:${userId}:${known}`, most: 10 }),
}

/** Stops at the first limit that is reached: the attempt does not run and does not count against later limits. */
export async function withAttemptLimits<T>(counters: Counters, all: AttemptLimit[], attempt: () => Promise<T>): Promise<T> {
  const counted: AttemptLimit[] = []
  const giveBack = () => Promise.all(counted.map((bar) => counters.add(keyOf(bar), -1, WINDOW_MS)))
  for (const bar of all) {
    const { count, resetMs } = await counters.add(keyOf(bar), 1, WINDOW_MS)
    if (count > bar.most) {
      await giveBack()
      throw tooMany(resetMs)
    }
    counted.push(bar)
  }
  try {
    const result = await attempt()
    await giveBack()
    return result
  } catch (error) {
    if (!(error instanceof ApiError && WRONG.includes(error.code))) await giveBack()
    throw error
  }
}

const keyOf = ({ key }: AttemptLimit): string => `tries:${key}`

function tooMany(resetMs: number): ApiError {
  const minutes = Math.max(1, Math.ceil(resetMs / 60_000))
  const sentence = `Too many wrong attempts: try again in ${minutes} minute${minutes === 1 ? '' : 's'}, or reset the password`
  return new ApiError('rate_limited', sentence, [], Math.max(1, Math.ceil(resetMs / 1000)))
}
