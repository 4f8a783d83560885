// Two limits per minute: per token or user once authenticated, per IPv4 address or IPv6 /64 (and its site) for everything else. Every response carries its state.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import type { Count, Counters } from '../../kernel/database/window-counters.ts'
import { apiError, type ApiError } from '../../kernel/errors.ts'
import { clientNetwork, siteNetworks } from '../../kernel/net/client-network.ts'
import type { Principal } from './principal.ts'

const WINDOW_MS = 60_000
const REQUESTS_PER_IP = 100
/** Of all networks in an IPv6 prefix together: rotating them brings no more than this. */
const REQUESTS_PER_SITE = { 56: 400, 48: 1_600 }

/** Headers of a response that is not rate limited, without asking the counter store. */
export const UNLIMITED_HEADERS = {
  'x-ratelimit-limit': REQUESTS_PER_IP,
  'x-ratelimit-remaining': REQUESTS_PER_IP,
  'x-ratelimit-reset': WINDOW_MS / 1000,
}

export interface RateLimitState {
  headers: Record<string, string | number>
  /** Set when the limit is exceeded. */
  error: ApiError | null
}

export interface RateLimit {
  limitActor(reply: FastifyReply, principal: Principal): Promise<void>
  limitIp(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /**
   * Before a credential is looked up. Where the address has used up its requests, only a credential that worked before is looked up
   * without limit, and a few others a second: guesses cost no query, and a new token works there still.
   */
  limitLookUp(request: FastifyRequest, reply: FastifyReply, hasWorked: () => boolean): void
  /** Headers for a response that was not charged. */
  describe(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Charges an address whose bytes never became a request. */
  chargeSocket(address: string): Promise<RateLimitState>
}

/** A bucket that this process has seen exceeded: it is refused from memory until its window ends. */
interface Exceeded {
  endsAt: number
  second: number
  lookUps: number
}

const MAX_EXCEEDED = 10_000
const LOOK_UPS_PER_SECOND = 10

/** The client's own first. */
const networksOf = (address: string): { network: string; limit: number }[] => [
  { network: clientNetwork(address), limit: REQUESTS_PER_IP },
  ...siteNetworks(address).map(({ network, prefix }) => ({ network, limit: REQUESTS_PER_SITE[prefix] })),
]

export function rateLimit(counters: Counters, clock: Clock = systemClock): RateLimit {
  const exceeded = new Map<string, Exceeded>()
  const nowMs = (): number => clock.now().getTime()

  const stateOf = (bucket: string, limit: number, { count, resetMs }: Count, by: number): RateLimitState => {
    const seconds = Math.max(1, Math.ceil(resetMs / 1000))
    const headers = { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': Math.max(0, limit - count), 'x-ratelimit-reset': seconds }
    if (by === 0 || count <= limit) return { headers, error: null }
    const error = apiError('rate_limited', `Rate limit exceeded (${bucket}): retry in ${seconds} second${seconds === 1 ? '' : 's'}`)
    return { headers: { ...headers, 'retry-after': seconds }, error }
  }
  const apply = (reply: FastifyReply, { headers, error }: RateLimitState): void => {
    for (const name in headers) reply.header(name, headers[name])
    if (error) throw error
  }

  const findExceeded = (networks: { network: string }[]): Exceeded | undefined => {
    for (const { network } of networks) {
      const found = exceeded.get(network)
      if (found && found.endsAt > nowMs()) return found
      if (found) exceeded.delete(network)
    }
    return undefined
  }
  const refusal = ({ endsAt }: Exceeded, by: number): RateLimitState =>
    stateOf('per IP', REQUESTS_PER_IP, { count: REQUESTS_PER_IP + 1, resetMs: endsAt - nowMs() }, by)
  const ofAddress = async (address: string, by: number): Promise<RateLimitState> => {
    const networks = networksOf(address)
    const known = findExceeded(networks)
    if (known) return refusal(known, by)
    const counts = await Promise.all(networks.map(({ network }) => counters.add(`ip:${network}`, by, WINDOW_MS)))
    const full = networks.flatMap(({ network, limit }, i) => (counts[i]!.count > limit ? [remember(network, counts[i]!)] : []))
    return full.length > 0 ? refusal(full.at(-1)!, by) : stateOf('per IP', REQUESTS_PER_IP, counts[0]!, by)
  }
  const remember = (network: string, { resetMs }: Count): Exceeded => {
    if (exceeded.size >= MAX_EXCEEDED) exceeded.clear()
    const found = { endsAt: nowMs() + resetMs, second: 0, lookUps: 0 }
    exceeded.set(network, found)
    return found
  }

  return {
    limitActor: async (reply, { actorType, actorId, requestsPerMinute: limit }) =>
      apply(reply, stateOf(`per ${actorType}`, limit, await counters.add(`${actorType}:${actorId}`, 1, WINDOW_MS), 1)),
    limitIp: async (request, reply) => apply(reply, await ofAddress(request.ip, 1)),
    limitLookUp(request, reply, hasWorked) {
      const known = exceeded.size === 0 ? undefined : findExceeded(networksOf(request.ip))
      if (!known || hasWorked()) return
      const second = Math.floor(nowMs() / 1000)
      if (known.second !== second) Object.assign(known, { second, lookUps: 0 })
      if (++known.lookUps > LOOK_UPS_PER_SECOND) apply(reply, refusal(known, 1))
    },
    describe: async (request, reply) => apply(reply, await ofAddress(request.ip, 0)),
    chargeSocket: (address) => ofAddress(address, 1),
  }
}
