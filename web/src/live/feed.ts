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
const OPEN_TIMEOUT_MS = 2_000
const POLL_TIMEOUT_MS = 10_000

export async function followFeed({ onEvent, onState, onGap }: Listener, signal: AbortSignal): Promise<void> {
  let after: string | undefined
  let isOffline = false
  let isFirst = true
  const accept = (event: Event): void => {
    after = event.cursor
    onEvent(event)
  }
  const onOpened = (): void => {
    isOffline = false
    onState('live')
    if (!isFirst && after === undefined) onGap()
  }
  while (!signal.aborted) {
    await waitUntilVisible(signal)
    const nextPoll = sleep(POLL_MS, signal)
    after = (await readStream(after, accept, onOpened, signal)) ?? after
    isFirst = false
    if (signal.aborted) return
    onState(document.hidden ? 'connecting' : isOffline ? 'offline' : 'polling')
    if (document.hidden) continue
    await nextPoll
    try {
      const limit = after === undefined ? 1 : 100
      const events = await berth.events.page({ after, limit }, { signal, maxRetries: 0, timeoutMs: POLL_TIMEOUT_MS })
      isOffline = false
      if (after === undefined) onGap()
      else for (const event of events) accept(event)
    } catch {
      isOffline = true // until an answer comes, there is nothing better to say
    }
  }
}

/** Ends when the stream is cut, for whatever reason; answers the cursor to go on from, where one is known. */
async function readStream(
  after: string | undefined,
  onEvent: (event: Event) => void,
  onOpened: () => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const abort = new AbortController()
  const streamSignal = AbortSignal.any([signal, abort.signal])
  let cursor: string | undefined
  const onReconnect = (_: Error, known: string | null): void => {
    cursor = known ?? undefined
    abort.abort()
  }
  addEventListener('offline', () => abort.abort(), { signal: streamSignal }) // sooner than the silence tells
  document.addEventListener('visibilitychange', () => document.hidden && abort.abort(), { signal: streamSignal })
  const openTimer = setTimeout(() => abort.abort(), OPEN_TIMEOUT_MS)
  const onOpen = (): void => {
    clearTimeout(openTimer)
    onOpened()
  }
  try {
    for await (const event of berth.events.stream({ after, signal: streamSignal, maxRetries: 0, onOpen, onReconnect })) onEvent(event)
  } catch {
    // Cut, refused or given up: the caller asks on.
  } finally {
    clearTimeout(openTimer)
    abort.abort() // nobody listens for this stream any more
  }
  return cursor
}

/** Resolves when the tab is looked at, or the signal aborted. */
const waitUntilVisible = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = new AbortController()
    const check = (): void => {
      if (document.hidden && !signal.aborted) return
      done.abort()
      resolve()
    }
    document.addEventListener('visibilitychange', check, { signal: done.signal })
    signal.addEventListener('abort', check, { signal: done.signal })
    check()
  })

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
