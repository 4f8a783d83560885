// VMs reach the world by the host's own address. All rules are in chains of ours, so that they can be made again and taken away as one.
// What forwards is appended: the filters of the VMs stand before it, and a machine whose policy is to drop lets VMs pass all the same.
import { PUBLIC_BRIDGE } from '../hypervisor/libvirt/names.ts'
import { formatCidr, type Cidr } from '../kernel/cidr.ts'
import { GATEWAY_DEVICE, type HostPlan } from './plan.ts'
import { missing, there, type Step } from './step.ts'
import { run } from './system.ts'

interface Chain {
  table: 'nat' | 'filter' | 'raw'
  parent: string
  name: string
  rules: string[]
}

/** Where clouds tell a machine its secrets: those are the host's and not its guests'. */
const METADATA = '169.254.169.254/32'

/** A packet of a VM is seen twice, in the bridge and when it is routed. Each has connections of its own: with one between them, the
 *  bridge would settle that no address is to be translated, before the routing that needs it is reached. */
const BRIDGE_ZONE = 77

function chains(cidr: Cidr): Chain[] {
  const range = formatCidr(cidr)
  return [
    {
      table: 'raw',
      parent: 'PREROUTING',
      name: 'BERTH-RAW',
      rules: [
        `-i ${PUBLIC_BRIDGE} -j CT --zone ${BRIDGE_ZONE}`,
        ...[GATEWAY_DEVICE, 'bn+'].map((device) => `-d ${METADATA} -i ${device} -j DROP`),
      ],
    },
    {
      table: 'nat',
      parent: 'POSTROUTING',
      name: 'BERTH-OUT',
      rules: [`-s ${range} ! -d ${range} ! -o ${PUBLIC_BRIDGE} -j MASQUERADE`],
    },
    // Nothing is for the bridge itself, which has no address: a guest that sends there is up to no good.
    { table: 'filter', parent: 'INPUT', name: 'BERTH-INPUT', rules: [`-i ${PUBLIC_BRIDGE} -j DROP`] },
    {
      table: 'filter',
      parent: 'FORWARD',
      name: 'BERTH-FORWARD',
      rules: [`-i ${GATEWAY_DEVICE} -j ACCEPT`, `-o ${GATEWAY_DEVICE} -j ACCEPT`, `-i ${PUBLIC_BRIDGE} -o ${PUBLIC_BRIDGE} -j ACCEPT`],
    },
  ]
}

export const masquerade: Step = {
  name: 'masquerade',
  async look({ range }) {
    for (const chain of chains(range)) {
      if (!(await stands(chain))) return missing(`the rules ${chain.name}, by which VMs reach the world`)
    }
    return there('VMs reach the world by the address of this host')
  },
  mend: async (plan) => void (await run('sh', '-ec', masqueradeCommands(plan))),
}

async function stands({ table, parent, name, rules }: Chain): Promise<boolean> {
  const listed = await run('iptables', '-w', '-t', table, '-S').catch(() => '')
  const lines = listed.split('\n')
  const own = lines.filter((line) => line.startsWith(`-A ${name} `)).map((line) => line.slice(`-A ${name} `.length))
  return lines.includes(`-A ${parent} -j ${name}`) && own.join('\n') === rules.join('\n')
}

export const masqueradeCommands = ({ range }: HostPlan): string =>
  chains(range)
    .map(({ table, parent, name, rules }) => {
      const iptables = `iptables -w -t ${table}`
      return `
${iptables} -N ${name} 2>/dev/null || ${iptables} -F ${name}
${rules.map((rule) => `${iptables} -A ${name} ${rule}`).join('\n')}
${iptables} -C ${parent} -j ${name} 2>/dev/null || ${iptables} -A ${parent} -j ${name}
`
    })
    .join('')
