// Ports and filters as rows of OVN's northbound database.
import { hostsOf, portName, type PortSpec } from '../network-controller.ts'
import type { Filter } from '../spec.ts'
import { ACTIONS, matchOf, merged, pipelineOf, portIn, type Direction } from './match.ts'
import type { WantedRow } from './plan.ts'
import { acl, ALWAYS, digest, LAYOUT, LIMIT, networkObject, PUBLIC, versionIds, type Acl } from './rows.ts'

export const portObject = (mac: string): string => `port/${mac}`
export const filterObject = (filter: Filter): string => `filter/${digest(LAYOUT + JSON.stringify(filter)).slice(0, 20)}`

const FIRST_RULE = 30_000
const DEFAULT = 100

/** Its network and its filter must exist, and the networks that its limit counts must have a way out. */
export function portRows(port: PortSpec, hasDhcp: boolean): WantedRow[] {
  const { vmId, mac, networkId, addresses, ranges, destination, limitMbps, limitedWith = [], filter, version = 0 } = port
  const name = portName(mac)
  const object = networkId === null ? PUBLIC : networkObject(networkId)
  const owned = [mac, ...addresses].join(' ')
  const limit = (direction: Direction): WantedRow => ({
    table: 'QoS',
    key: `limit-${direction.toLowerCase()}`,
    columns: {
      direction: pipelineOf(direction),
      priority: LIMIT,
      match: limited(direction, name, limitedWith),
      bandwidth: { rate: limitMbps! * 1000, burst: limitMbps! * BURST_KBIT_PER_MBPS },
    },
    in: [object, ...limitedWith.map((each) => networkObject(each.networkId))].map((each) => ({
      object: each,
      key: 'switch',
      column: 'qos_rules',
    })),
  })
  return [
    {
      table: 'Logical_Switch_Port',
      key: 'port',
      ids: { vm: vmId, ...versionIds(version) },
      columns: {
        name,
        type: '',
        addresses: [owned],
        port_security: [[owned, ...ranges].join(' ')],
        options: { 'requested-chassis': hostsOf(port).join(','), ...(destination && { 'activation-strategy': 'rarp' }) },
        enabled: null,
        dhcpv4_options: hasDhcp ? { object, key: 'dhcp' } : null,
      },
      in: [
        { object, key: 'switch', column: 'ports' },
        { object: PUBLIC, key: 'guests', column: 'ports' },
        ...(networkId === null ? [{ object: PUBLIC, key: 'public', column: 'ports' }] : []),
        ...(filter ? [{ object: filterObject(filter), key: 'group', column: 'ports' }] : []),
      ],
    },
    ...(limitMbps === null ? [] : [limit('IN'), limit('OUT')]),
    ...(networkId === null ? [multicastLimit(name)] : []),
  ]
}

/** What of it passes the rules, ARP and neighbour discovery above all, reaches every guest of the region. */
const multicastLimit = (name: string): WantedRow => ({
  table: 'QoS',
  key: 'limit-multicast',
  columns: {
    direction: pipelineOf('OUT'),
    priority: LIMIT + 1,
    match: `inport == "${name}" && eth.mcast`,
    bandwidth: { rate: MULTICAST_KBPS, burst: 2 * MULTICAST_KBPS },
  },
  in: [{ object: PUBLIC, key: 'switch', column: 'qos_rules' }],
})
/** About 70 questions of ARP a second, or 45 of IPv6. */
const MULTICAST_KBPS = 32

/** The same text for all its switches: northd makes one logical flow of it, and a chassis one meter of that flow, so that the interfaces share
 *  the limit. A port that is not in a switch matches nothing there. What stays in a private network meets a row above this one. */
function limited(direction: Direction, name: string, others: NonNullable<PortSpec['limitedWith']>): string {
  const end = direction === 'IN' ? 'outport' : 'inport'
  return [`${end} == "${name}"`, ...others.map(({ mac }) => `(${end} == "${portName(mac)}" && ip4)`)].join(' || ')
}

/** A tenth of a second: less, and TCP does not reach the rate. */
const BURST_KBIT_PER_MBPS = 100

/** Shared by all ports with the same rules, so it never changes: a port moves to another. */
export function filterRows(filter: Filter): WantedRow[] {
  const group = `berth_${filterObject(filter).replace('/', '_')}`
  const own = (key: string, each: Acl): WantedRow => acl(key, 'group', each)
  const rules = merged(filter.rules).flatMap((rule, position) => {
    const match = matchOf(rule)
    const { direction } = rule
    const action = ACTIONS[rule.action]
    return match === null
      ? []
      : [
          own(`rule-${position}`, {
            direction,
            priority: FIRST_RULE - position,
            match: `${portIn(direction, group)} && (${match})`,
            action,
          }),
        ]
  })
  const fallback = (direction: Direction, action: string): WantedRow =>
    own(`default-${direction.toLowerCase()}`, { direction, priority: DEFAULT, match: `${portIn(direction, group)} && ip`, action })
  const established = (direction: Direction): WantedRow =>
    own(`established-${direction.toLowerCase()}`, {
      direction,
      priority: ALWAYS,
      match: `${portIn(direction, group)} && ct.est && !ct.new`,
      action: 'allow-related',
    })
  return [
    { table: 'Port_Group', key: 'group', columns: { name: group } },
    // OVN asks the rules about every packet; a connection that they once allowed goes on.
    established('IN'),
    established('OUT'),
    ...rules,
    fallback('IN', ACTIONS[filter.defaultInbound]),
    fallback('OUT', ACTIONS[filter.defaultOutbound]),
  ]
}
