// HTTP requests to URLs chosen by customers. SSRF guard: the URL, every address its name resolves to, and the address actually connected to
// are checked, so DNS rebinding reaches nothing internal. Redirects of a POST are not followed. Errors are worded for the owner of the receiver.
import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { stopwatch } from '../clock.ts'
import { canonicalAddress, isPublicAddress, NOT_PUBLIC, urlRejectionReason, type UrlRules } from './url-policy.ts'

export interface Outbound {
  /** Why this URL may not be called, or null. A name that does not resolve is allowed: it may resolve later. */
  rejectionReason(url: string): Promise<string | null>
  /** Never throws. An incomplete response is an error; `signal` stops the request. */
  post(url: string, headers: Record<string, string>, body: string, signal?: AbortSignal): Promise<HttpExchange>
  /** The body of a GET. Every redirect is checked like the URL itself. Rejects with the reason, worded for the owner of the URL. */
  download(url: string, signal: AbortSignal): Promise<Readable>
  close(): Promise<void>
}

export type Resolve = (host: string) => Promise<LookupAddress[]>

export interface OutboundOptions extends UrlRules {
  timeoutMs?: number
  /** From when on a download has to keep its pace. */
  slowAfterMs?: number
  resolve?: Resolve
}

/** How long registering a URL may wait for name resolution. */
const LOOKUP_TIMEOUT_MS = 2_000

export function openOutbound({ timeoutMs = 15_000, slowAfterMs = 60_000, ...options }: OutboundOptions): Outbound {
  const { allowPrivate } = options
  const resolve = options.resolve ?? (allowPrivate ? resolveBySystem : resolveByDns)
  const isAllowed = (address: string): boolean => allowPrivate || (isPublicAddress(address) && !isOwn(address))
  const resolveAllowed: Resolve = async (host) => {
    const addresses = await resolve(host)
    if (addresses.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
    if (!addresses.every(({ address }) => isAllowed(address))) throw new NotAllowed()
    return addresses
  }
  let agent: Promise<Agent> | undefined
  const openedAgent = (): Promise<Agent> => (agent ??= openAgent(resolveAllowed, isAllowed, timeoutMs))
  return {
    async rejectionReason(url) {
      const reason = urlRejectionReason(url, options)
      const host = URL.parse(url)?.hostname ?? ''
      if (reason || allowPrivate || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return reason
      return Promise.race([
        resolveAllowed(host).then(() => null, reasonOf),
        new Promise<null>((done) => setTimeout(done, LOOKUP_TIMEOUT_MS, null).unref()),
      ])
    },
    async post(url, headers, body, signal) {
      const reason = urlRejectionReason(url, options)
      if (reason) return { status: null, error: `the URL may not be called: ${reason}`, retryAfter: null, body: '', latencyMs: 0 }
      return postWithDeadline(await openedAgent(), url, { headers, body, timeoutMs, ...(signal && { signal }) })
    },
    download: async (url, signal) =>
      Readable.from(
        keepingPace(await download(await openedAgent(), url, (next) => urlRejectionReason(next, options), signal), slowAfterMs),
        { objectMode: false },
      ),
    close: async () => (await agent)?.destroy(),
  }
}

class NotAllowed extends Error {
  constructor() {
    super(NOT_PUBLIC)
  }
}

const reasonOf = (error: unknown): string | null => (error instanceof NotAllowed ? error.message : null)

/** Uses DNS directly: getaddrinfo would occupy the thread pool, where two slow name servers block file access too. Ignores /etc/hosts. */
async function resolveByDns(host: string): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return found.flatMap((each, i) =>
    each.status === 'fulfilled' ? each.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
  )
}

const resolveBySystem: Resolve = (host) => systemLookup(host, { all: true })

const isOwn = (address: string): boolean =>
  Object.values(networkInterfaces()).some((list) => list?.some((each) => canonicalAddress(each.address) === canonicalAddress(address)))

/** undici takes 0.1 s to load, so it is imported with the first request. */
async function openAgent(resolve: Resolve, isAllowed: (address: string) => boolean, timeoutMs: number): Promise<Agent> {
  const undici = await import('undici')
  return new undici.Agent({
    connect: guardedConnector(undici.buildConnector, resolve, isAllowed, timeoutMs),
    allowH2: false,
    headersTimeout: 0, // postWithDeadline limits the whole request
    bodyTimeout: 0,
  })
}

function guardedConnector(
  connector: typeof buildConnector,
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
  timeout: number,
): buildConnector.connector {
  const ask = callbackify(resolve)
  const lookup: LookupFunction = (host, { all }, callback) =>
    ask(host, (error, found) => {
      if (error) callback(error, [])
      else if (all) callback(null, found)
      else callback(null, found[0]!.address, found[0]!.family)
    })
  const dial = connector({ allowH2: false, timeout, lookup }) as (...parameters: Parameters<buildConnector.connector>) => Socket
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    // Node does not call `lookup` for a literal address.
    if (isIP(host) !== 0 && !isAllowed(host)) return callback(new NotAllowed(), null)
    const socket = dial(options, callback)
    socket.once('connect', () => {
      if (!isAllowed(socket.remoteAddress ?? '')) socket.destroy(new NotAllowed()) // before the TLS handshake and before any data is sent
    })
  }
}

export interface HttpExchange {
  /** Null when no status line arrived. */
  status: number | null
  /** Why the response is incomplete, or null. */
  error: string | null
  retryAfter: string | null
  /** The beginning of the response as text. */
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
/** The rest of a longer response is not read. */
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

const MAX_REDIRECTS = 5
/** Until the answer begins, and between two parts of it. */
const SILENCE_MS = 30_000

async function download(
  dispatcher: Dispatcher,
  url: string,
  rejectionReason: (url: string) => string | null,
  signal: AbortSignal,
): Promise<Readable> {
  let next = url
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const reason = rejectionReason(next)
    if (reason) throw new DownloadError(`${hops === 0 ? 'the URL' : 'what it redirects to'} may not be called: ${reason}`)
    const { origin, pathname, search } = new URL(next)
    const request = { origin, path: pathname + search, method: 'GET', headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS, signal } as const
    const { statusCode, headers, body } = await dispatcher.request(request).catch((error: Error) => {
      signal.throwIfAborted()
      throw new DownloadError(explain(error), { cause: error })
    })
    const location = statusCode >= 300 && statusCode < 400 ? headers['location']?.toString() : undefined
    if (location === undefined && statusCode === 200) return body
    body.on('error', () => {}).destroy()
    if (location === undefined) throw new DownloadError(`it answered ${statusCode}`)
    if (!URL.canParse(location, next)) throw new DownloadError('it redirects to what is no URL')
    next = new URL(location, next).href
  }
  throw new DownloadError(`it redirects more than ${MAX_REDIRECTS} times`)
}

const MIN_BYTES_PER_SECOND = 128 * 1024

/** A server that sends a little now and then would hold whoever reads from it for hours. */
async function* keepingPace(bytes: Readable, slowAfterMs: number): AsyncGenerator<Buffer> {
  const passedMs = stopwatch()
  let received = 0
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    received += chunk.length
    if (passedMs() > slowAfterMs && received < (passedMs() / 1000) * MIN_BYTES_PER_SECOND)
      throw new DownloadError(`it sends less than ${MIN_BYTES_PER_SECOND / 1024} KiB a second`)
    yield chunk
  }
}

export class DownloadError extends Error {}

/** Without NUL, so that PostgreSQL can store it. */
const readable = (chunks: Buffer[]): string => Buffer.concat(chunks).toString().replaceAll('\0', '')

const ERROR_MESSAGES: [RegExp, string][] = [
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
  const [first] = error.errors ?? [] // one error per address tried
  if (first) return explain(first)
  const { code = error.name } = error
  const known = ERROR_MESSAGES.find(([pattern]) => pattern.test(code))
  return known ? `${known[1]} (${code})` : error.message
}
