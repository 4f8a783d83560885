// What rows of OVN's northbound database share. Names on chassis and in expressions consist of our ids alone.
import { createHash } from 'node:crypto'
import { HOST_PORTS } from '../network-controller.ts'
import { pipelineOf, type Direction } from './match.ts'
import type { WantedRow } from './plan.ts'

export const PUBLIC = 'public'
export const networkObject = (networkId: string): string => `network/${networkId}`

/** The group of all guests, and sets of addresses. */
export const GUESTS = 'berth_guests'
export const CLOSED = 'berth_closed'
export const OPEN = 'berth_open'

/** Above every rule of a customer. */
export const ALWAYS = 32_000

/** Of QoS rows. A packet meets the meter of the first that matches it, and no other. */
export const LIMIT = 100

export interface Acl {
  direction: Direction
  priority: number
  match: string
  action: string
}

/** `container`: the group or switch. */
export const acl = (key: string, container: string, { direction, priority, match, action }: Acl): WantedRow => ({
  table: 'ACL',
  key,
  columns: { direction: pipelineOf(direction), priority, match, action, options: {} },
  in: [{ key: container, column: 'acls' }],
})

/** An expression with an empty set, or with one of both families, is refused, and with it the rule. */
export const addressSet = (key: string, name: string, family: 4 | 6, ranges: readonly string[]): WantedRow => {
  const own = ranges.filter((each) => each.includes(':') === (family === 6))
  return { table: 'Address_Set', key, columns: { name, addresses: own.length > 0 ? [...new Set(own)] : [NO_ADDRESS[family]] } }
}
const NO_ADDRESS = { 4: '255.255.255.255', 6: '::' }

export const TO_HOST_PORTS = `(${Object.entries(HOST_PORTS)
  .map(([protocol, ports]) => `${protocol}.dst == {${ports.join(', ')}}`)
  .join(' || ')})`

/** Raise it when the rows of networks, ports or filters change: those of older releases are then listed as outdated, and made anew. */
export const LAYOUT = '3'
export const versionIds = (version: number): Record<string, string> => ({ version: String(version), layout: LAYOUT })
/** No version that was ever given, where the rows are of another layout. */
export const versionIn = ({ version = '0', layout }: Record<string, string>): number => (layout === LAYOUT ? Number(version) : -1)

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
