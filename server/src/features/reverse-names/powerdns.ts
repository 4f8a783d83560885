// PTR records by the HTTP API of a PowerDNS authoritative server. The zone is the one with the longest name that the record's ends in.
import { isIPv6 } from 'node:net'
import type { Config } from '../../config.ts'

const TIMEOUT_MS = 10_000
/** Shorter than a released address rests. */
const TTL_SECONDS = 300

interface Zone {
  id: string
  name: string
}

/** What the server or the network says, for operators; customers read `userMessage`. */
export class ReverseDnsError extends Error {
  readonly userMessage: string

  constructor(message: string, userMessage: string, cause?: unknown) {
    super(message, { cause })
    this.userMessage = userMessage
  }
}

/** Null where the operator has set none. */
export function powerDns({ pdnsUrl, pdnsKey }: Pick<Config, 'pdnsUrl' | 'pdnsKey'>) {
  if (pdnsUrl === null) return null
  const base = `${pdnsUrl.replace(/\/+$/, '')}/api/v1/servers/localhost/zones`
  const call = async (path: string, init: RequestInit, signal: AbortSignal): Promise<Response> => {
    const headers = { 'x-api-key': pdnsKey ?? '', 'content-type': 'application/json' }
    const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    const response = await fetch(`${base}${path}`, { ...init, headers, signal: within }).catch((error: unknown) => {
      throw new ReverseDnsError(
        `PowerDNS at ${pdnsUrl} does not answer: ${String(error)}`,
        'The name server does not answer: it is tried again',
        error,
      )
    })
    if (response.ok) return response
    const text = (await response.text()).slice(0, 500)
    throw new ReverseDnsError(
      `PowerDNS answered ${response.status}: ${text}`,
      `The name server refused the name (${response.status}): it is tried again`,
    )
  }
  return {
    /** Null removes the record. */
    async set(address: string, name: string | null, signal: AbortSignal): Promise<void> {
      const record = arpaName(address)
      const zones = (await (await call('', {}, signal)).json()) as Zone[]
      const zone = zones.filter((each) => record.endsWith(`.${each.name}`)).toSorted((a, b) => b.name.length - a.name.length)[0]
      if (!zone)
        throw new ReverseDnsError(`PowerDNS has no zone for ${record}`, 'The name server has no zone for this address: ask support')
      const common = { name: record, type: 'PTR' }
      const rrset =
        name === null
          ? { ...common, changetype: 'DELETE' }
          : { ...common, changetype: 'REPLACE', ttl: TTL_SECONDS, records: [{ content: `${name}.`, disabled: false }] }
      await call(`/${encodeURIComponent(zone.id)}`, { method: 'PATCH', body: JSON.stringify({ rrsets: [rrset] }) }, signal)
    },
  }
}

/** The name of an address in the reverse tree, absolute. */
export function arpaName(address: string): string {
  if (!isIPv6(address)) return `${address.split('.').toReversed().join('.')}.in-addr.arpa.`
  const [head = '', tail] = address.split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const all = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  const nibbles = all.map((group) => group.padStart(4, '0')).join('')
  return `${nibbles.split('').toReversed().join('.')}.ip6.arpa.`
}
