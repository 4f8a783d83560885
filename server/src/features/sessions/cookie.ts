// The session cookie. Over https it has the `__Host-` prefix, so that browsers reject one set by another host or an unencrypted page.
// Plain http cannot use the prefix and is allowed for local access only.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isEncrypted } from '../../http/server/origin.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { LONGEST } from './session-lifecycle.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The value of the response cookie; null deletes it. */
    newCookie?: string | null
    /** The value of the cookie of a flow to an identity provider; null deletes it. */
    newFlowCookie?: string | null
  }
}

const nameFor = (isSafe: boolean): string => (isSafe ? '__Host-berth' : 'berth')
const flowNameFor = (isSafe: boolean): string => `${nameFor(isSafe)}-flow`
const FLOW_SECONDS = 600

export const readCookie = (request: FastifyRequest, publicUrl: string | null): string | undefined =>
  read(request, nameFor(isEncrypted(request, publicUrl)))

/** Of somebody who is on the way to an identity provider or back. */
export const readFlowCookie = (request: FastifyRequest, publicUrl: string | null): string | undefined =>
  read(request, flowNameFor(isEncrypted(request, publicUrl)))

function read(request: FastifyRequest, name: string): string | undefined {
  const start = `${name}=`
  const parts = request.headers.cookie?.split(';').map((part) => part.trim())
  return parts?.find((part) => part.startsWith(start))?.slice(start.length)
}

export function writeCookie(request: FastifyRequest, reply: FastifyReply, publicUrl: string | null, value: string | null): void {
  const isSafe = isEncrypted(request, publicUrl)
  const age = value === null ? 0 : parseDurationMs(LONGEST) / 1000
  const flags = `Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${isSafe ? '; Secure' : ''}`
  reply.header('set-cookie', `${nameFor(isSafe)}=${value ?? ''}; ${flags}`)
}

/** Lax, because it is needed by the first request of a page that another site led to. */
export function writeFlowCookie(request: FastifyRequest, reply: FastifyReply, publicUrl: string | null, value: string | null): void {
  const isSafe = isEncrypted(request, publicUrl)
  const flags = `Path=/; Max-Age=${value === null ? 0 : FLOW_SECONDS}; HttpOnly; SameSite=Lax${isSafe ? '; Secure' : ''}`
  reply.header('set-cookie', `${flowNameFor(isSafe)}=${value ?? ''}; ${flags}`)
}

/** Sets cookies in a hook, for routes whose handlers have no access to the reply. */
export function sendNewCookies(scope: FastifyInstance, publicUrl: string | null): void {
  scope.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('cross-origin-resource-policy', 'same-origin')
    if (request.newCookie !== undefined && reply.statusCode < 400) writeCookie(request, reply, publicUrl, request.newCookie)
    if (request.newFlowCookie !== undefined && reply.statusCode < 400) writeFlowCookie(request, reply, publicUrl, request.newFlowCookie)
  })
}
