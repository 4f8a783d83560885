// The host's own leg in the public network: a pair of virtual cables, one end in the bridge, the other with the gateway's address.
import { PUBLIC_BRIDGE, PUBLIC_NETWORK } from '../hypervisor/libvirt/core/resource-names.ts'
import { formatCidr } from '../kernel/cidr.ts'
import { findInterface, GATEWAY_DEVICE, UPLINK_DEVICE, type HostPlan, type Interface } from './plan.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { readFileOrNull, run } from './shell.ts'

/** Linux answers on every interface for every address it has: guests would be told that the bridge itself is their gateway, and what
 *  they send there does not pass the uplink. */
const ARP_IGNORE = `/proc/sys/net/ipv4/conf/${PUBLIC_BRIDGE}/arp_ignore`
const NEVER = '8'

export const uplink: Step = {
  name: 'uplink',
  async check({ range, gateway }) {
    const [near, far] = [await findInterface(GATEWAY_DEVICE), await findInterface(UPLINK_DEVICE)]
    requireBare(await findInterface(PUBLIC_BRIDGE))
    if (!near || !far) return missing(`the uplink ${GATEWAY_DEVICE} of ${PUBLIC_NETWORK}`)
    if (far.master !== PUBLIC_BRIDGE) return missing(`${UPLINK_DEVICE} is not in ${PUBLIC_BRIDGE}`)
    if (![near, far].every(({ flags }) => flags.includes('UP'))) return missing(`the uplink of ${PUBLIC_NETWORK} is down`)
    if ((await readFileOrNull(ARP_IGNORE))?.trim() !== NEVER) return missing(`${PUBLIC_BRIDGE} must not answer for the gateway`)
    const has = near.addr_info.some(({ local, prefixlen }) => local === gateway && prefixlen === range.prefix)
    return has ? satisfied(`network ${PUBLIC_NETWORK} ${formatCidr(range)}`) : missing(`the address ${gateway} on ${GATEWAY_DEVICE}`)
  },
  apply: async (plan) => void (await run('sh', '-ec', uplinkCommands(plan))),
}

/** What the bridge itself is sent does not pass the filters of the VMs in it. */
function requireBare(bridge: Interface | undefined): void {
  const address = bridge?.addr_info.find(({ family }) => family === 'inet')
  if (!address) return
  const { local, prefixlen } = address
  throw new SetupError(
    `The bridge ${PUBLIC_BRIDGE} has the address ${local}, by which traffic would pass the filters of VMs unseen`,
    `ip addr del ${local}/${prefixlen} dev ${PUBLIC_BRIDGE}`,
  )
}

/** For `sh -e`, as often as wanted. */
export const uplinkCommands = ({ range, gateway }: HostPlan): string => `
[ -e /sys/class/net/${GATEWAY_DEVICE} ] || ip link add ${GATEWAY_DEVICE} type veth peer name ${UPLINK_DEVICE}
echo ${NEVER} > ${ARP_IGNORE}
ip link set ${UPLINK_DEVICE} master ${PUBLIC_BRIDGE} up
ip addr replace ${gateway}/${range.prefix} dev ${GATEWAY_DEVICE}
ip link set ${GATEWAY_DEVICE} up
`
