// Wrong passwords are counted before they are looked at, so that any number at once cannot get past, and given back when they were right.
// One address gets few tries at one person. Many addresses together get some more; then only places from which that person has signed in
// before may still try: strangers can guess no further, and cannot keep anybody out.
import type { Counters } from '../../kernel/counters.ts'
import { milliseconds } from '../../kernel/clock.ts'
import { Refusal, type ErrorCode } from '../../kernel/errors.ts'

const WINDOW_MS = milliseconds('15m')
const WRONG: ErrorCode[] = ['wrong_credentials', 'wrong_totp']

export interface Bar {
  key: string
  most: number
}

export const bars = {
  address: (ip: string): Bar => ({ key: `address:${ip}`, most: 50 }),
  personAt: (email: string, ip: string): Bar => ({ key: `person:${email}:${ip}`, most: 10 }),
  person: (email: string): Bar => ({ key: `person:${email}`, most: 50 }),
  /** Who gets here knows the password already. */
  code: (personId: string): Bar => ({ key: `code:${personId}`, most: 10 }),
}

/** What is behind a bar that was reached is not tried, nor counted by the bars after it. */
export async function guarded<T>(counters: Counters, all: Bar[], attempt: () => Promise<T>): Promise<T> {
  const counted: Bar[] = []
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
    if (!(error instanceof Refusal && WRONG.includes(error.code))) await giveBack()
    throw error
  }
}

const keyOf = ({ key }: Bar): string => `tries:${key}`

function tooMany(resetMs: number): Refusal {
  const minutes = Math.max(1, Math.ceil(resetMs / 60_000))
  const sentence = `Too many wrong attempts: try again in ${minutes} minute${minutes === 1 ? '' : 's'}, or reset the password`
  return new Refusal('rate_limited', sentence, [], Math.max(1, Math.ceil(resetMs / 1000)))
}
