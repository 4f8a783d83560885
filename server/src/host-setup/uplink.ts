// The host's end of the public network: the bridge br-ex, whose own interface has the gateway addresses.
import { NAT_GATEWAY } from '../hypervisor/network-controller.ts'
import { formatCidr } from '../kernel/cidr.ts'
import { hasKernelDatapath, KERNEL_DATAPATH } from './open-vswitch.ts'
import { findInterface, PUBLIC_BRIDGE, ROUTERS } from './plan.ts'
import type { HostPlan } from './setup-step.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { readFileOrNull, run } from './shell.ts'

/** Linux answers ARP for all its addresses on every interface: 1 limits it to those of this one. */
const ARP_IGNORE = `/proc/sys/net/ipv4/conf/${PUBLIC_BRIDGE}/arp_ignore`
const DISABLE_IPV6 = `/proc/sys/net/ipv6/conf/${PUBLIC_BRIDGE}/disable_ipv6`

const { mac: MAC } = NAT_GATEWAY

export const uplink: Step = {
  name: 'uplink',
  async check(plan) {
    const datapath = (await hasKernelDatapath()) ? 'system' : 'netdev'
    const actual = await run('ovs-vsctl', '--timeout=5', 'get', 'Bridge', PUBLIC_BRIDGE, 'datapath_type').catch(() => null)
    if (actual?.trim().replaceAll('"', '') !== datapath) return missing(`the bridge ${PUBLIC_BRIDGE} with the datapath ${datapath}`)
    const device = await findInterface(PUBLIC_BRIDGE)
    if (!device?.flags.includes('UP')) return missing(`${PUBLIC_BRIDGE} is down`)
    if (device.address !== MAC) return missing(`the address ${MAC} of ${PUBLIC_BRIDGE}`)
    if (((await readFileOrNull(DISABLE_IPV6)) ?? '1').trim() !== '1') return missing(`${PUBLIC_BRIDGE} must not have IPv6`)
    if ((await readFileOrNull(ARP_IGNORE))?.trim() !== '1') return missing(`${PUBLIC_BRIDGE} must answer ARP for its own addresses only`)
    const absent = addresses(plan).find((address) => !device.addr_info.some(({ local, prefixlen }) => `${local}/${prefixlen}` === address))
    return absent
      ? missing(`the address ${absent} on ${PUBLIC_BRIDGE}`)
      : satisfied(`public network ${formatCidr(plan.range)} on ${PUBLIC_BRIDGE}`)
  },
  apply: async (plan) => void (await run('sh', '-ec', uplinkCommands(plan))),
}

/** Of the public network, and of the routers of private networks. */
const addresses = ({ range, gateway }: HostPlan): string[] => [`${gateway}/${range.prefix}`, `${ROUTERS.gateway}/${ROUTERS.range.prefix}`]

/** For `sh -e`; idempotent. In user space, OVS takes packets from the interface as they are, so the kernel must complete their checksums. */
export const uplinkCommands = (plan: HostPlan): string => `
if [ -e ${KERNEL_DATAPATH} ]; then datapath=system; else datapath=netdev; fi
ovs-vsctl --timeout=30 --may-exist add-br ${PUBLIC_BRIDGE} -- set Bridge ${PUBLIC_BRIDGE} datapath_type=$datapath 'other_config:hwaddr="${MAC}"' \\
  -- set Open_vSwitch . external_ids:ovn-bridge-datapath-type=$datapath
[ $datapath = system ] || ethtool -K ${PUBLIC_BRIDGE} tx off >/dev/null
[ ! -e ${DISABLE_IPV6} ] || echo 1 > ${DISABLE_IPV6}
echo 1 > ${ARP_IGNORE}
${addresses(plan)
  .map((address) => `ip addr replace ${address} dev ${PUBLIC_BRIDGE}`)
  .join('\n')}
ip link set ${PUBLIC_BRIDGE} up
`
