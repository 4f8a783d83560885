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
  const take = (event: Event): void => {
    after = event.cursor
    onEvent(event)
  }
  while (!signal.aborted) {
    await readStream(after, take, () => onState('live'), signal)
    if (signal.aborted) return
    onState('polling')
    await pause(POLL_MS, signal)
    try {
      if (after === undefined) onGap()
      else for (const event of await berth.events.page({ after }, { signal, maxRetries: 0 })) take(event)
    } catch {
      if (!signal.aborted) onState('offline') // until an answer comes, there is nothing better to say
    }
  }
}

/** Ends when the stream is cut, for whatever reason. */
async function readStream(after: string | undefined, take: (event: Event) => void, opened: () => void, signal: AbortSignal): Promise<void> {
  const cut = new AbortController()
  const both = AbortSignal.any([signal, cut.signal])
  const stream = berth.events.stream({ after, signal: both, maxRetries: 0, onReconnect: () => cut.abort() })
  const shown = setTimeout(opened, 1_000) // a refusal comes sooner than that
  try {
    for await (const event of stream) {
      opened()
      take(event)
    }
  } catch {
    // Cut, refused or given up: the caller asks on.
  } finally {
    clearTimeout(shown)
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
