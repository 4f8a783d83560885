// One POST and its answer, with the time of the whole in view. What went wrong is said in words for the owner of the other side.
import type { Dispatcher } from 'undici'
import { stopwatch } from './clock.ts'

export interface HttpExchange {
  /** Null when no status line arrived. */
  status: number | null
  /** What kept the answer from arriving whole, or null. */
  error: string | null
  retryAfter: string | null
  /** The beginning of the answer, as text. */
  body: string
  latencyMs: number
}

interface Posting {
  headers: Record<string, string>
  body: string
  timeoutMs: number
  signal?: AbortSignal
}

const KEPT_BYTES = 1_024
/** Of a longer answer the rest is not waited for. */
const READ_BYTES = 64 * 1_024

export function postWithDeadline(
  dispatcher: Dispatcher,
  target: string,
  { headers, body, timeoutMs, signal }: Posting,
): Promise<HttpExchange> {
  const { origin, pathname, search } = new URL(target)
  const elapsed = stopwatch()
  const kept: Buffer[] = []
  let [length, status, retryAfter]: [number, number | null, string | null] = [0, null, null]
  let abort: (() => void) | undefined
  return new Promise((resolve) => {
    let over = false
    const end = (error: string | null): void => {
      if (over) return
      over = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', stopped)
      resolve({ status, error, retryAfter, body: readable(kept), latencyMs: Math.round(elapsed()) })
      if (error !== null || length > READ_BYTES) abort?.()
    }
    const timer = setTimeout(() => end(`no complete answer within ${timeoutMs / 1000} seconds`), timeoutMs)
    const stopped = (): void => end('we stopped waiting for the answer')
    signal?.addEventListener('abort', stopped)
    if (signal?.aborted) return stopped()
    dispatcher.dispatch(
      { origin, path: pathname + search, method: 'POST', headers, body },
      {
        onRequestStart(controller) {
          abort = () => controller.abort(new Error('not wanted any more'))
          if (over) abort()
        },
        onResponseStart(_, code, received) {
          if (code < 200) return
          status = code
          retryAfter = received['retry-after']?.toString() ?? null
        },
        onResponseData(_, chunk) {
          if (length < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - length))
          length += chunk.length
          if (length > READ_BYTES) end(null)
        },
        onResponseEnd: () => end(null),
        onResponseError: (_, error) => end(explain(error)),
      },
    )
  })
}

/** As it can be stored and shown: no NUL, no half characters. */
const readable = (chunks: Buffer[]): string => Buffer.concat(chunks).toString().replaceAll('\0', '')

const SENTENCES: [RegExp, string][] = [
  [/^(ENOTFOUND|ENODATA|ESERVFAIL|ETIMEOUT|EAI_\w+)$/, 'the name of the host could not be resolved'],
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the connection was closed before the answer was complete'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'no connection could be made in time'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'the host cannot be reached'],
  [/CERT|^ERR_TLS|SIGNATURE|^UNABLE_TO/, 'the TLS certificate is not valid'],
  [/^(EPROTO|ERR_SSL_\w+)$/, 'the host does not speak TLS as it should'],
  [/^(HPE_|UND_ERR_(RES|HEADERS_OVERFLOW)|HTTPParserError)/, 'what it answered is not valid HTTP'],
]

function explain(error: Error & { code?: string; errors?: Error[] }): string {
  const [first] = error.errors ?? [] // one error for each address that was tried
  if (first) return explain(first)
  const { code = error.name } = error
  const known = SENTENCES.find(([pattern]) => pattern.test(code))
  return known ? `${known[1]} (${code})` : error.message
}
