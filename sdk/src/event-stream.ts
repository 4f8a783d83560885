// Streams the account's events. After a disconnect the stream is reopened with the id of the last event received.
import type { Api } from './api.ts'
import { NetworkError } from './errors.ts'
import type { Event } from './generated/openapi.ts'
import { backoffMs } from './pipeline/retry.ts'
import { readFrames, type Frame } from './server-sent-events.ts'

export interface StreamOptions {
  /** Cursor of the last event already processed, `'0'` for all. Default: only new events. */
  after?: string | undefined
  /** Only events of resources with such labels. */
  labelSelector?: string | undefined
  /** Ends the stream, which then throws the signal's reason. To end it without an error, leave the loop. */
  signal?: AbortSignal | undefined
  /** Called each time the server has started to respond: no event after this point is missed. */
  onOpen?: (() => void) | undefined
  /** Called before each reconnect with the reason and the cursor it resumes from. */
  onReconnect?: ((reason: Error, after: string | null) => void) | undefined
  /** Retries of the first connect. Reconnects after that are retried without limit. */
  maxRetries?: number | undefined
}

/** The server sends a keep-alive every 15 seconds. */
const IDLE_TIMEOUT_MS = 45_000
const DEFAULT_RETRY_MS = 2_000

export async function* streamEvents(api: Api, options: StreamOptions = {}): AsyncGenerator<Event, void, undefined> {
  const { signal, onOpen, onReconnect } = options
  let after = options.after ?? null
  let pauseMs = DEFAULT_RETRY_MS
  let maxRetries = options.maxRetries
  for (let attempt = 0; ; attempt++) {
    const response = await openStreamAfter(api, options, after, maxRetries)
    maxRetries = Infinity
    onOpen?.()
    let reason = new NetworkError('The event stream has ended')
    try {
      for await (const { id, data, retryMs } of readResponse(response, signal)) {
        pauseMs = retryMs ?? pauseMs
        after = id || after
        if (data === null) continue
        attempt = 0
        yield JSON.parse(data) as Event
      }
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause // fetch reports a broken connection as a TypeError
      reason = new NetworkError(`The event stream was disconnected: ${cause.message}`, { cause })
    }
    signal?.throwIfAborted()
    onReconnect?.(reason, after)
    await api.sleep(backoffMs(attempt, pauseMs), signal)
  }
}

const readResponse = ({ body }: Response, signal?: AbortSignal): AsyncGenerator<Frame> =>
  readFrames(body!, { idleTimeoutMs: IDLE_TIMEOUT_MS, signal })

function openStreamAfter(api: Api, { labelSelector, signal }: StreamOptions, after: string | null, maxRetries?: number): Promise<Response> {
  const headers = { accept: 'text/event-stream, application/problem+json', ...(after !== null && { 'last-event-id': after }) }
  return api.openStream({ method: 'GET', path: '/events', query: { labelSelector }, headers }, { signal, maxRetries })
}
