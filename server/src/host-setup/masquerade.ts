// NAT and filter rules for VM traffic, all in Berth's own chains so that they are replaced and removed together. The forwarding chain is
// appended: the nwfilter chains of the VMs match first, and VMs keep working on a machine whose FORWARD policy is DROP.
import { PUBLIC_BRIDGE } from '../hypervisor/libvirt/core/resource-names.ts'
import { formatCidr, type Cidr } from '../kernel/cidr.ts'
import { GATEWAY_DEVICE } from './plan.ts'
import type { HostPlan } from './setup-step.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { run } from './shell.ts'

interface Chain {
  table: 'nat' | 'filter' | 'raw' | 'mangle'
  parent: string
  name: string
  rules: string[]
  /** Inserted before the rules of the machine's own firewall. */
  first?: true
}

/** The metadata service of clouds: its secrets are the host's and must not be readable by guests. */
const METADATA = '169.254.169.254/32'

/**
 * netfilter sees a VM's packet twice, in the bridge and when it is routed. A separate conntrack zone per pass is needed: with one shared
 * entry, the bridge pass would fix "no NAT" before the routing pass can masquerade.
 */
const BRIDGE_ZONE = 77

/** Guests reach DHCP and DNS of the host and may ping it. RETURN leaves the decision to the machine's own firewall. */
const guestInputRules = (device: string): string[] =>
  [
    '-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
    '-p udp -m multiport --dports 53,67 -j RETURN',
    '-p tcp -m tcp --dport 53 -j RETURN',
    '-p icmp -m icmp --icmp-type 8 -j RETURN',
    '-j DROP',
  ].map((rule) => `-i ${device} ${rule}`)

/** Devices on which guests reach the host: the gateway of the public network and the bridges of private networks. */
const GUEST_DEVICES = [GATEWAY_DEVICE, 'bn+']

/**
 * libvirt's nwfilter chains for traffic from and to VMs. On every filter change, and at start, libvirt unlinks them from FORWARD and links
 * them again one by one. A packet in that window would skip all filters and establish a connection that is accepted from then on. So each
 * chain marks the packets it sees, and a packet that would open a connection without both marks is dropped; the sender retransmits it.
 */
const VM_FILTERS = [
  { chain: 'libvirt-in', name: 'BERTH-FROM-VM', side: '--physdev-in', mark: '0x100000/0x100000' },
  { chain: 'libvirt-out', name: 'BERTH-TO-VM', side: '--physdev-out', mark: '0x200000/0x200000' },
]

function chains(cidr: Cidr): Chain[] {
  const range = formatCidr(cidr)
  return [
    {
      table: 'raw',
      parent: 'PREROUTING',
      name: 'BERTH-RAW',
      rules: [`-i ${PUBLIC_BRIDGE} -j CT --zone ${BRIDGE_ZONE}`, ...GUEST_DEVICES.map((device) => `-d ${METADATA} -i ${device} -j DROP`)],
    },
    {
      table: 'nat',
      parent: 'POSTROUTING',
      name: 'BERTH-OUT',
      rules: [`-s ${range} ! -d ${range} ! -o ${PUBLIC_BRIDGE} -j MASQUERADE`],
    },
    {
      table: 'filter',
      parent: 'INPUT',
      name: 'BERTH-INPUT',
      // The bridge has no address, so no packet is legitimately addressed to it.
      rules: [`-i ${PUBLIC_BRIDGE} -j DROP`, ...GUEST_DEVICES.flatMap(guestInputRules)],
      first: true,
    },
    ...VM_FILTERS.map(({ chain, name, mark }): Chain => ({
      table: 'filter',
      parent: chain,
      name,
      rules: [`-j MARK --set-xmark ${mark}`],
      first: true,
    })),
    {
      table: 'mangle',
      parent: 'POSTROUTING',
      name: 'BERTH-UNSEEN',
      rules: VM_FILTERS.map(
        ({ side, mark }) =>
          `-o ${PUBLIC_BRIDGE} -m physdev ${side} vnet+ --physdev-is-bridged -m conntrack --ctstate INVALID,NEW -m mark ! --mark ${mark} -j DROP`,
      ),
    },
    {
      table: 'filter',
      parent: 'FORWARD',
      name: 'BERTH-FORWARD',
      rules: [
        // No new connection enters a private network from outside. libvirt's own rule for this is missing during the same window.
        '-o bn+ -m physdev ! --physdev-is-bridged -m conntrack --ctstate NEW -j DROP',
        `-i ${GATEWAY_DEVICE} -j ACCEPT`,
        `-o ${GATEWAY_DEVICE} -j ACCEPT`,
        `-i ${PUBLIC_BRIDGE} -o ${PUBLIC_BRIDGE} -j ACCEPT`,
      ],
    },
  ]
}

export const masquerade: Step = {
  name: 'masquerade',
  async check({ range }) {
    for (const chain of chains(range)) {
      if (!(await isInstalled(chain))) return missing(`the iptables chain ${chain.name}`)
    }
    return satisfied('VMs reach the internet through the address of this host (NAT)')
  },
  apply: async (plan) => void (await run('sh', '-ec', masqueradeCommands(plan))),
}

async function isInstalled({ table, parent, name, rules }: Chain): Promise<boolean> {
  const listed = await run('iptables', '-w', '-t', table, '-S').catch(() => '')
  const lines = listed.split('\n')
  const own = lines.filter((line) => line.startsWith(`-A ${name} `)).map((line) => line.slice(`-A ${name} `.length))
  return lines.includes(`-A ${parent} -j ${name}`) && own.join('\n') === rules.join('\n')
}

export const masqueradeCommands = ({ range }: HostPlan): string =>
  VM_FILTERS.map(({ chain }) => `iptables -w -N ${chain} 2>/dev/null || true\n`).join('') +
  chains(range)
    .map(({ table, parent, name, rules, first }) => {
      const iptables = `iptables -w -t ${table}`
      return `
${iptables} -N ${name} 2>/dev/null || ${iptables} -F ${name}
${rules.map((rule) => `${iptables} -A ${name} ${rule}`).join('\n')}
${iptables} -C ${parent} -j ${name} 2>/dev/null || ${iptables} ${first ? '-I' : '-A'} ${parent} -j ${name}
`
    })
    .join('')
