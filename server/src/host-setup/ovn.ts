// OVN, which makes the networks of guests out of Open vSwitch: the databases and northd of the region, and this machine as their chassis. The
// sockets of the databases are root's; nothing listens on the network.
import { isIP } from 'node:net'
import { PUBLIC_PHYSICAL_NETWORK } from '../hypervisor/ovn/topology.ts'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { withLibvirt } from './libvirt.ts'
import { answers, hasKernelDatapath, isEnabled, runScript, start } from './open-vswitch.ts'
import { PUBLIC_BRIDGE } from './plan.ts'
import { missing, SetupError, satisfied, type HostPlan, type Step } from './setup-step.ts'
import { run, writeFileAtomic } from './shell.ts'

const SOCKETS = '/run/ovn'
/** Where a region's networks are made that has this machine as its only host. */
export const LOCAL_NETWORK_CONTROLLER = `unix:${SOCKETS}`
const SOUTHBOUND = `unix:${SOCKETS}/ovnsb_db.sock`

/** What Debian's units start Open vSwitch with. */
const SYSTEM_ID_FILE = '/etc/openvswitch/system-id.conf'
const OVN_CTL = '/usr/share/ovn/scripts/ovn-ctl'
const CENTRAL = ['ovn-central.service', 'ovn-ovsdb-server-nb.service', 'ovn-ovsdb-server-sb.service', 'ovn-northd.service']
const CHASSIS = ['ovn-host.service', 'ovn-controller.service']

type Settings = Record<string, string>

export const ovn: Step = {
  name: 'ovn',
  async check(plan) {
    const problem = await findProblem(plan)
    return problem ? missing(problem) : satisfied(`OVN: this machine is the chassis ${(await settings())['hostname']}`)
  },
  async apply(plan) {
    await start(plan, CENTRAL, OVN_CTL, 'start_northd')
    const [known, wanted] = [await settings(), await wantedSettings(plan)]
    requireOwn(known)
    // Under its old name the chassis would keep its address in the southbound database: it takes its row along when it is stopped.
    if (known['system-id'] !== wanted['system-id']) await stopController(plan)
    await writeFileAtomic(SYSTEM_ID_FILE, `${wanted['system-id']}\n`)
    const assignments = Object.entries(wanted).map(([name, value]) => `external_ids:${name}="${value}"`)
    await run('ovs-vsctl', '--timeout=30', 'set', 'Open_vSwitch', '.', ...assignments)
    if (plan.systemd || !(await answers('ovn-appctl', 'ovn-controller', 'version'))) await start(plan, CHASSIS, OVN_CTL, 'start_controller')
    await untilReady(plan)
  },
}

async function findProblem(plan: HostPlan): Promise<string | null> {
  if ((await answers('ovn-appctl', 'ovn-northd', 'status')) !== 'Status: active') return 'northd of OVN is not active'
  if ((await answers('ovn-appctl', 'ovn-controller', 'connection-status')) !== 'connected') return 'ovn-controller is not connected'
  const [known, wanted] = [await settings(), await wantedSettings(plan)]
  const differs = Object.keys(wanted).filter((name) => known[name] !== wanted[name])
  if (differs.length > 0) return `settings of the chassis: ${differs.join(', ')}`
  if (plan.systemd && !((await isEnabled(CENTRAL[0]!)) && (await isEnabled(CHASSIS[0]!)))) return 'the units of OVN are not enabled'
  const found = await run('ovn-sbctl', '--timeout=5', '--bare', '--columns=hostname', 'find', 'Chassis', `name=${wanted['system-id']}`)
  return found.trim() === wanted['hostname'] ? null : `OVN does not know the chassis ${wanted['hostname']}`
}

/** Daemons connect to a restarted database after up to 8 seconds. */
const READY_MS = 20_000

async function untilReady(plan: HostPlan): Promise<void> {
  const elapsed = stopwatch()
  for (;;) {
    const problem = await findProblem(plan)
    if (!problem) return
    if (elapsed() > READY_MS) throw new SetupError(`OVN was started, but ${problem}`, 'check its logs in /var/log/ovn')
    await sleep(50)
  }
}

/** The name is libvirt's, by which the control plane asks for the host of a port. */
async function wantedSettings({ tlsAddress }: HostPlan): Promise<Settings> {
  const name = await withLibvirt((libvirt) => libvirt.connect.getHostname())
  const others = ((await settings())[MAPPINGS] ?? '').split(',').filter((each) => each && !each.startsWith(`${PUBLIC_PHYSICAL_NETWORK}:`))
  return {
    'system-id': name,
    hostname: name,
    'ovn-remote': SOUTHBOUND,
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': tlsAddress && isIP(tlsAddress) ? tlsAddress : '127.0.0.1',
    'ovn-bridge-datapath-type': (await hasKernelDatapath()) ? 'system' : 'netdev',
    [MAPPINGS]: [...others, `${PUBLIC_PHYSICAL_NETWORK}:${PUBLIC_BRIDGE}`].join(','),
  }
}

const MAPPINGS = 'ovn-bridge-mappings'

async function settings(): Promise<Settings> {
  const shown = await run('ovs-vsctl', '--timeout=5', '--format=json', '--columns=external_ids', 'list', 'Open_vSwitch')
  const { data } = JSON.parse(shown) as { data: [[['map', [string, string][]]]] }
  return Object.fromEntries(data[0][0][1])
}

function requireOwn({ 'ovn-remote': remote = SOUTHBOUND }: Settings): void {
  if (remote === SOUTHBOUND) return
  throw new SetupError(
    `This machine is a chassis of another OVN, ${remote}`,
    'use another machine, or take it out of that OVN: ovs-vsctl remove Open_vSwitch . external_ids ovn-remote',
  )
}

const stopController = ({ systemd }: HostPlan): Promise<string> =>
  systemd ? run('systemctl', '--quiet', 'stop', 'ovn-controller.service') : runScript(OVN_CTL, 'stop_controller')
