// Where a request came from and where it found us. A browser says which page asks; other programs say nothing or whatever they like, but
// they have no cookies of somebody else to misuse.
import type { FastifyRequest } from 'fastify'
import { apiError } from '../../kernel/errors.ts'

/** Where this request found us, for links back to here: as the operator says, or as the client addressed us. */
export function externalUrl({ protocol, host, socket }: FastifyRequest, publicUrl: string | null): URL {
  const local = socket.localAddress ?? '127.0.0.1'
  const addressed = `${protocol}://${host || `${local.includes(':') ? `[${local}]` : local}:${socket.localPort}`}`
  return (publicUrl && URL.parse(publicUrl)) || new URL(addressed)
}

export function isOwnOrigin({ host }: FastifyRequest, origin: string, publicUrl: string | null): boolean {
  const from = URL.parse(origin)?.host
  return from !== undefined && from !== '' && [publicUrl && URL.parse(publicUrl)?.host, host].includes(from)
}

const READS = ['GET', 'HEAD', 'OPTIONS']

/** For writes that a cookie allows: all that the browser says must name a page of ours, and it must say something. */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string | null): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (READS.includes(request.method)) return
  const isOwn = (site === undefined || site === 'same-origin') && (origin === undefined || isOwnOrigin(request, origin, publicUrl))
  if (!isOwn || (site === undefined && origin === undefined))
    throw apiError('origin_not_allowed', 'This must be sent by a page of the dashboard itself: open it and try again there')
}

/** Whether what is sent here can be read on the way: nobody listens within one machine. */
export const isSecureTransport = (request: FastifyRequest, publicUrl: string | null): boolean =>
  isEncrypted(request, publicUrl) || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(request.hostname)

/** Behind a proxy only the operator knows. */
export const isEncrypted = ({ protocol }: FastifyRequest, publicUrl: string | null): boolean =>
  protocol === 'https' || publicUrl?.startsWith('https:') === true
