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
  }
}

const nameFor = (isSafe: boolean): string => (isSafe ? '__Host-berth' : 'berth')

export function readCookie(request: FastifyRequest, publicUrl: string | null): string | undefined {
  const start = `${nameFor(isEncrypted(request, publicUrl))}=`
  const parts = request.headers.cookie?.split(';').map((part) => part.trim())
  return parts?.find((part) => part.startsWith(start))?.slice(start.length)
}

export function writeCookie(request: FastifyRequest, reply: FastifyReply, publicUrl: string | null, value: string | null): void {
  const isSafe = isEncrypted(request, publicUrl)
  const age = value === null ? 0 : parseDurationMs(LONGEST) / 1000
  const flags = `Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${isSafe ? '; Secure' : ''}`
  reply.header('set-cookie', `${nameFor(isSafe)}=${value ?? ''}; ${flags}`)
}

/** Sets cookies in a hook, for routes whose handlers have no access to the reply. */
export function sendNewCookies(scope: FastifyInstance, publicUrl: string | null): void {
  scope.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('cross-origin-resource-policy', 'same-origin')
    if (request.newCookie !== undefined && reply.statusCode < 400) writeCookie(request, reply, publicUrl, request.newCookie)
  })
}
