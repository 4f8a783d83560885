// Two limits per minute: per token or user once authenticated, per IPv4 address or IPv6 /64 for everything else. Every response carries its state.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Counters } from '../../kernel/database/window-counters.ts'
import { apiError, type ApiError } from '../../kernel/errors.ts'
import { clientNetwork } from '../../kernel/net/client-network.ts'
import type { Principal } from './principal.ts'

const WINDOW_MS = 60_000
const REQUESTS_PER_IP = 100

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
  /** Headers for a response that was not charged. */
  describe(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Charges an address whose bytes never became a request. */
  chargeSocket(address: string): Promise<RateLimitState>
}

export function rateLimit(counters: Counters): RateLimit {
  const count = async (bucket: string, key: string, limit: number, by: number): Promise<RateLimitState> => {
    const { count, resetMs } = await counters.add(key, by, WINDOW_MS)
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
  const ofAddress = (address: string, by: number): Promise<RateLimitState> =>
    count('per IP', `ip:${clientNetwork(address)}`, REQUESTS_PER_IP, by)
  return {
    limitActor: async (reply, { actorType, actorId, requestsPerMinute }) =>
      apply(reply, await count(`per ${actorType}`, `${actorType}:${actorId}`, requestsPerMinute, 1)),
    limitIp: async (request, reply) => apply(reply, await ofAddress(request.ip, 1)),
    describe: async (request, reply) => apply(reply, await ofAddress(request.ip, 0)),
    chargeSocket: (address) => ofAddress(address, 1),
  }
}
