// The tables of OVN's databases that we use, with the columns that we write or read.
import type { TypedChange } from '@berth/ovsdb'

type Ids = Record<string, string>

export type Northbound = {
  NB_Global: { nb_cfg: number }
  Logical_Switch: { name: string; ports: string[]; acls: string[]; qos_rules: string[]; other_config: Ids; external_ids: Ids }
  Logical_Switch_Port: {
    name: string
    type: string
    options: Ids
    addresses: string[]
    port_security: string[]
    enabled: boolean | null
    dhcpv4_options: string | null
    external_ids: Ids
  }
  Port_Group: { name: string; ports: string[]; acls: string[]; external_ids: Ids }
  Address_Set: { name: string; addresses: string[]; external_ids: Ids }
  ACL: {
    name: string | null
    priority: number
    direction: string
    match: string
    action: string
    options: Ids
    external_ids: Ids
  }
  QoS: { priority: number; direction: string; match: string; bandwidth: Record<string, number>; external_ids: Ids }
  Logical_Router: {
    name: string
    ports: string[]
    static_routes: string[]
    policies: string[]
    nat: string[]
    options: Ids
    copp: string | null
    external_ids: Ids
  }
  Logical_Router_Port: {
    name: string
    mac: string
    networks: string[]
    peer: string | null
    ha_chassis_group: string | null
    external_ids: Ids
  }
  Logical_Router_Policy: { priority: number; match: string; action: string; external_ids: Ids }
  Logical_Router_Static_Route: { ip_prefix: string; nexthop: string; output_port: string | null; external_ids: Ids }
  NAT: { type: string; external_ip: string; logical_ip: string; external_ids: Ids }
  HA_Chassis_Group: { name: string; ha_chassis: string[]; external_ids: Ids }
  HA_Chassis: { chassis_name: string; priority: number; external_ids: Ids }
  DHCP_Options: { cidr: string; options: Ids; external_ids: Ids }
  /** Limits of what the hosts' own daemons answer or learn, by the name of a meter. */
  Copp: { name: string; meters: Ids; external_ids: Ids }
  Meter: { name: string; unit: string; fair: boolean | null; bands: string[]; external_ids: Ids }
  Meter_Band: { action: string; rate: number; burst_size: number; external_ids: Ids }
}

export type Southbound = {
  Chassis: { name: string; hostname: string; other_config: Ids; encaps: string[] }
  Encap: { type: string; ip: string }
  /** `nb_cfg` is the newest northbound change that the chassis has put in force, at `nb_cfg_timestamp` in ms; 0: none. */
  Chassis_Private: { name: string; nb_cfg: number; nb_cfg_timestamp: number }
  Port_Binding: { logical_port: string; chassis: string | null; up: boolean | null }
}

/** Tables of which we make rows. */
export type OwnTable = Exclude<keyof Northbound, 'NB_Global'>

/** Columns that contain other rows. Rows of tables that are not roots exist only as long as a row contains them. */
export const CONTAINERS = {
  Logical_Switch: ['ports', 'acls', 'qos_rules'],
  Port_Group: ['ports', 'acls'],
  Logical_Router: ['ports', 'static_routes', 'policies', 'nat'],
  HA_Chassis_Group: ['ha_chassis'],
} as const satisfies { [T in OwnTable]?: readonly (keyof Northbound[T])[] }

export type Container = keyof typeof CONTAINERS

export const ROOTS: ReadonlySet<OwnTable> = new Set([
  'Logical_Switch',
  'Logical_Router',
  'Port_Group',
  'Address_Set',
  'DHCP_Options',
  'HA_Chassis_Group',
  'Copp',
  'Meter',
])

const ids = ['external_ids'] as const

/** What is monitored: every column that we write, so that a difference is seen. */
export const MONITORED = {
  NB_Global: ['nb_cfg'],
  Logical_Switch: ['name', 'ports', 'acls', 'qos_rules', 'other_config', ...ids],
  Logical_Switch_Port: ['name', 'type', 'options', 'addresses', 'port_security', 'enabled', 'dhcpv4_options', ...ids],
  Port_Group: ['name', 'ports', 'acls', ...ids],
  Address_Set: ['name', 'addresses', ...ids],
  ACL: ['name', 'priority', 'direction', 'match', 'action', 'options', ...ids],
  QoS: ['priority', 'direction', 'match', 'bandwidth', ...ids],
  Logical_Router: ['name', 'ports', 'static_routes', 'policies', 'nat', 'options', 'copp', ...ids],
  Logical_Router_Port: ['name', 'mac', 'networks', 'peer', 'ha_chassis_group', ...ids],
  Logical_Router_Policy: ['priority', 'match', 'action', ...ids],
  Logical_Router_Static_Route: ['ip_prefix', 'nexthop', 'output_port', ...ids],
  NAT: ['type', 'external_ip', 'logical_ip', ...ids],
  HA_Chassis_Group: ['name', 'ha_chassis', ...ids],
  HA_Chassis: ['chassis_name', 'priority', ...ids],
  DHCP_Options: ['cidr', 'options', ...ids],
  Copp: ['name', 'meters', ...ids],
  Meter: ['name', 'unit', 'fair', 'bands', ...ids],
  Meter_Band: ['action', 'rate', 'burst_size', ...ids],
} as const satisfies { [T in keyof Northbound]: readonly (keyof Northbound[T])[] }

/** A change of a monitored row. */
export type RowChange = TypedChange<Northbound, typeof MONITORED>
