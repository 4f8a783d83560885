// One stream of events per tab. While it is cut, the same log is asked every two seconds, and it is opened again; both go on after the last
// event seen, so nothing is missed and nothing comes twice.
import type { Event } from '@berth/sdk'
import { berth } from '../api/berth.ts'

export type FeedState = 'live' | 'polling' | 'offline'

interface Listener {
  onEvent: (event: Event) => void
  onState: (state: FeedState) => void
  /** Something may have happened while nobody listened. */
  onGap: () => void
}

const POLL_MS = 2_000

export async function followFeed({ onEvent, onState, onGap }: Listener, signal: AbortSignal): Promise<void> {
  let after: string | undefined
  let isAway = false
  const take = (event: Event): void => {
    after = event.cursor
    onEvent(event)
  }
  while (!signal.aborted) {
    after = (await readStream(after, take, () => onState('live'), signal)) ?? after
    if (signal.aborted) return
    onState(isAway ? 'offline' : 'polling')
    await pause(POLL_MS, signal)
    try {
      const events = await berth.events.page({ after, limit: after === undefined ? 1 : 100 }, { signal, maxRetries: 0 })
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
  const shown = setTimeout(opened, 1_000) // a refusal comes sooner than that
  try {
    for await (const event of berth.events.stream({ after, signal: both, maxRetries: 0, onReconnect })) {
      opened()
      take(event)
    }
  } catch {
    // Cut, refused or given up: the caller asks on.
  } finally {
    clearTimeout(shown)
  }
  return cursor
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
