// A real host for tests: libvirtd in a sandbox, prepared like any host, with a pool, the public network and its gateway.
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Host } from '@berth/libvirt'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { startPool } from '../../libvirt/test/fixture.ts'
import { script } from '../src/host-setup/boot-unit.ts'
import type { HostPlan } from '../src/host-setup/setup-step.ts'
import { parseCidr } from '../src/kernel/cidr.ts'

export interface LibvirtHost {
  sandboxes: Sandboxes
  sandbox: Sandbox
  /** What a host is registered with. */
  uri: string
  gateway: string
  close(): Promise<void>
}

const GATEWAY = '10.77.0.1'

export async function openLibvirtHost(): Promise<LibvirtHost> {
  const sandboxes = await Sandboxes.open()
  const sandbox = await sandboxes.add()
  await prepare(sandboxes, sandbox)
  return { sandboxes, sandbox, uri: `qemu+unix:///system?socket=${sandbox.socket}`, gateway: GATEWAY, close: () => sandboxes.close() }
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
  bundle: null,
  systemd: false,
}

/** The uplink and the iptables rules, which a power loss removes. */
export const bringNetworkBack = (sandbox: Sandbox): Promise<string> => sandbox.inside('sh', '-ec', script(PLAN))

/**
 * Simulates a power loss: all processes and everything that is not on disk are gone, such as rules, bridges and runtime state of daemons.
 */
export async function losePower(sandbox: Sandbox): Promise<void> {
  const forget = ['iptables', 'iptables -t nat', 'iptables -t raw', 'iptables -t mangle', 'ebtables', 'ebtables -t nat'].map(
    (table) => `${table} -F; ${table} -X`,
  )
  const unplug = `for each in $(ls /sys/class/net); do case $each in brpub0|bpub-gw|bn*) ip link del $each ;; esac; done`
  const settings = 'for each in ipv4/ip_forward bridge/bridge-nf-call-iptables; do echo 0 > /proc/sys/net/$each; done'
  await sandbox.signalDaemon('STOP') // stopped first, so that it does not see its guests die
  await sandbox.inside('sh', '-c', [`kill -9 -1`, ...forget, unplug, settings, 'rm -rf /run/libvirt/*'].join('\n'))
}

export async function returnPower(sandbox: Sandbox): Promise<void> {
  await sandbox.inside('virtlogd', '-d', '-p', '/run/libvirt/virtlogd.pid')
  await sandbox.startDaemon()
  await bringNetworkBack(sandbox)
}

async function prepare(sandboxes: Sandboxes, sandbox: Sandbox): Promise<void> {
  const host = new Host({ endpoint: sandboxes.unix(sandbox) })
  await host.whenUp(30_000)
  await startPool(host, 'berth')
  const network = await host.networks.define({
    xml: `<network><name>berth-public</name><bridge name='brpub0' stp='off' delay='0'/></network>`,
  })
  await host.networks.create({ network })
  await host.networks.setAutostart({ network, autostart: 1 })
  await host.pools.setAutostart({ pool: await host.pools.lookupByName({ name: 'berth' }), autostart: 1 })
  await host.close()
  await bringNetworkBack(sandbox)
}
