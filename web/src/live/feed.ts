// One stream of events per tab that is in sight. Browsers open six connections to a server and no more (over HTTP/1.1), so a tab out of sight
// gives its own back. While the stream is cut, the same log is asked every two seconds, and it is opened again. Both go on after the last event
// seen, so nothing is missed and nothing comes twice.
import type { Event } from '@berth/sdk'
import { berth } from '../api/berth.ts'

export type FeedState = 'connecting' | 'live' | 'polling' | 'offline'

interface Listener {
  onEvent: (event: Event) => void
  onState: (state: FeedState) => void
  /** Something may have happened while nobody listened. */
  onGap: () => void
}

const POLL_MS = 2_000
/** Some proxies keep a stream to themselves: it is cut where no answer to it begins. */
const OPEN_WITHIN_MS = 2_000
const ANSWER_WITHIN_MS = 10_000

export async function followFeed({ onEvent, onState, onGap }: Listener, signal: AbortSignal): Promise<void> {
  let after: string | undefined
  let isAway = false
  let isFirst = true
  const take = (event: Event): void => {
    after = event.cursor
    onEvent(event)
  }
  const opened = (): void => {
    isAway = false
    onState('live')
    if (!isFirst && after === undefined) onGap()
  }
  while (!signal.aborted) {
    await inSight(signal)
    const soonest = pause(POLL_MS, signal)
    after = (await readStream(after, take, opened, signal)) ?? after
    isFirst = false
    if (signal.aborted) return
    onState(document.hidden ? 'connecting' : isAway ? 'offline' : 'polling')
    if (document.hidden) continue
    await soonest
    try {
      const limit = after === undefined ? 1 : 100
      const events = await berth.events.page({ after, limit }, { signal, maxRetries: 0, timeoutMs: ANSWER_WITHIN_MS })
      isAway = false
      if (after === undefined) onGap()
      else for (const event of events) take(event)
    } catch {
      isAway = true // until an answer comes, there is nothing better to say
    }
  }
}

/** Ends when the stream is cut, for whatever reason; answers the cursor to go on from, where one is known. */
async function readStream(
  after: string | undefined,
  take: (event: Event) => void,
  opened: () => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const cut = new AbortController()
  const both = AbortSignal.any([signal, cut.signal])
  let cursor: string | undefined
  const onReconnect = (_: Error, known: string | null): void => {
    cursor = known ?? undefined
    cut.abort()
  }
  addEventListener('offline', () => cut.abort(), { signal: both }) // sooner than the silence tells
  document.addEventListener('visibilitychange', () => document.hidden && cut.abort(), { signal: both })
  const late = setTimeout(() => cut.abort(), OPEN_WITHIN_MS)
  const onOpen = (): void => {
    clearTimeout(late)
    opened()
  }
  try {
    for await (const event of berth.events.stream({ after, signal: both, maxRetries: 0, onOpen, onReconnect })) take(event)
  } catch {
    // Cut, refused or given up: the caller asks on.
  } finally {
    clearTimeout(late)
    cut.abort() // nobody listens for this stream any more
  }
  return cursor
}

/** Resolves when the tab is looked at, or the signal aborted. */
const inSight = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = new AbortController()
    const look = (): void => {
      if (document.hidden && !signal.aborted) return
      done.abort()
      resolve()
    }
    document.addEventListener('visibilitychange', look, { signal: done.signal })
    signal.addEventListener('abort', look, { signal: done.signal })
    look()
  })

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
