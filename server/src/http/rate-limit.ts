// Two buckets of one minute: per token once a token is proved, per address for everything else. Every response says where it stands.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Counters } from '../kernel/counters.ts'
import { refuse } from '../kernel/errors.ts'
import type { Principal } from './principal.ts'

const WINDOW_MS = 60_000
export const REQUESTS_PER_IP = 100

export interface RateLimit {
  chargeToken(reply: FastifyReply, principal: Principal): Promise<void>
  chargeAddress(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Headers for a response that no bucket was charged for. */
  describe(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

export function rateLimit(counters: Counters): RateLimit {
  const charge = async (reply: FastifyReply, bucket: string, key: string, limit: number, by: number): Promise<void> => {
    const { count, resetMs } = await counters.add(key, by, WINDOW_MS)
    const seconds = Math.max(1, Math.ceil(resetMs / 1000))
    reply
      .header('x-ratelimit-limit', limit)
      .header('x-ratelimit-remaining', Math.max(0, limit - count))
      .header('x-ratelimit-reset', seconds)
    if (by === 0 || count <= limit) return
    reply.header('retry-after', seconds)
    throw refuse('rate_limited', `Rate limit exceeded (${bucket}): retry in ${seconds} seconds`)
  }
  const address = (request: FastifyRequest): string => `ip:${request.ip}`
  return {
    chargeToken: (reply, { actorId, requestsPerMinute }) => charge(reply, 'per token', `token:${actorId}`, requestsPerMinute, 1),
    chargeAddress: (request, reply) => charge(reply, 'per IP', address(request), REQUESTS_PER_IP, 1),
    describe: (request, reply) => charge(reply, 'per IP', address(request), REQUESTS_PER_IP, 0),
  }
}
