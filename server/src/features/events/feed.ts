// Server-sent event stream of an account. It reads the event log from a cursor, and NOTIFY only tells it when to read, so an interrupted
// stream resumes without loss or duplicates.
import { Readable } from 'node:stream'
import { shareOf } from '../../http/api/principal.ts'
import type { Db } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { parseSelector } from '../labels/service.ts'
import { EVENTS, lastNumber, markedEventsAfter, type EventRow } from './sql.ts'
import { toEvent } from './view.ts'

/** Keep-alive interval of an idle stream; also the longest delay of an event whose notification was lost. */
const HEARTBEAT_MS = 15_000
/** The stream then ends, and the client reconnects with its cursor. */
const MAX_MS = 15 * 60_000
const STREAMS_PER_SHARE = 10
const ROWS_AT_A_TIME = 100

export interface Followed {
  accountId: string
  /** Whose streams are limited together. */
  payerId?: string
  labelSelector?: string | undefined
}

export interface EventFeed {
  /** `after` is a cursor; null starts at the newest event. The stream ends when `isAdmitted` returns false. */
  stream(of: Followed, after: string | null, signal: AbortSignal, isAdmitted?: () => Promise<boolean>): Promise<Readable>
  /** Ends every stream. */
  close(): Promise<void>
}

export function openEventFeed(db: Db, heartbeatMs = HEARTBEAT_MS): EventFeed {
  const open = new Map<string, Set<() => void>>()
  const counts = new Map<string, number>() // by share
  const closing = new AbortController()
  let listening: Promise<() => Promise<void>> | undefined
  const wakeAll = (): void => open.forEach((streams) => streams.forEach((wake) => wake()))
  const listen = () =>
    (listening ??= db
      .listen(EVENTS, (accountId) => open.get(accountId)?.forEach((wake) => wake()), wakeAll)
      .catch((error: unknown) => {
        listening = undefined
        throw error
      }))

  return {
    async stream({ accountId, payerId = accountId, labelSelector }, after, signal, isAdmitted = async () => true) {
      if (labelSelector !== undefined) parseSelector(labelSelector) // refused before the stream begins
      const share = shareOf({ accountId, payerId })
      const count = counts.get(share) ?? 0
      if (count >= STREAMS_PER_SHARE)
        throw apiError('quota_exceeded', `Quota exceeded: ${STREAMS_PER_SHARE} event streams of this account are open. Close one first`)
      counts.set(share, count + 1)
      const streams = open.get(accountId) ?? new Set()
      const bell = doorbell(AbortSignal.any([signal, closing.signal, AbortSignal.timeout(MAX_MS)]))
      open.set(accountId, streams.add(bell.ring))
      const leave = (): void => {
        if (!streams.delete(bell.ring)) return
        if (streams.size === 0) open.delete(accountId)
        const left = counts.get(share)! - 1
        if (left === 0) counts.delete(share)
        else counts.set(share, left)
      }
      try {
        await listen()
        const from = after === null ? await lastNumber(db, accountId) : BigInt(after)
        return Readable.from(follow(db, { accountId, labelSelector, from, isAdmitted }, bell, heartbeatMs), { objectMode: false }).once(
          'close',
          leave,
        )
      } catch (error) {
        leave()
        throw error
      }
    },
    async close() {
      closing.abort()
      wakeAll()
      await (
        await listening
      )?.()
    },
  }
}

interface Follower {
  accountId: string
  labelSelector: string | undefined
  from: bigint
  isAdmitted: () => Promise<boolean>
}

async function* follow(db: Db, follower: Follower, bell: Doorbell, heartbeatMs: number): AsyncGenerator<string> {
  const { accountId, labelSelector, from, isAdmitted } = follower
  yield `retry: 2000\nid: ${from}\n\n` // sends the cursor first: a client that disconnects before the first event resumes here
  for (let cursor = from; !bell.signal.aborted;) {
    const rung = bell.next(heartbeatMs) // subscribe before reading: a later commit rings
    const events = await markedEventsAfter(db, accountId, cursor, ROWS_AT_A_TIME, labelSelector)
    const quiet = events.length === 0 && (await rung) === 'quiet'
    if ((events.length > 0 || quiet) && !(await isAdmitted())) return
    if (events.length > 0) yield toFrames(events)
    else if (quiet) yield ': still here\n\n'
    cursor = events.at(-1)?.number ?? cursor
  }
}

/** Ends with the cursor of the last one read, from which the client resumes. */
function toFrames(events: (EventRow & { is_selected: boolean })[]): string {
  const frames = events.filter((event) => event.is_selected).map(toFrame)
  const last = events.at(-1)!
  return [...frames, ...(last.is_selected ? [] : [`id: ${last.number}\n\n`])].join('')
}

const toFrame = (row: EventRow): string => `id: ${row.number}\nevent: ${row.type}\ndata: ${JSON.stringify(toEvent(row))}\n\n`

interface Doorbell {
  ring(): void
  /** Resolves at the next ring, on abort, or after `quietMs`. */
  next(quietMs: number): Promise<'rung' | 'quiet'>
  signal: AbortSignal
}

function doorbell(signal: AbortSignal): Doorbell {
  let ring = (): void => {}
  signal.addEventListener('abort', () => ring(), { once: true })
  return {
    ring: () => ring(),
    next: (quietMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, quietMs, 'quiet')
        ring = () => {
          clearTimeout(timer)
          resolve('rung')
        }
        if (signal.aborted) ring()
      }),
    signal,
  }
}
