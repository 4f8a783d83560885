// Sandboxed hosts added like remote machines: a network controller on a machine of its own, and for each host a certificate, `host prepare` on
// the machine, `host add` over TLS.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import type { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { sql, type Db } from '../src/kernel/database/db.ts'
import { bareMachine, failure, type Report } from './bare-machine.ts'
import { berthdJson, type Settings } from './processes.ts'

export interface TlsHost {
  id: string
  name: string
  sandbox: Sandbox
  /** Disconnects and reconnects the link to us. Guests are not affected. */
  cutOff(): Promise<unknown>
  reconnect(): Promise<unknown>
}

export async function tlsHosts(sandboxes: Sandboxes, settings: Settings, names: string[]): Promise<TlsHost[]> {
  await addController(await sandboxes.add(), settings)
  const hosts: TlsHost[] = []
  for (const name of names) hosts.push(await joinFleet(settings, name, await sandboxes.add()))
  return hosts
}

/** The machine becomes the network controller of the only region. */
export async function addController(sandbox: Sandbox, settings: Settings): Promise<void> {
  const bundle = join(sandbox.folder, 'bundle')
  await berthdJson(settings, 'network-controller', 'certificate', '--address', sandbox.address, '--out', bundle)
  const { berthd } = await bareMachine(sandbox)
  requireDone(await berthd('network-controller', 'prepare', '--certificate', bundle))
  const [region] = await berthdJson<{ slug: string }[]>(settings, 'region', 'list')
  await berthdJson(settings, 'region', 'set', region!.slug, '--network-controller', `ssl:${sandbox.address}`)
}

async function joinFleet(settings: Settings, name: string, sandbox: Sandbox): Promise<TlsHost> {
  const bundle = join(sandbox.folder, 'bundle')
  const { range } = await berthdJson(settings, 'host', 'certificate', '--address', sandbox.address, '--out', bundle)
  const { prepare, shell } = await bareMachine(sandbox)
  requireDone(await prepare('--certificate', bundle))
  await rm(bundle)
  await shell(tunnelBridge(sandbox.address))
  const uri = `qemu+tls://${sandbox.address}/system`
  const { id } = await berthdJson(settings, 'host', 'add', uri, '--name', name, '--range', range!)
  const link = (state: 'up' | 'down') => sandbox.inside('ip', 'link', 'set', 'mgmt0', state)
  return { id: id!, name, sandbox, cutOff: () => link('down'), reconnect: () => link('up') }
}

/** In user space Open vSwitch finds the way of its tunnels only through a bridge of its own, which therefore gets the machine's address. */
export const tunnelBridge = (address: string): string => `
  ip link set mgmt0 arp off
  ethtool -K mgmt0 tx off >/dev/null
  mac=$(cat /sys/class/net/mgmt0/address)
  ovs-vsctl add-br br-phy -- set Bridge br-phy datapath_type=netdev other-config:hwaddr=$mac -- add-port br-phy mgmt0
  ethtool -K br-phy tx off >/dev/null
  ip addr flush dev mgmt0
  ip addr add ${address}/24 dev br-phy
  ip link set br-phy up`

export function requireDone(report: Report): void {
  const failed = failure(report)
  if (failed) throw new Error(`${failed.message}\n${failed.fix}`)
}

/** Addresses that VMs keep when they move, instead of a range of its own for each host. Returns the slug of the region. */
export async function addRegionRange(settings: Settings, db: Db, cidr: string, gateway: string): Promise<string> {
  for (const pool of await db.many<{ cidr: string }>(sql`select cidr from address_pools`))
    await berthdJson(settings, 'ip-pool', 'remove', pool.cidr, '--yes')
  const { slug } = await db.one<{ slug: string }>(sql`select slug from regions`)
  await berthdJson(settings, 'ip-pool', 'add', '--region', slug, '--cidr', cidr, '--gateway', gateway)
  return slug
}
