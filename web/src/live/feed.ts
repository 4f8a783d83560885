// One event stream per visible tab. Browsers limit HTTP/1.1 to six connections per server, so a hidden tab closes its stream. While the stream
// is down, the same log is polled every two seconds and the stream is reopened. Both resume after the last cursor, so that no event is lost or
// delivered twice.
import type { Event } from '@berth/sdk'
import { berth } from '../api/berth.ts'

export type FeedState = 'connecting' | 'live' | 'polling' | 'offline'

interface Listener {
  onEvent: (event: Event) => void
  onState: (state: FeedState) => void
  /** Events may have been missed. */
  onGap: () => void
}

const POLL_MS = 2_000
/** Some proxies buffer streams: abort if the response does not start in time. */
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
      isOffline = true // until a request succeeds
    }
  }
}

/** Resolves when the stream ends for any reason, with the cursor to resume from, if known. */
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
  addEventListener('offline', () => abort.abort(), { signal: streamSignal }) // faster than the read timeout
  document.addEventListener('visibilitychange', () => document.hidden && abort.abort(), { signal: streamSignal })
  const openTimer = setTimeout(() => abort.abort(), OPEN_TIMEOUT_MS)
  const onOpen = (): void => {
    clearTimeout(openTimer)
    onOpened()
  }
  try {
    for await (const event of berth.events.stream({ after, signal: streamSignal, maxRetries: 0, onOpen, onReconnect })) onEvent(event)
  } catch {
    // Disconnected, rejected or timed out: the caller polls.
  } finally {
    clearTimeout(openTimer)
    abort.abort() // removes the listeners of this stream
  }
  return cursor
}

/** Resolves when the tab becomes visible or the signal is aborted. */
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
