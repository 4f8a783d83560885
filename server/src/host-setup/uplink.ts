// The host's interface in the public network: a veth pair with one end in the bridge and the gateway address on the other.
import { PUBLIC_BRIDGE, PUBLIC_NETWORK } from '../hypervisor/libvirt/core/resource-names.ts'
import { formatCidr } from '../kernel/cidr.ts'
import { findInterface, GATEWAY_DEVICE, UPLINK_DEVICE, type Interface } from './plan.ts'
import type { HostPlan } from './setup-step.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { readFileOrNull, run } from './shell.ts'

/**
 * Linux answers ARP for all its addresses on every interface: guests would learn the bridge's MAC for the gateway, and packets sent there
 * do not pass the uplink.
 */
const ARP_IGNORE = `/proc/sys/net/ipv4/conf/${PUBLIC_BRIDGE}/arp_ignore`
const NEVER = '8'

export const uplink: Step = {
  name: 'uplink',
  async check({ range, gateway }) {
    const [near, far] = [await findInterface(GATEWAY_DEVICE), await findInterface(UPLINK_DEVICE)]
    requireNoAddress(await findInterface(PUBLIC_BRIDGE))
    if (!near || !far) return missing(`the uplink ${GATEWAY_DEVICE} of ${PUBLIC_NETWORK}`)
    if (far.master !== PUBLIC_BRIDGE) return missing(`${UPLINK_DEVICE} is not in ${PUBLIC_BRIDGE}`)
    if (![near, far].every(({ flags }) => flags.includes('UP'))) return missing(`the uplink of ${PUBLIC_NETWORK} is down`)
    if ((await readFileOrNull(ARP_IGNORE))?.trim() !== NEVER) return missing(`${PUBLIC_BRIDGE} must not answer ARP for the gateway`)
    const has = near.addr_info.some(({ local, prefixlen }) => local === gateway && prefixlen === range.prefix)
    return has ? satisfied(`network ${PUBLIC_NETWORK} ${formatCidr(range)}`) : missing(`the address ${gateway} on ${GATEWAY_DEVICE}`)
  },
  apply: async (plan) => void (await run('sh', '-ec', uplinkCommands(plan))),
}

/** Packets addressed to the bridge itself would bypass the filters of its VMs. */
function requireNoAddress(bridge: Interface | undefined): void {
  const address = bridge?.addr_info.find(({ family }) => family === 'inet')
  if (!address) return
  const { local, prefixlen } = address
  throw new SetupError(
    `The bridge ${PUBLIC_BRIDGE} has the address ${local}, so traffic to it would bypass the VM filters`,
    `ip addr del ${local}/${prefixlen} dev ${PUBLIC_BRIDGE}`,
  )
}

/** For `sh -e`; idempotent. */
export const uplinkCommands = ({ range, gateway }: HostPlan): string => `
[ -e /sys/class/net/${GATEWAY_DEVICE} ] || ip link add ${GATEWAY_DEVICE} type veth peer name ${UPLINK_DEVICE}
echo ${NEVER} > ${ARP_IGNORE}
ip link set ${UPLINK_DEVICE} master ${PUBLIC_BRIDGE} up
ip addr replace ${gateway}/${range.prefix} dev ${GATEWAY_DEVICE}
ip link set ${GATEWAY_DEVICE} up
`
