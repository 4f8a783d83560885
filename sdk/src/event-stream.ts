// The account's events as they happen. The stream may be cut at any time: it is opened again and goes on after the last event that came.
import type { Api } from './api.ts'
import { NetworkError } from './errors.ts'
import type { Event } from './generated/schemas.ts'
import { backoffMs } from './pipeline/retry.ts'
import { readFrames, type Frame } from './server-sent-events.ts'

export interface StreamOptions {
  /** The cursor of the last event already seen, `'0'` for all there are. Unless given, the stream begins with the next event. */
  after?: string | undefined
  /** Ends the stream: it then throws the signal's reason. To end it quietly, leave the loop. */
  signal?: AbortSignal | undefined
  /** Told each time the server has begun to answer: from then on nothing is missed. */
  onOpen?: (() => void) | undefined
  /** Told each time the stream is opened again, with the reason and the cursor it goes on from. */
  onReconnect?: ((reason: Error, after: string | null) => void) | undefined
  /** How often opening it the first time is tried again. Once it was open, it is opened again for as long as it takes. */
  maxRetries?: number | undefined
}

/** The server says every 15 seconds that it lives. */
const QUIET_MS = 45_000
const FIRST_PAUSE_MS = 2_000

export async function* followEvents(api: Api, options: StreamOptions = {}): AsyncGenerator<Event, void, undefined> {
  const { signal, onOpen, onReconnect } = options
  let after = options.after ?? null
  let pauseMs = FIRST_PAUSE_MS
  let maxRetries = options.maxRetries
  for (let cuts = 0; ; cuts++) {
    const response = await openAt(api, after, signal, maxRetries)
    maxRetries = Infinity
    onOpen?.()
    let reason = new NetworkError('The event stream has ended')
    try {
      for await (const { id, data, retryMs } of framesOf(response, signal)) {
        pauseMs = retryMs ?? pauseMs
        after = id || after
        if (data === null) continue
        cuts = 0
        yield JSON.parse(data) as Event
      }
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause // what a connection that breaks off is called by fetch
      reason = new NetworkError(`The event stream was cut: ${cause.message}`, { cause })
    }
    signal?.throwIfAborted()
    onReconnect?.(reason, after)
    await api.sleep(backoffMs(cuts, pauseMs), signal)
  }
}

const framesOf = ({ body }: Response, signal?: AbortSignal): AsyncGenerator<Frame> => readFrames(body!, { quietMs: QUIET_MS, signal })

function openAt(api: Api, after: string | null, signal?: AbortSignal, maxRetries?: number): Promise<Response> {
  const headers = { accept: 'text/event-stream, application/problem+json', ...(after !== null && { 'last-event-id': after }) }
  return api.openStream({ method: 'GET', path: '/events', headers }, { signal, maxRetries })
}
