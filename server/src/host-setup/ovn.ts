// OVN, which makes the networks of guests out of Open vSwitch. This machine is a chassis: of the network controllers of its region, or of
// databases of its own, whose sockets are root's and which listen on no network.
import { rm } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { CHASSIS_IDENTITY } from '../hypervisor/libvirt/core/resource-names.ts'
import { remoteOf, SOUTHBOUND_PORT } from '../hypervisor/network-controller-address.ts'
import { NAT_PHYSICAL_NETWORK, PUBLIC_PHYSICAL_NETWORK, uplinkPortOf } from '../hypervisor/ovn/public-rows.ts'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { withLibvirt } from './libvirt.ts'
import { disableCentral, isCentralEnabled, isNorthdRunning, loadController, OVN_CTL, startCentral } from './network-controller.ts'
import { answers, hasKernelDatapath, isEnabled, runScript, start } from './open-vswitch.ts'
import { PUBLIC_BRIDGE } from './plan.ts'
import { missing, SetupError, satisfied, type ChassisBundle, type HostPlan, type Step, type Uplink } from './setup-step.ts'
import { BERTH_FOLDER, exists, readFileOrNull, run, writeFileAtomic } from './shell.ts'
import { UPLINK_BRIDGE, VLAN_BRIDGE } from './uplink-move.ts'

const SOUTHBOUND = 'unix:/run/ovn/ovnsb_db.sock'

/** What Debian's units start Open vSwitch with. */
const SYSTEM_ID_FILE = '/etc/openvswitch/system-id.conf'
const CHASSIS = ['ovn-host.service', 'ovn-controller.service']

/** Of the chassis, for the databases of the network controllers. Certificate and key are one file, so that they are renewed together; the driver
 *  writes it too. */
export const chassisFiles = {
  identity: join(BERTH_FOLDER, CHASSIS_IDENTITY),
  ca: join(BERTH_FOLDER, 'network-ca.pem'),
}
/** Of versions that had it apart. */
const OLD_KEY = join(BERTH_FOLDER, 'chassis.key')

type Settings = Record<string, string>

export const ovn: Step = {
  name: 'ovn',
  async check(plan) {
    const problem = await findProblem(plan)
    if (problem) return missing(problem)
    const where = plan.chassis ? ` of ${plan.chassis.controllers.join(', ')}` : ''
    return satisfied(`OVN: this machine is the chassis ${(await settings())['hostname']}${where}`)
  },
  async apply(plan) {
    if (await hasCentral(plan)) await startCentral(plan)
    else if (await exists('/run/ovn/ovnnb_db.pid')) await disableCentral(plan)
    const [known, wanted] = [await settings(), await wantedSettings(plan)]
    requireOwn(known, await readSsl())
    if (plan.bundle?.chassis)
      for (const [path, text] of Object.entries(contents(plan.bundle.chassis))) await writeFileAtomic(path, text, 0o600)
    else if (plan.chassis && (await exists(OLD_KEY)))
      await writeFileAtomic(chassisFiles.identity, `${await readFileOrNull(chassisFiles.identity)}${await readFileOrNull(OLD_KEY)}`, 0o600)
    await rm(OLD_KEY, { force: true })
    // Under its old name the chassis would keep its address in the southbound database, and RBAC lets it change its address there but not its host
    // name: it takes its row along when it is stopped.
    if (['system-id', 'hostname'].some((name) => known[name] !== wanted[name])) await stopController(plan)
    await writeFileAtomic(SYSTEM_ID_FILE, `${wanted['system-id']}\n`)
    if (plan.chassis) await run('ovs-vsctl', '--timeout=30', 'set-ssl', chassisFiles.identity, chassisFiles.identity, chassisFiles.ca)
    const assignments = Object.entries(wanted).map(([name, value]) => `external_ids:${name}="${value}"`)
    await run('ovs-vsctl', '--timeout=30', 'set', 'Open_vSwitch', '.', ...assignments)
    for (const port of await misplacedPorts(plan)) await run('ovs-vsctl', '--timeout=30', '--if-exists', 'del-port', port)
    if (plan.systemd || !(await answers('ovn-appctl', 'ovn-controller', 'version'))) await start(plan, CHASSIS, OVN_CTL, 'start_controller')
    await untilReady(plan)
    if (await hasCentral(plan)) await forgetOldNames(plan, wanted)
  },
}

/** A network controller may be a host too. */
export const hasCentral = async ({ chassis }: Pick<HostPlan, 'chassis'>): Promise<boolean> =>
  chassis === null || (await loadController()) !== null

const contents = ({ key, cert, ca }: ChassisBundle): Record<string, string> => ({
  [chassisFiles.identity]: `${cert}${key}`,
  [chassisFiles.ca]: ca,
})

async function findProblem(plan: HostPlan): Promise<string | null> {
  const central = await hasCentral(plan)
  if (central && !(await isNorthdRunning(await loadController()))) return 'northd of OVN is not active'
  for (const [path, text] of plan.bundle?.chassis ? Object.entries(contents(plan.bundle.chassis)) : [])
    if ((await readFileOrNull(path)) !== text) return 'the certificate of the chassis'
  if (await exists(OLD_KEY)) return 'the key of the chassis is not with its certificate'
  if (plan.chassis && !(await readSsl()).includes(chassisFiles.identity)) return 'Open vSwitch does not use the certificate of the chassis'
  const [known, wanted] = [await settings(), await wantedSettings(plan)]
  const differs = Object.keys(wanted).filter((name) => known[name] !== wanted[name])
  if (differs.length > 0) return `settings of the chassis: ${differs.join(', ')}`
  const misplaced = await misplacedPorts(plan)
  if (misplaced.length > 0) return `ports on other bridges than those of their networks: ${misplaced.join(', ')}`
  if ((await answers('ovn-appctl', 'ovn-controller', 'connection-status')) !== 'connected') return 'ovn-controller is not connected'
  if (plan.systemd && !((!central || (await isCentralEnabled())) && (await isEnabled(CHASSIS[0]!))))
    return 'the units of OVN are not enabled'
  const found = await sbctl(plan, '--bare', '--columns=hostname', 'find', 'Chassis', `name="${wanted['system-id']}"`)
  return found.trim() === wanted['hostname'] ? null : `OVN does not know the chassis ${wanted['hostname']}`
}

export const sbctl = ({ chassis }: HostPlan, ...args: string[]): Promise<string> => {
  const remote = chassis
    ? [
        `--db=${remoteOf(chassis.controllers, SOUTHBOUND_PORT)}`,
        '-p',
        chassisFiles.identity,
        '-c',
        chassisFiles.identity,
        '-C',
        chassisFiles.ca,
      ]
    : [`--db=${SOUTHBOUND}`]
  return run('ovn-sbctl', '--timeout=10', '--no-leader-only', ...remote, ...args).catch(() => '')
}

/** Daemons connect to a restarted database after up to 8 seconds. */
const READY_MS = 20_000

async function untilReady(plan: HostPlan): Promise<void> {
  const elapsed = stopwatch()
  for (;;) {
    const problem = await findProblem(plan)
    if (!problem) return
    if (elapsed() > READY_MS) throw new SetupError(`OVN was started, but ${problem}`, hintFor(plan))
    await sleep(50)
  }
}

/** Rows of this machine under other names, whose ports would be looked for there. A killed ovn-controller leaves its row. */
async function forgetOldNames(plan: HostPlan, { hostname, 'system-id': own }: Settings): Promise<void> {
  const names = await sbctl({ ...plan, chassis: null }, '--bare', '--columns=name', 'find', 'Chassis', `hostname="${hostname}"`)
  for (const name of names.split('\n').filter((each) => each !== '' && each !== own))
    await sbctl({ ...plan, chassis: null }, 'chassis-del', name)
}

const hintFor = ({ chassis }: HostPlan): string =>
  chassis
    ? `check that this machine reaches port ${SOUTHBOUND_PORT} of ${chassis.controllers.join(', ')}, and the logs in /var/log/ovn`
    : 'check its logs in /var/log/ovn'

/** The name is libvirt's, by which the control plane asks for the host of a port. */
async function wantedSettings({ tlsAddress, chassis, uplink }: HostPlan): Promise<Settings> {
  const name = await withLibvirt((libvirt) => libvirt.connect.getHostname())
  const mappings = bridgesOf(uplink)
  const others = ((await settings())[MAPPINGS] ?? '').split(',').filter((each) => each && !(each.split(':')[0]! in mappings))
  const address = tlsAddress ?? (await loadController())?.address
  return {
    'system-id': chassis?.name ?? name,
    hostname: name,
    'ovn-remote': chassis ? remoteOf(chassis.controllers, SOUTHBOUND_PORT) : SOUTHBOUND,
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': address && isIP(address) ? address : '127.0.0.1',
    'ovn-bridge-datapath-type': (await hasKernelDatapath()) ? 'system' : 'netdev',
    [MAPPINGS]: [...others, ...Object.entries(mappings).map(([network, bridge]) => `${network}:${bridge}`)].join(','),
  }
}

const MAPPINGS = 'ovn-bridge-mappings'

/** By the names of physical networks. */
const bridgesOf = (uplink: Uplink | null): Record<string, string> => ({
  [PUBLIC_PHYSICAL_NETWORK]: uplink === null ? PUBLIC_BRIDGE : uplink.vlan === null ? UPLINK_BRIDGE : VLAN_BRIDGE,
  [NAT_PHYSICAL_NETWORK]: PUBLIC_BRIDGE,
})

/** When the bridge of a physical network changes, ovn-controller leaves the port to it where it is: it makes one only where there is none. */
async function misplacedPorts({ uplink }: HostPlan): Promise<string[]> {
  const ports = Object.entries(bridgesOf(uplink)).map(async ([network, bridge]) => {
    const port = `patch-${uplinkPortOf(network)}-to-br-int`
    const place = await run('ovs-vsctl', '--timeout=5', 'port-to-br', port).catch(() => bridge)
    return place.trim() === bridge ? [] : [port]
  })
  return (await Promise.all(ports)).flat()
}

async function settings(): Promise<Settings> {
  const shown = await run('ovs-vsctl', '--timeout=5', '--format=json', '--columns=external_ids', 'list', 'Open_vSwitch')
  const { data } = JSON.parse(shown) as { data: [[['map', [string, string][]]]] }
  return Object.fromEntries(data[0][0][1])
}

const readSsl = (): Promise<string> => run('ovs-vsctl', '--timeout=5', 'get-ssl').catch(() => '')

function requireOwn({ 'ovn-remote': remote = SOUTHBOUND }: Settings, ssl: string): void {
  if (remote === SOUTHBOUND || ssl.includes(chassisFiles.identity)) return
  throw new SetupError(
    `This machine is a chassis of another OVN, ${remote}`,
    'use another machine, or take it out of that OVN: ovs-vsctl remove Open_vSwitch . external_ids ovn-remote',
  )
}

const stopController = ({ systemd }: HostPlan): Promise<string> =>
  systemd ? run('systemctl', '--quiet', 'stop', 'ovn-controller.service') : runScript(OVN_CTL, 'stop_controller')
