// The target state of a host, decided once from its current state, its saved state and the options.
import { join } from 'node:path'
import { NAT_GATEWAY } from '../hypervisor/network-controller.ts'
import { formatCidr, parseCidr, type Cidr } from '../kernel/cidr.ts'
import { freeRange, gatewayOf, overlap, requireRange, takenByResolvers, takenByRoutes, type Route, type Taken } from './address-range.ts'
import { SetupError, type Bundle, type HostPlan, type HostState } from './setup-step.ts'
import { BERTH_FOLDER, hasSystemd, readFileOrNull, run } from './shell.ts'
import { listLinks, planUplink } from './uplink-plan.ts'

/** Of Open vSwitch; OVN connects the public network to it. Its own interface is the gateway of VMs. */
export const PUBLIC_BRIDGE = 'br-ex'
/** The gateway of versions before OVN. */
export const OLD_GATEWAY = 'bpub-gw'
/** Outside addresses of the routers of private networks, the same on every host. */
export const ROUTERS = { range: parseCidr('100.64.0.0/16')!, gateway: NAT_GATEWAY.address }
const STATE_FILE = join(BERTH_FOLDER, 'host.json')
const POOL_PATH = '/var/lib/libvirt/images/berth'

export interface PlanOptions {
  range?: string | undefined
  poolPath?: string | undefined
  bundle?: Bundle | undefined
  allowed?: string[] | undefined
  /** A network card or bond, or `none`; undefined: as it is. */
  uplink?: string | undefined
  vlan?: number | undefined
}

export async function planHost(options: PlanOptions): Promise<HostPlan> {
  const known = await loadHostState()
  const range = await decideRange(options, known)
  return {
    range,
    gateway: gatewayOf(range),
    poolPath: options.poolPath ?? known?.poolPath ?? POOL_PATH,
    tlsAddress: options.bundle?.address ?? known?.tlsAddress ?? null,
    allowed: options.allowed?.map(requireCidr) ?? known?.allowed ?? [],
    chassis: chassisOf(options.bundle) ?? known?.chassis ?? null,
    uplink: await planUplink(options),
    loopback: await loopbackAddresses(),
    bundle: options.bundle ?? null,
    systemd: await hasSystemd(),
  }
}

function chassisOf(bundle: Bundle | undefined): HostState['chassis'] {
  return bundle?.chassis ? { name: bundle.chassis.name, controllers: bundle.chassis.controllers } : null
}

export const toHostState = ({ range, poolPath, tlsAddress, allowed, chassis }: HostPlan): HostState => ({
  range: formatCidr(range),
  poolPath,
  tlsAddress,
  allowed,
  chassis,
})
export const hostStateFile = STATE_FILE

export async function loadHostState(): Promise<HostState | null> {
  const text = await readFileOrNull(STATE_FILE)
  if (text === null) return null
  try {
    return JSON.parse(text) as HostState
  } catch {
    throw new SetupError(`${STATE_FILE} is damaged`, `remove it, and give its values again: --range, --pool-path, --certificate`)
  }
}

async function decideRange(options: PlanOptions, known: HostState | null): Promise<Cidr> {
  const taken = await takenRanges()
  requireRouters(taken)
  const present = (await gatewayRange()) ?? known?.range
  const asked = options.range ?? options.bundle?.range
  if (!present) return asked ? requireRange(asked, taken) : freeRange(taken.map(({ cidr }) => cidr))
  const wanted = options.range && parseCidr(options.range)
  if (wanted && formatCidr(wanted) !== present) {
    throw new SetupError(
      `This host already uses ${present}, which its VMs may use, not ${formatCidr(wanted)}`,
      `omit --range; to change it, delete its VMs, then: ovs-vsctl del-br ${PUBLIC_BRIDGE}; rm ${STATE_FILE}`,
    )
  }
  return requireRange(present, taken)
}

function requireRouters(taken: Taken[]): void {
  const other = taken.find(({ cidr }) => overlap(cidr, ROUTERS.range))
  if (!other) return
  const range = formatCidr(ROUTERS.range)
  throw new SetupError(`${range}, which private networks reach the internet through, overlaps ${other.by}`, 'remove that route: ip route')
}

function requireCidr(text: string): string {
  const cidr = parseCidr(text)
  if (cidr) return formatCidr(cidr)
  throw new SetupError(`${text} is not a range`, 'give one such as --allow 192.168.5.0/24')
}

async function takenRanges(): Promise<Taken[]> {
  const routes = JSON.parse(await run('ip', '-json', '-4', 'route', 'show', 'table', 'all')) as Route[]
  return [...takenByRoutes(routes, [PUBLIC_BRIDGE, OLD_GATEWAY]), ...takenByResolvers((await readFileOrNull('/etc/resolv.conf')) ?? '')]
}

interface Interface {
  ifname: string
  address: string
  flags: string[]
  addr_info: { family: string; local: string; prefixlen: number; scope: string }[]
}

export async function findInterface(name: string): Promise<Interface | undefined> {
  const all = JSON.parse(await run('ip', '-json', 'addr')) as Interface[]
  return all.find(({ ifname }) => ifname === name)
}

const loopbackAddresses = async (): Promise<string[]> =>
  (await listLinks())
    .filter(({ ifname, linkinfo }) => ifname === 'lo' || linkinfo?.info_kind === 'dummy')
    .flatMap(({ addr_info }) => addr_info.filter(({ scope }) => scope === 'global').map(({ local }) => local))

async function gatewayRange(): Promise<string | undefined> {
  const own = (await findInterface(PUBLIC_BRIDGE))?.addr_info.find(
    ({ family, scope, local }) => family === 'inet' && scope === 'global' && local !== ROUTERS.gateway,
  )
  const cidr = own && parseCidr(`${own.local}/${own.prefixlen}`)
  return cidr ? formatCidr(cidr) : undefined
}
