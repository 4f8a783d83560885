// VMs reach the world by the host's own address. All rules are in chains of ours, so that they can be made again and taken away as one.
// What forwards is appended: the filters of the VMs stand before it, and a machine whose policy is to drop lets VMs pass all the same.
import { PUBLIC_BRIDGE } from '../hypervisor/libvirt/core/resource-names.ts'
import { formatCidr, type Cidr } from '../kernel/cidr.ts'
import { GATEWAY_DEVICE, type HostPlan } from './plan.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { run } from './shell.ts'

interface Chain {
  table: 'nat' | 'filter' | 'raw' | 'mangle'
  parent: string
  name: string
  rules: string[]
  /** Before whatever the machine's own firewall lets in. */
  first?: true
}

/** Where clouds tell a machine its secrets: those are the host's and not its guests'. */
const METADATA = '169.254.169.254/32'

/** A packet of a VM is seen twice, in the bridge and when it is routed. Each has connections of its own: with one between them, the
 *  bridge would settle that no address is to be translated, before the routing that needs it is reached. */
const BRIDGE_ZONE = 77

/** Of the host itself guests reach DHCP and DNS, and may see by a ping that it is there. Nothing is let in here that the machine's own
 *  firewall keeps out. */
const guestsReach = (device: string): string[] =>
  [
    '-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
    '-p udp -m multiport --dports 53,67 -j RETURN',
    '-p tcp -m tcp --dport 53 -j RETURN',
    '-p icmp -m icmp --icmp-type 8 -j RETURN',
    '-j DROP',
  ].map((rule) => `-i ${device} ${rule}`)

/** By which guests reach the host: the gateway of the public network, and the bridges of private ones. */
const GUEST_DEVICES = [GATEWAY_DEVICE, 'bn+']

/** libvirt's own chains with the filters of VMs, of what comes from a VM and of what goes to one. Whenever it changes a filter, and when
 *  it starts, it unlinks them from FORWARD and links them again, one after the other, and so lets every packet of that moment pass all
 *  filters; what is let in is a connection ever after. So each leaves a mark on what it sees, and what would begin a connection without
 *  both marks is dropped. It is sent again, and then it is seen. */
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
      // Nothing is for the bridge itself, which has no address: a guest that sends there is up to no good.
      rules: [`-i ${PUBLIC_BRIDGE} -j DROP`, ...GUEST_DEVICES.flatMap(guestsReach)],
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
        // Nothing begins a connection into a private network from outside it; libvirt forgets this for a moment as well.
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
      if (!(await stands(chain))) return missing(`the rules ${chain.name}, by which VMs reach the world`)
    }
    return satisfied('VMs reach the world by the address of this host')
  },
  apply: async (plan) => void (await run('sh', '-ec', masqueradeCommands(plan))),
}

async function stands({ table, parent, name, rules }: Chain): Promise<boolean> {
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
