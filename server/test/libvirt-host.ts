// A real host for tests: libvirtd and OVN, central and chassis, in a sandbox, prepared like any host, with a pool and the gateway of the public
// network.
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Host } from '@berth/libvirt'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { missingForSandbox } from '../../libvirt/test/command.ts'
import { eventually } from '../../libvirt/test/eventually.ts'
import { startPool } from '../../libvirt/test/fixture.ts'
import { forwardingCommands } from '../src/host-setup/forwarding.ts'
import { masqueradeCommands } from '../src/host-setup/masquerade.ts'
import type { HostPlan } from '../src/host-setup/setup-step.ts'
import { uplinkCommands } from '../src/host-setup/uplink.ts'
import { parseCidr } from '../src/kernel/cidr.ts'
import { missingForOvn, START_CENTRAL, startController, startSwitch } from './ovn-hosts.ts'

/** Says why no such host can run here. */
export const missingForLibvirtHost = (...commands: string[]): string | undefined => missingForSandbox(...commands) ?? missingForOvn()

export interface LibvirtHost {
  sandboxes: Sandboxes
  sandbox: Sandbox
  /** What it calls itself. */
  name: string
  /** What a host is registered with. */
  uri: string
  /** Of the region's networks. */
  networkController: string
  gateway: string
  close(): Promise<void>
}

const GATEWAY = '10.77.0.1'

export async function openLibvirtHost(): Promise<LibvirtHost> {
  const sandboxes = await Sandboxes.open()
  const sandbox = await sandboxes.add()
  const [name] = await Promise.all([startNetwork(sandbox), addPool(sandboxes, sandbox)])
  return {
    sandboxes,
    sandbox,
    name,
    uri: `qemu+unix:///system?socket=${sandbox.socket}`,
    networkController: `unix:${join(sandbox.folder, 'ovn/run')}`,
    gateway: GATEWAY,
    close: () => sandboxes.close(),
  }
}

/** The URI with the folder in which its files are visible here, like those of this machine: VNC sockets need that. */
export async function uriWithFiles({ sandbox, uri }: LibvirtHost): Promise<string> {
  const root = join(sandbox.folder, 'root')
  await mkdir(join(root, 'var/lib'), { recursive: true })
  await symlink(join(sandbox.folder, 'lib'), join(root, 'var/lib/libvirt'))
  return `${uri}&root=${root}`
}

const PLAN: HostPlan = {
  range: parseCidr(`${GATEWAY}/16`)!,
  gateway: GATEWAY,
  poolPath: '/var/lib/libvirt/images/berth',
  tlsAddress: null,
  allowed: [],
  chassis: null,
  uplink: null,
  loopback: [],
  bundle: null,
  systemd: false,
}

/** The daemons, the uplink and the rules, none of which survives a power loss; the databases do. */
const networkScript = (name: string, address: string): string => `
${startSwitch(name)}
${START_CENTRAL}
${forwardingCommands}
${masqueradeCommands(PLAN)}
${uplinkCommands(PLAN)}
${startController({ name, address, central: 'unix:/run/ovn/ovnsb_db.sock' })}`

async function startNetwork(sandbox: Sandbox): Promise<string> {
  const name = (await sandbox.inside('hostname')).trim()
  await sandbox.inside('sh', '-ec', networkScript(name, sandbox.address))
  await eventually('br-int', () => sandbox.inside('ovs-vsctl', 'br-exists', 'br-int').then(() => true))
  return name
}

/** Simulates a power loss: all processes and everything that is not on disk are gone, such as rules, interfaces and runtime state of daemons. */
export async function losePower(sandbox: Sandbox): Promise<void> {
  const tables = ['iptables', 'iptables -t nat', 'iptables -t raw', 'ip6tables -t raw', 'arptables-nft']
  const forget = tables.map((table) => `${table} -F; ${table} -X`)
  const unplug = 'for each in $(ls /sys/class/net); do case $each in lo|mgmt0) ;; *) ip link del $each ;; esac; done'
  const state = '/run/libvirt/* /run/ovn/* /run/openvswitch/*'
  await sandbox.signalDaemon('STOP') // stopped first, so that it does not see its guests die
  await sandbox.inside(
    'sh',
    '-c',
    ['kill -9 -1', ...forget, unplug, 'echo 0 > /proc/sys/net/ipv4/ip_forward', `rm -rf ${state}`].join('\n'),
  )
}

export async function returnPower(sandbox: Sandbox): Promise<void> {
  await startNetwork(sandbox)
  await sandbox.inside('virtlogd', '-d', '-p', '/run/libvirt/virtlogd.pid')
  await sandbox.startDaemon()
}

async function addPool(sandboxes: Sandboxes, sandbox: Sandbox): Promise<void> {
  const host = new Host({ endpoint: sandboxes.unix(sandbox) })
  await host.whenUp(30_000)
  const pool = await startPool(host, 'berth')
  await host.pools.setAutostart({ pool, autostart: 1 })
  await host.close()
}
