// NAT and filter rules for VM traffic, all in Berth's own chains so that they are replaced and removed together. OVN filters the packets of
// guests first; these rules hold whatever it lets through.
import { formatCidr } from '../kernel/cidr.ts'
import { HOST_PORTS } from '../hypervisor/network-controller.ts'
import { hasKernelDatapath, KERNEL_DATAPATH } from './open-vswitch.ts'
import { PUBLIC_BRIDGE, ROUTERS } from './plan.ts'
import type { HostPlan } from './setup-step.ts'
import { chainCommands, isInstalled, type Chain } from './iptables.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { run } from './shell.ts'

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

/** RETURN leaves the decision to the machine's own firewall. */
function chains({ range, allowed }: HostPlan): Chain[] {
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
      rules: [`${GATEWAY} ${established} -j RETURN`, `${GATEWAY} -p icmp -m icmp --icmp-type 8 -j RETURN`, `${GATEWAY} -j DROP`],
      first: true,
    },
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
        ...[guests, ...allowed].map((to) => `-d ${to} ${GATEWAY} -j RETURN`),
        ...OPERATOR_RANGES.map((to) => `-d ${to} ${GATEWAY} -j DROP`),
      ],
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
    return satisfied('VMs reach the internet (NAT), but not this host or LANs')
  },
  apply: async (plan) => void (await run('sh', '-ec', masqueradeCommands(plan))),
}

export const masqueradeCommands = (plan: HostPlan): string =>
  `${chains(plan).map(chainCommands).join('')}
if [ ! -e ${KERNEL_DATAPATH} ]; then
${COPIES.map(chainCommands).join('')}
fi
`
