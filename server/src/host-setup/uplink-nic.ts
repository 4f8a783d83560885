// The network card or bond that carries the public network (`host prepare --uplink`): a port of br-uplink, which keeps the addresses and routes of
// the host. Without one, VMs reach the internet by the addresses of br-ex, which no network card is a port of.
import { contains, formatCidr, parseAddress } from '../kernel/cidr.ts'
import { isInstalled } from './iptables.ts'
import { hasKernelDatapath, isEnabled, OVS_SERVICE } from './open-vswitch.ts'
import { sbctl } from './ovn.ts'
import { missing, SetupError, satisfied, type CheckResult, type HostPlan, type Step, type Uplink } from './setup-step.ts'
import { exists, readFileOrNull, run, succeeds, SYSTEM_PATH, writeFileAtomic } from './shell.ts'
import { changeUplink, findPeers, recoverCommand, uplinkScript } from './uplink-change.ts'
import {
  ADVERTISEMENTS,
  copiesOf,
  isFirewallReady,
  plugInCommands,
  unplugCommands,
  UPLINK_BRIDGE,
  UPLINK_SYSCTLS,
  uplinkSysctl,
  VLAN_PORTS,
} from './uplink-move.ts'
import { listLinks, loadUplink, readConfiguration, UPLINK_SCRIPT } from './uplink-plan.ts'

const NAME = 'berth-uplink.service'
const UNIT = `/etc/systemd/system/${NAME}`

export const uplinkNic: Step = {
  name: 'uplink-nic',
  check: ({ uplink, systemd }) => (uplink ? checkPlugged(uplink, systemd) : checkNone()),
  async apply(plan) {
    const { uplink, systemd } = plan
    const known = await loadUplink()
    if (uplink && systemd) await installUnit()
    if (!uplink) await unplug(known, systemd)
    else if (!known) await plugIn(plan, uplink)
    else await restore(uplink)
  },
}

const ovs = (...args: string[]): Promise<string> =>
  run('ovs-vsctl', '--timeout=5', ...args).then(
    (text) => text.trim().replaceAll('"', ''),
    () => '',
  )

async function checkNone(): Promise<CheckResult> {
  if ((await loadUplink()) || (await exists(`/sys/class/net/${UPLINK_BRIDGE}`)))
    return missing(`${UPLINK_BRIDGE} is to be removed, and its network card to have its addresses back`)
  return satisfied("no uplink of its own: VMs use this host's address (NAT)")
}

async function checkPlugged(uplink: Uplink, systemd: boolean): Promise<CheckResult> {
  const { nic, vlan, mac, mtu, addresses, routes } = uplink
  const what = `${nic}${vlan === null ? '' : `, VLAN ${vlan}`}`
  const links = await listLinks()
  const [bridge, card] = [UPLINK_BRIDGE, nic].map((name) => links.find(({ ifname }) => ifname === name))
  if (!card) return missing(`the network card ${nic} is not there`)
  const datapath = (await hasKernelDatapath()) ? 'system' : 'netdev'
  if ((await ovs('get', 'Bridge', UPLINK_BRIDGE, 'datapath_type')) !== datapath || !bridge)
    return missing(`${what} as the uplink of the public network`)
  if ((await ovs('port-to-br', nic)) !== UPLINK_BRIDGE) return missing(`${nic} is no port of ${UPLINK_BRIDGE}`)
  if ((await readFileOrNull(UPLINK_SCRIPT)) !== uplinkScript(uplink)) return missing(`the settings of the uplink ${what}`)
  if (vlan !== null && (await ovs('get', 'Port', VLAN_PORTS.uplink, 'tag')) !== String(vlan)) return missing(`the VLAN ${vlan} of ${nic}`)
  if (!bridge.flags.includes('UP') || bridge.address !== mac || bridge.mtu !== mtu)
    return missing(`${UPLINK_BRIDGE} must be up with the MAC ${mac} and the MTU ${mtu}`)
  const [present, left] = [await readConfiguration(bridge), card.addr_info]
  const absent = [
    ...addresses.filter((each) => !present.addresses.includes(each)),
    ...routes.filter((each) => !present.routes.includes(each)),
  ]
  if (absent[0]) return missing(`${absent[0]} on ${UPLINK_BRIDGE}`)
  if (left.length > 0) return missing(`${nic} has ${left[0]!.local}, which belongs to ${UPLINK_BRIDGE}`)
  for (const each of UPLINK_SYSCTLS) {
    const value = (await readFileOrNull(uplinkSysctl(each)))?.trim()
    if (value !== undefined && value !== String(each.value)) return missing(`${uplinkSysctl(each)} must be ${each.value}`)
  }
  if (datapath === 'netdev') {
    if (!card.flags.includes('NOARP')) return missing(`${nic} must not answer ARP itself`)
    for (const chain of copiesOf(uplink)) if (!(await isInstalled(chain))) return missing(`the chain ${chain.name} of ${chain.tool}`)
  }
  if (!(await run('ovs-ofctl', '--timeout=5', 'dump-flows', UPLINK_BRIDGE)).includes(`${ADVERTISEMENTS} actions=drop`))
    return missing(`router advertisements of VMs must not get to ${nic}`)
  if (systemd && !((await readFileOrNull(UNIT)) === unit && (await isEnabled(NAME))))
    return missing(`${NAME}, which restores the uplink after a reboot`)
  return satisfied(`uplink ${what}: VMs have public addresses of their own; ${UPLINK_BRIDGE} has those of this host`)
}

async function plugIn(plan: HostPlan, uplink: Uplink): Promise<void> {
  const { nic } = uplink
  await requireNoGuests(plan)
  await requireFirewall(nic)
  const peers = await findPeers(uplink, nic)
  await changeUplink(
    { target: uplink, forward: plugInCommands(uplink), back: unplugCommands(uplink), from: nic, to: UPLINK_BRIDGE, systemd: plan.systemd },
    peers,
  )
}

/** The card was confirmed before: it is put back as the boot unit does. */
async function restore(uplink: Uplink): Promise<void> {
  await writeFileAtomic(UPLINK_SCRIPT, uplinkScript(uplink), 0o755)
  await run('sh', '-e', UPLINK_SCRIPT)
}

/** With what the bridge has now: the operator may have added to it. */
async function unplug(known: Uplink | null, systemd: boolean): Promise<void> {
  const bridge = (await listLinks()).find(({ ifname }) => ifname === UPLINK_BRIDGE)
  if (!known)
    throw new SetupError(
      `There is a bridge ${UPLINK_BRIDGE}, but ${UPLINK_SCRIPT}, which says what its card had, is missing`,
      `if this machine is not reached by it: ovs-vsctl del-br ${UPLINK_BRIDGE}`,
    )
  const uplink = { ...known, ...(bridge && (await readConfiguration(bridge))) }
  const peers = bridge ? await findPeers(uplink, UPLINK_BRIDGE) : []
  await changeUplink(
    { target: null, forward: unplugCommands(uplink), back: plugInCommands(uplink), from: UPLINK_BRIDGE, to: known.nic, systemd },
    peers,
  )
  if (systemd) await succeeds('systemctl', '--quiet', 'disable', NAME)
}

/** Addresses of the host's own range are not known on the wire. */
async function requireNoGuests(plan: HostPlan): Promise<void> {
  if (!(await exists('/sys/class/net/br-int'))) return
  const bound = await sbctl(plan, '--bare', '--columns=mac', 'list', 'Port_Binding')
  const guests = bound.split(/\s+/).filter((word) => {
    const address = parseAddress(word)
    return address !== null && contains(plan.range, address)
  })
  if (guests.length === 0) return
  throw new SetupError(
    `VMs have addresses of ${formatCidr(plan.range)}, which are only known on this host: ${guests.join(', ')}`,
    'delete them first, and the range: npx berthd ip-pool remove; it has no meaning on an uplink',
  )
}

async function requireFirewall(nic: string): Promise<void> {
  const tools = [['iptables-save'], ['ip6tables-save'], ['nft', 'list', 'ruleset']] as const
  const rules = await Promise.all(tools.map(([tool, ...args]) => run(tool, ...args).catch(() => '')))
  if (isFirewallReady(rules.join('\n'), nic)) return
  throw new SetupError(
    `Rules of this machine's firewall name ${nic}, and would not match what comes in by ${UPLINK_BRIDGE}`,
    `add the same rules for ${UPLINK_BRIDGE}, then run this again: iptables-save, nft list ruleset`,
  )
}

async function installUnit(): Promise<void> {
  await writeFileAtomic(UNIT, unit)
  await run('systemctl', '--quiet', 'daemon-reload')
  await run('systemctl', '--quiet', 'enable', NAME)
}

/** After the distribution has configured its network cards, and again when ovs-vswitchd is started again: in user space its bridges end with it. */
const unit = `# Written by berthd host prepare.
[Unit]
Description=Network card of the public network of Berth
Requires=${OVS_SERVICE}
PartOf=ovs-vswitchd.service
After=${OVS_SERVICE} ovs-vswitchd.service networking.service systemd-networkd.service NetworkManager.service
Before=network-online.target berth-network.service

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PATH=${SYSTEM_PATH}
ExecStart=/bin/sh -c '${recoverCommand.replaceAll('$', () => '$$')}; [ ! -e ${UPLINK_SCRIPT} ] || sh -e ${UPLINK_SCRIPT}'
Restart=on-failure
RestartSec=2

[Install]
WantedBy=multi-user.target
`
