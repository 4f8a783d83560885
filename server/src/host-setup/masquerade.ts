// NAT and filter rules for VM traffic, all in Berth's own chains so that they are replaced and removed together. OVN filters the packets of
// guests first; these rules hold whatever it lets through.
import { formatCidr } from '../kernel/cidr.ts'
import { HOST_PORTS } from '../hypervisor/network-controller.ts'
import { hasKernelDatapath, KERNEL_DATAPATH } from './open-vswitch.ts'
import { PUBLIC_BRIDGE, ROUTERS } from './plan.ts'
import type { HostPlan } from './setup-step.ts'
import { chainCommands, isInstalled, removeCommands, type Chain } from './iptables.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { exists, run, succeeds } from './shell.ts'
import { UPLINK_BRIDGE, VLAN_BRIDGE } from './uplink-move.ts'

/** Where the operator's machines are, and the metadata services of clouds, whose secrets are the host's. */
export const OPERATOR_RANGES = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
]

const established = '-m conntrack --ctstate RELATED,ESTABLISHED'
const GATEWAY = `-i ${PUBLIC_BRIDGE}`

/** What comes in by an uplink may be of a guest too. */
const fromWire = (uplink: HostPlan['uplink'], rules: (from: string) => string[]): string[] =>
  uplink ? [UPLINK_BRIDGE, VLAN_BRIDGE].flatMap((bridge) => rules(`-i ${bridge}`)) : []
/** Answers, and ports that the machine publishes, such as those of containers. */
const invited = '-m conntrack --ctstate RELATED,ESTABLISHED,DNAT -j RETURN'

/**
 * A host has 64,512 ports toward one service, which masquerading gives to all guests. So many new connections a second one address of them
 * opens there, after the first 2,000: within the two minutes that an answered or ended one is remembered, 26,000. Where the table of what is
 * counted is full the kernel drops all: it has room for as many as connections are tracked.
 */
const NEW_CONNECTIONS =
  `${GATEWAY} ! -o ${PUBLIC_BRIDGE} -m conntrack --ctstate NEW -m hashlimit --hashlimit-above 200/sec --hashlimit-burst 2000 ` +
  '--hashlimit-mode srcip,dstip,dstport --hashlimit-name berth-nat --hashlimit-htable-size 65536 --hashlimit-htable-max 1048576 ' +
  // As long as the first ones take to come back: what is forgotten sooner has them again.
  '--hashlimit-htable-expire 10000 -j DROP'

/** Whether the kernel can count them. */
export const canLimitConnections = async (): Promise<boolean> =>
  (await exists('/proc/net/ipt_hashlimit')) || (await succeeds('modprobe', '--dry-run', '--quiet', 'xt_hashlimit'))

/** RETURN leaves the decision to the machine's own firewall. */
function chains({ range, allowed, uplink, loopback }: HostPlan): Chain[] {
  const guests = formatCidr(range)
  return [
    {
      tool: 'iptables',
      table: 'nat',
      parent: 'POSTROUTING',
      name: 'BERTH-OUT',
      rules: [`-o ${PUBLIC_BRIDGE} -j RETURN`, ...[guests, formatCidr(ROUTERS.range)].map((from) => `-s ${from} -j MASQUERADE`)],
    },
    {
      tool: 'iptables',
      table: 'filter',
      parent: 'INPUT',
      name: 'BERTH-INPUT',
      rules: [
        `${GATEWAY} ${established} -j RETURN`,
        `${GATEWAY} -p icmp -m icmp --icmp-type 8 -j RETURN`,
        `${GATEWAY} -j DROP`,
        // Linux answers at all its addresses by every card. The kernel calls an address local to the bridge, or else unicast.
        ...fromWire(uplink, (from) => [
          `${from} ${invited}`,
          ...[...ofFamily(4, loopback), ...allowed].map((to) => `-d ${to} ${from} -j RETURN`),
          `${from} -m addrtype --dst-type UNICAST --limit-iface-in -j DROP`,
        ]),
      ],
      first: true,
    },
    ...(uplink?.ipv6 ? [input6(uplink, loopback)] : []),
    {
      tool: 'iptables',
      table: 'filter',
      parent: 'FORWARD',
      name: 'BERTH-CLOSED',
      rules: [
        // Before all else: masquerading would make them packets of this host.
        ...Object.entries(HOST_PORTS).map(
          ([protocol, ports]) => `${GATEWAY} -p ${protocol} -m multiport --dports ${ports.join(',')} -j DROP`,
        ),
        `${GATEWAY} ${established} -j RETURN`,
        NEW_CONNECTIONS,
        ...[guests, ...allowed].map((to) => `-d ${to} ${GATEWAY} -j RETURN`),
        ...OPERATOR_RANGES.map((to) => `-d ${to} ${GATEWAY} -j DROP`),
        // It forwards for its guests, not for others that take it for a router.
        ...fromWire(uplink, (from) => [
          `${from} ${invited}`,
          `${from} -o ${PUBLIC_BRIDGE} -j RETURN`,
          ...allowed.map((to) => `-d ${to} ${from} -j RETURN`),
          `${from} -j DROP`,
        ]),
      ],
      optional: { rule: NEW_CONNECTIONS, isSupported: canLimitConnections },
      first: true,
    },
    // Appended: VMs keep working on a machine whose FORWARD policy is DROP.
    {
      tool: 'iptables',
      table: 'filter',
      parent: 'FORWARD',
      name: 'BERTH-FORWARD',
      rules: [`${GATEWAY} -j ACCEPT`, `-o ${PUBLIC_BRIDGE} -j ACCEPT`],
    },
  ]
}

const ofFamily = (family: 4 | 6, addresses: readonly string[]): string[] =>
  addresses.filter((each) => each.includes(':') === (family === 6)).map((each) => `${each}/${family === 6 ? 128 : 32}`)

const INPUT6 = { tool: 'ip6tables', table: 'filter', parent: 'INPUT', name: 'BERTH-INPUT', first: true } as const
const input6 = (uplink: HostPlan['uplink'], loopback: readonly string[]): Chain => ({
  ...INPUT6,
  rules: fromWire(uplink, (from) => [
    `${from} ${invited}`,
    ...['ff00::/8', ...ofFamily(6, loopback)].map((to) => `-d ${to} ${from} -j RETURN`),
    `${from} -m addrtype --dst-type LOCAL --limit-iface-in -j RETURN`,
    `${from} -j DROP`,
  ]),
})

/** Of guests, as libvirt names them. */
const TAPS = 'vnet+'

/**
 * When ovs-vswitchd forwards in user space, the kernel also receives every frame of its ports: it would answer guests directly, past OVN. With
 * the kernel's datapath it never sees them, and other interfaces may have such names.
 */
const COPIES: Chain[] = [
  {
    tool: 'iptables',
    table: 'raw',
    parent: 'PREROUTING',
    name: 'BERTH-COPIES',
    rules: [`-i ${TAPS} -j DROP`],
    first: true,
  },
  { tool: 'ip6tables', table: 'raw', parent: 'PREROUTING', name: 'BERTH-COPIES', rules: [`-i ${TAPS} -j DROP`], first: true },
  { tool: 'ip6tables', table: 'raw', parent: 'OUTPUT', name: 'BERTH-TO-TAPS', rules: [`-o ${TAPS} -j DROP`], first: true },
  { tool: 'arptables-nft', table: 'filter', parent: 'INPUT', name: 'BERTH-COPIES', rules: [`-j DROP -i ${TAPS}`], first: true },
]

export const masquerade: Step = {
  name: 'masquerade',
  async check(plan) {
    for (const chain of [...chains(plan), ...((await hasKernelDatapath()) ? [] : COPIES)]) {
      if (!(await isInstalled(chain))) return missing(`the chain ${chain.name} of ${chain.tool}`)
    }
    const unlimited = (await canLimitConnections())
      ? ''
      : '; the kernel has no xt_hashlimit to keep them from taking all ports of this host'
    return satisfied(`VMs reach the internet (NAT), but not this host or LANs${unlimited}`)
  },
  apply: async (plan) => void (await run('sh', '-ec', masqueradeCommands(plan))),
}

export const masqueradeCommands = (plan: HostPlan): string =>
  `${plan.uplink?.ipv6 ? '' : removeCommands(INPUT6)}
${chains(plan).map(chainCommands).join('')}
if [ ! -e ${KERNEL_DATAPATH} ]; then
${COPIES.map(chainCommands).join('')}
fi
`
