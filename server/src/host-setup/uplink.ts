// The host's interface in the public network: a veth pair with one end in the bridge and the gateway addresses on the other. A port of the
// bridge itself would lose its addresses whenever ovs-vswitchd restarts in user space.
import { formatCidr } from '../kernel/cidr.ts'
import { hasKernelDatapath, KERNEL_DATAPATH } from './open-vswitch.ts'
import { findInterface, GATEWAY_DEVICE, PUBLIC_BRIDGE, ROUTERS, UPLINK_DEVICE } from './plan.ts'
import type { HostPlan } from './setup-step.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { readFileOrNull, run } from './shell.ts'

const DEVICES = [GATEWAY_DEVICE, UPLINK_DEVICE]
/** Linux answers ARP for all its addresses on every interface: 1 limits it to those of this one. */
const ARP_IGNORE = `/proc/sys/net/ipv4/conf/${GATEWAY_DEVICE}/arp_ignore`
const withoutIpv6 = (device: string): string => `/proc/sys/net/ipv6/conf/${device}/disable_ipv6`

export const uplink: Step = {
  name: 'uplink',
  async check(plan) {
    const [near, far] = [await findInterface(GATEWAY_DEVICE), await findInterface(UPLINK_DEVICE)]
    if (!near || !far) return missing(`the uplink ${GATEWAY_DEVICE} of the public network`)
    if (![near, far].every(({ flags }) => flags.includes('UP'))) return missing('the uplink of the public network is down')
    for (const device of DEVICES)
      if (((await readFileOrNull(withoutIpv6(device))) ?? '1').trim() !== '1') return missing(`${device} must not have IPv6`)
    if (!far.flags.includes('NOARP')) return missing(`${UPLINK_DEVICE} must not answer ARP for the gateway`)
    if ((await readFileOrNull(ARP_IGNORE))?.trim() !== '1') return missing(`${GATEWAY_DEVICE} must answer ARP for its own addresses only`)
    const absent = addresses(plan).find((address) => !near.addr_info.some(({ local, prefixlen }) => `${local}/${prefixlen}` === address))
    if (absent) return missing(`the address ${absent} on ${GATEWAY_DEVICE}`)
    if ((await ovs('port-to-br', UPLINK_DEVICE)) !== PUBLIC_BRIDGE) return missing(`${UPLINK_DEVICE} is not in ${PUBLIC_BRIDGE}`)
    const datapath = (await hasKernelDatapath()) ? 'system' : 'netdev'
    if ((await ovs('get', 'Bridge', PUBLIC_BRIDGE, 'datapath_type')) !== datapath)
      return missing(`the datapath ${datapath} of ${PUBLIC_BRIDGE}`)
    return satisfied(`public network ${formatCidr(plan.range)} on ${PUBLIC_BRIDGE}`)
  },
  apply: async (plan) => void (await run('sh', '-ec', uplinkCommands(plan))),
}

const ovs = (...command: string[]): Promise<string | null> =>
  run('ovs-vsctl', '--timeout=5', ...command).then(
    (text) => text.trim().replaceAll('"', ''),
    () => null,
  )

/** Of the public network, and of the routers of private networks. */
const addresses = ({ range, gateway }: HostPlan): string[] => [`${gateway}/${range.prefix}`, `${ROUTERS.gateway}/${ROUTERS.range.prefix}`]

/** For `sh -e`; idempotent. OVS would keep the deleted interface open instead of a new one with its name. In user space it takes packets from
 *  the interface as they are, so the kernel must complete their checksums. */
export const uplinkCommands = (plan: HostPlan): string => `
if [ ! -e /sys/class/net/${GATEWAY_DEVICE} ]; then
  ovs-vsctl --timeout=30 --if-exists del-port ${UPLINK_DEVICE}
  ip link add ${GATEWAY_DEVICE} type veth peer name ${UPLINK_DEVICE}
fi
for device in ${DEVICES.join(' ')}; do
  [ ! -e ${withoutIpv6('$device')} ] || echo 1 > ${withoutIpv6('$device')}
done
if [ -e ${KERNEL_DATAPATH} ]; then datapath=system; else datapath=netdev; ethtool -K ${GATEWAY_DEVICE} tx off >/dev/null; fi
echo 1 > ${ARP_IGNORE}
ip link set ${UPLINK_DEVICE} arp off up
${addresses(plan)
  .map((address) => `ip addr replace ${address} dev ${GATEWAY_DEVICE}`)
  .join('\n')}
ip link set ${GATEWAY_DEVICE} up
ovs-vsctl --timeout=30 --may-exist add-br ${PUBLIC_BRIDGE} -- set Bridge ${PUBLIC_BRIDGE} datapath_type=$datapath \\
  -- --may-exist add-port ${PUBLIC_BRIDGE} ${UPLINK_DEVICE} \\
  -- set Open_vSwitch . external_ids:ovn-bridge-datapath-type=$datapath
`
