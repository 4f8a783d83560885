// Enables IP forwarding and passes bridged packets to iptables: without br_netfilter, the firewall rules of VMs cannot match connections.
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { exists, readFileOrNull, run, succeeds } from './shell.ts'

const FORWARD = '/proc/sys/net/ipv4/ip_forward'
export const BRIDGE_NF = '/proc/sys/net/bridge/bridge-nf-call-iptables'

export const forwarding: Step = {
  name: 'forwarding',
  async check() {
    const off = [FORWARD, BRIDGE_NF].map(async (path) =>
      (await readFileOrNull(path))?.trim() === '1' ? [] : [path.slice('/proc/sys/'.length)],
    )
    const names = (await Promise.all(off)).flat()
    return names.length === 0 ? satisfied('IP forwarding and bridge filtering are enabled') : missing(`${names.join(' and ')} must be 1`)
  },
  async apply() {
    if (!(await exists(BRIDGE_NF)) && !(await succeeds('modprobe', 'br_netfilter'))) throw noBridgeFilter()
    await run('sh', '-ec', forwardingCommands)
  },
}

export const noBridgeFilter = (): SetupError =>
  new SetupError(
    'This kernel has no module br_netfilter, so VM firewalls could not match connections',
    'boot a stock kernel of Debian or Ubuntu',
  )

export const forwardingCommands = `
[ -e ${BRIDGE_NF} ] || modprobe br_netfilter
echo 1 > ${FORWARD}
echo 1 > ${BRIDGE_NF}
`
