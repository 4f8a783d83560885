// The networks of a region: every call that the control plane makes to connect machines, whichever host they run on. Controllers: OVN, and
// a simulated one with its state in PostgreSQL. Both pass network-conformance.ts.
//
// The contract of every method is that of the driver (driver.ts): idempotent and keyed by our ids, interruptible anywhere, rejects with a
// DriverError only, one effect of concurrent calls. A change is in force on the hosts concerned when its call resolves.
import { createHash } from 'node:crypto'
import { parseCidr } from '../kernel/cidr.ts'
import type { Filter } from './spec.ts'

export interface NetworkController {
  /** What public interfaces may reach. Before the first port. */
  ensurePublicNetwork(network: PublicNetworkSpec, signal: AbortSignal): Promise<void>
  /** Changes take effect at once, for all its ports. */
  ensureNetwork(network: NetworkSpec, signal: AbortSignal): Promise<void>
  /** `in_use` while it has ports, or a limit counts traffic that leaves it. */
  ensureNoNetwork(networkId: string, signal: AbortSignal): Promise<void>
  /** The port of an interface, before the machine has it: without its port an interface neither sends nor receives. `not_found` without
   *  its network, or one that its limit counts. A changed filter, limit or host is in force when this resolves; open connections survive a changed filter. */
  ensurePort(port: PortSpec, signal: AbortSignal, options?: PortOptions): Promise<void>
  ensureNoPort(mac: string, signal: AbortSignal): Promise<void>
  listNetworks(signal: AbortSignal): AsyncIterable<ListedNetwork>
  listPorts(signal: AbortSignal): AsyncIterable<Port>
  /** Whether these hosts, by their names, confirm something now. Those that the controller does not know are left out. */
  probeHosts(hosts: readonly string[], signal: AbortSignal): Promise<{ host: string; answers: boolean }[]>
  /** As the controller knows these hosts, by their names; a host may have several for a while. Those that it does not know are left out. */
  listChassis(hosts: readonly string[], signal: AbortSignal): Promise<Chassis[]>
  /** Rejects when the controller is unreachable; otherwise returns the problems for the operator, as text. */
  health(signal: AbortSignal): Promise<{ problems: string[] }>
  close(): Promise<void>
}

export interface Chassis {
  name: string
  /** As the host reports it. */
  host: string
  /** Ends of the tunnels between hosts. */
  encaps: { type: string; address: string }[]
  /** Bound there. */
  ports: number
  /** When it last put a change in force; null: never. */
  confirmedAt: Date | null
}

/** Private, shared and link-local ranges of both families (RFC 6890). They are closed to guests, because the operator's own machines are there. */
export const CLOSED_RANGES = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  'fc00::/7',
  'fe80::/10',
]

/** The gateway of private networks, the same on every host: a router that fails over to another host goes on sending to it. No network card is
 *  ever in its bridge, so nobody sees it twice. */
export const NAT_GATEWAY = { address: '100.64.0.1', mac: '02:62:65:72:74:68' }

/** Where hosts and network controllers take packets of each other: ends of tunnels (VXLAN, Geneve), OVN's databases, libvirtd. A host knows
 *  others by their addresses, and what guests send with the address of their host would be taken for its own. */
export const HOST_PORTS = { udp: [4789, 6081], tcp: [6641, 6642, 6643, 6644, 16514, 16642] }

/** What of the closed ranges is open. */
export interface PublicNetworkSpec {
  /** Of the region's pools of public addresses. */
  ranges: readonly string[]
  /** Of these ranges what no guest ever has: routers and hosts are there. Default: nothing. */
  withheld?: readonly string[]
  /** Of the operator, which guests may reach nevertheless. */
  allowed: readonly string[]
  /** Names of the hosts that may be gateways of private networks, as they report them; undefined: all that are connected to the public one. */
  gateways?: readonly string[]
}

/** A controller lists the version that it was given last: a database that was restored from a backup gives itself away. */
interface Versioned {
  /** Default: 0. */
  version?: number
}

export interface NetworkSpec extends Versioned {
  networkId: string
  cidr: string
  /** Of the router, which exists where this is not null: that is, without SNAT and DHCP too. */
  gateway: string | null
  enableDhcp: boolean
  /** Resolvers that DHCP announces. */
  dns: readonly string[]
  /** The address that its guests have outside, which is no other network's; null: no way out. */
  snat: { address: string; prefix: number; gateway: string } | null
  /** Of the router, and announced by DHCP. Destinations lie outside of the network, next hops in it. */
  routes: readonly { destination: string; nextHop: string }[]
  /** Networks that its router is connected to. They reach each other when both of them say so. Announced by DHCP. */
  peers: readonly PeerNetwork[]
}

/** Its range overlaps neither that of the network nor those of other peers and routes. */
export interface PeerNetwork {
  networkId: string
  cidr: string
  gateway: string
}

/** What DHCP tells guests to send to the router; empty where nothing leads out of the network. */
export function announcedRanges({ snat, routes, peers }: Pick<NetworkSpec, 'snat' | 'routes' | 'peers'>): string[] {
  const ranges = [...peers.map(({ cidr }) => cidr), ...routes.map(({ destination }) => destination)]
  // Guests that get a list of routes ignore the router that is announced beside it (RFC 3442).
  return snat && ranges.length > 0 ? ['0.0.0.0/0', ...ranges] : ranges
}

/** One option of DHCP is all there is for them: a length, the octets that count, and the router, each. */
export const canAnnounce = (ranges: readonly string[]): boolean =>
  ranges.reduce((sum, range) => sum + 1 + Math.ceil(parseCidr(range)!.prefix / 8) + 4, 0) <= 255

export interface PortOptions {
  /** Resolves when the controller has it, for a host that may be dead: it learns of it before anything else when it returns. */
  unconfirmed?: boolean
}

export interface PortSpec extends Versioned {
  vmId: string
  mac: string
  /** Null for the public network. */
  networkId: string | null
  /** Those that the interface may send from and receives for; without prefix. */
  addresses: readonly string[]
  /** Ranges that the network routes to it: it may send from them and receives for them too. */
  ranges: readonly string[]
  /** Name of the machine's host, as the host reports it (HostFacts.hostname). No other host can take the port. */
  host: string
  /** While the machine is migrated: the host that gets it. The port is there too, and passes packets there once the machine announces itself.
   *  Default: none. */
  destination?: string | null
  /** Both directions; null = unlimited. */
  limitMbps: number | null
  /** Private interfaces of the machine: what they send out of their networks, and receive from there, counts toward the same limit. Traffic with
   *  their networks, peers and routes is unlimited. Default: none. */
  limitedWith?: readonly { mac: string; networkId: string }[]
  /** Null: everything passes that is not spoofed. */
  filter: Filter | null
}

export const hostsOf = ({ host, destination }: Pick<PortSpec, 'host' | 'destination'>): string[] => [
  host,
  ...(destination ? [destination] : []),
]

export interface ListedNetwork {
  networkId: string
  version: number
}

export interface Port {
  /** Null for a port that does not carry a VM's id. */
  vmId: string | null
  mac: string
  networkId: string | null
  /** While the machine is migrated both, with a comma. */
  host: string
  limitMbps: number | null
  version: number
}

/** Name of the port, and what binds an interface of a machine to it (`interfaceid`): it must be a UUID. */
export const portName = (mac: string): string =>
  createHash('sha256')
    .update(`port ${mac}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5')
