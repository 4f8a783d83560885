// Requests to URLs that customers chose. The text of the URL is checked, every address its name leads to, and the address really
// connected to, so that nothing inside can be reached however the name changes its mind. Redirects are not followed.
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { callbackify } from 'node:util'
import type { Agent, buildConnector } from 'undici'
import { canonicalAddress, isPublicAddress, NOT_PUBLIC, urlRejectionReason, type UrlRules } from './public-address.ts'
import { postWithDeadline, type HttpExchange } from './outbound-exchange.ts'

export interface Outbound {
  /** Why this URL may not be called, or null. A name that leads nowhere at the moment is no reason: it may do so later. */
  reasonAgainst(url: string): Promise<string | null>
  /** Never throws. An answer that arrives only in part is an error; `signal` ends it early. */
  post(url: string, headers: Record<string, string>, body: string, signal?: AbortSignal): Promise<HttpExchange>
  close(): Promise<void>
}

export type Resolve = (host: string) => Promise<LookupAddress[]>

export interface OutboundOptions extends UrlRules {
  timeoutMs?: number
  resolve?: Resolve
}

/** How long a customer who gives a URL may be kept waiting for its name. */
const LOOK_MS = 2_000

export function openOutbound({ timeoutMs = 15_000, ...options }: OutboundOptions): Outbound {
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
    async reasonAgainst(url) {
      const reason = urlRejectionReason(url, options)
      const host = URL.parse(url)?.hostname ?? ''
      if (reason || allowPrivate || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return reason
      return Promise.race([
        resolveAllowed(host).then(() => null, reasonOf),
        new Promise<null>((done) => setTimeout(done, LOOK_MS, null).unref()),
      ])
    },
    async post(url, headers, body, signal) {
      const reason = urlRejectionReason(url, options)
      if (reason) return { status: null, error: `the URL may not be called: ${reason}`, retryAfter: null, body: '', latencyMs: 0 }
      return postWithDeadline(await openedAgent(), url, { headers, body, timeoutMs, ...(signal && { signal }) })
    },
    close: async () => (await agent)?.destroy(),
  }
}

class NotAllowed extends Error {
  constructor() {
    super(NOT_PUBLIC)
  }
}

const reasonOf = (error: unknown): string | null => (error instanceof NotAllowed ? error.message : null)

/** Not through the thread pool, where two slow name servers would hold up everybody's look-ups and file access. Knows no /etc/hosts. */
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

/** undici takes a tenth of a second to load: a process that calls nobody does not wait for it when it starts. */
async function openAgent(resolve: Resolve, isAllowed: (address: string) => boolean, timeoutMs: number): Promise<Agent> {
  const undici = await import('undici')
  return new undici.Agent({
    connect: guardedConnector(undici.buildConnector, resolve, isAllowed, timeoutMs),
    allowH2: false,
    headersTimeout: 0, // `exchange` minds the time of the whole
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
    // Node does not ask `lookup` about an address.
    if (isIP(host) !== 0 && !isAllowed(host)) return callback(new NotAllowed(), null)
    const socket = dial(options, callback)
    socket.once('connect', () => {
      if (!isAllowed(socket.remoteAddress ?? '')) socket.destroy(new NotAllowed()) // before TLS, and before a byte of ours
    })
  }
}
