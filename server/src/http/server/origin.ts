// Origin checks. A browser sends the origin of the page; other clients may send anything, but have no session cookie of another user.
import type { FastifyRequest } from 'fastify'
import { apiError, invalid } from '../../kernel/errors.ts'

/**
 * Our external URL for links: BERTH_PUBLIC_URL, or else the address that the connection was made to. `Host` is followed only where it names
 * that address or this machine itself: elsewhere its sender would choose where a link with a secret leads.
 */
export function externalUrl({ protocol, host, socket }: FastifyRequest, publicUrl: string | null): URL {
  const configured = publicUrl && URL.parse(publicUrl)
  if (configured) return configured
  const address = socket.localAddress?.replace(/^::ffff:(?=.*\.)/, '') ?? '127.0.0.1'
  const local = new URL(`${protocol}://${address.includes(':') ? `[${address}]` : address}:${socket.localPort ?? ''}`)
  if (!host) return local
  const named = URL.parse(`${protocol}://${host}`)
  if (named?.href !== `${protocol}://${named?.host}/`) throw invalid('the Host header is not a host name or address', 'Host')
  return LOOPBACK.test(named.hostname) || named.hostname === local.hostname ? named : local
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * An https page of our host is ours: a proxy that is not trusted may have ended its TLS. A plain http page is ours only where we are
 * served over plain http, because anybody on the way could have written it.
 */
export function isOwnOrigin({ host, protocol }: FastifyRequest, origin: string, publicUrl: string | null): boolean {
  const from = URL.parse(origin)
  const configured = publicUrl === null ? null : URL.parse(publicUrl)
  if (!from?.host) return false
  if (from.protocol === 'https:') return [configured?.host, host].includes(from.host)
  return from.origin === configured?.origin || (configured?.host !== host && from.origin === URL.parse(`${protocol}://${host}`)?.origin)
}

const READS = ['GET', 'HEAD', 'OPTIONS']

/** CSRF protection for writes with a cookie: Origin and Sec-Fetch-Site must name our origin, and one of them must be present. */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string | null): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (READS.includes(request.method)) return
  const isOwn = (site === undefined || site === 'same-origin') && (origin === undefined || isOwnOrigin(request, origin, publicUrl))
  if (!isOwn || (site === undefined && origin === undefined))
    throw apiError('origin_not_allowed', 'This must be sent by a page of the dashboard itself: open it and try again there')
}

/** Whether nobody can read the traffic: encrypted, or within this machine. */
export const isSecureTransport = (request: FastifyRequest, publicUrl: string | null): boolean =>
  isEncrypted(request, publicUrl) || LOOPBACK.test(request.hostname)

/** Behind a proxy only BERTH_PUBLIC_URL tells. */
export const isEncrypted = ({ protocol }: FastifyRequest, publicUrl: string | null): boolean =>
  protocol === 'https' || publicUrl?.startsWith('https:') === true
