// A region of OVN on this machine: a central and chassis, each in its own namespaces, on the userspace datapath, which needs no kernel module.
// Guests are network namespaces of a chassis with one interface.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, missingCommands, run } from '../../libvirt/test/command.ts'
import { eventually } from '../../libvirt/test/eventually.ts'
import { nativeArch } from '../src/kernel/arch.ts'
import { installTools, sendCommand } from './frame-tools.ts'
import type { End } from './frames.ts'
import { unix } from '../../ovsdb/src/index.ts'

export function missingForOvn(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  return missingCommands('ovs-vswitchd', 'ovsdb-server', 'ovn-northd', 'ovn-controller', 'ip', 'nsenter', 'ethtool')
}

export interface Box {
  name: string
  folder: string
  /** Runs a command inside; resolves to its output. */
  inside(command: string, ...args: string[]): Promise<string>
  shell(script: string): Promise<string>
  remove(): Promise<void>
}

export interface Guest extends End {
  chassis: Box
  shell(script: string): Promise<string>
  send(frame: Buffer): Promise<void>
  /** Every frame that arrived, as text. */
  received(): Promise<string>
}

export class OvnRegion {
  readonly folder: string
  readonly central: Box
  readonly chassis: Box[] = []
  private readonly bridge: string
  private guests = 0

  private constructor(folder: string, bridge: string, central: Box) {
    this.folder = folder
    this.bridge = bridge
    this.central = central
  }

  static async open(chassis: number): Promise<OvnRegion> {
    const folder = await mkdtemp(join(tmpdir(), 'berth-ovn-'))
    const bridge = await addBridge()
    const central = await openBox(folder, 'central', bridge, '10.60.0.1')
    await central.shell(`
      ip addr add 10.60.0.1/24 dev eth0
      /usr/share/ovn/scripts/ovn-ctl start_northd --db-nb-create-insecure-remote=yes --db-sb-create-insecure-remote=yes`)
    const region = new OvnRegion(folder, bridge, central)
    for (let number = 1; number <= chassis; number++) region.chassis.push(await region.addChassis(number))
    return region
  }

  get endpoints() {
    const socket = (name: string) => [unix(join(this.central.folder, `run/ovn/${name}.sock`))]
    return { northbound: socket('ovnnb_db'), southbound: socket('ovnsb_db') }
  }

  /** With the interface that libvirt would make for the port. */
  async addGuest(chassis: Box, { mac, address, interfaceId }: End & { interfaceId: string }): Promise<Guest> {
    const name = `g${++this.guests}`
    const frames = `/run/${name}.frames`
    await chassis.shell(`
      ip netns add ${name}
      ip link add ${name} type veth peer name e0 netns ${name}
      ethtool -K ${name} tx off >/dev/null
      ip netns exec ${name} ethtool -K e0 tx off >/dev/null
      ip -n ${name} link set lo up
      ip -n ${name} link set e0 address ${mac} up
      ip link set ${name} up
      ovs-vsctl add-port br-int ${name} -- set Interface ${name} external_ids:iface-id=${interfaceId}
      ip netns exec ${name} ip addr add ${address}/24 dev e0
      ip netns exec ${name} sh -c '/run/sniff > ${frames} 2>/dev/null </dev/null &'`)
    const shell = (script: string) => chassis.inside('ip', 'netns', 'exec', name, 'sh', '-ec', script)
    const number = Number(await shell('cat /sys/class/net/e0/ifindex'))
    return {
      mac,
      address,
      chassis,
      shell,
      send: async (frame) => void (await shell(sendCommand(frame, number))),
      received: () => readFile(join(chassis.folder, frames), 'latin1'),
    }
  }

  async close(): Promise<void> {
    for (const box of [...this.chassis, this.central]) await box.remove()
    await run('ip', 'link', 'del', this.bridge)
    await rm(this.folder, { recursive: true, force: true })
  }

  /** `eth0` carries the tunnels, through an OVS bridge: the userspace datapath sees no other routes. `br-ex` is the public uplink, with a
   *  namespace `outside` behind it. */
  private async addChassis(number: number): Promise<Box> {
    const name = `hv${number}`
    const address = `10.60.0.1${number}`
    const box = await openBox(this.folder, name, this.bridge, address)
    await box.shell(`
      ip link set eth0 arp off
      /usr/share/openvswitch/scripts/ovs-ctl start --no-mlockall --system-id=${name} --no-record-hostname
      ovs-vsctl add-br br-phy -- set Bridge br-phy datapath_type=netdev other-config:hwaddr=02:60:00:00:00:1${number} -- add-port br-phy eth0
      ip addr add ${address}/24 dev br-phy
      ip link set br-phy up
      ethtool -K br-phy tx off >/dev/null
      ovs-vsctl add-br br-ex -- set Bridge br-ex datapath_type=netdev
      ip link set br-ex up
      ovs-vsctl set Open_vSwitch . external_ids:ovn-remote=tcp:10.60.0.1:6642 external_ids:ovn-encap-type=geneve \\
        external_ids:ovn-encap-ip=${address} external_ids:ovn-bridge-datapath-type=netdev external_ids:hostname=${name} \\
        external_ids:ovn-bridge-mappings=public:br-ex
      /usr/share/ovn/scripts/ovn-ctl start_controller
      ${installTools(nativeArch())}`)
    await eventually('br-int', () => box.inside('ovs-vsctl', 'br-exists', 'br-int').then(() => true))
    return box
  }
}

let regions = 0

/** The interfaces of a closed region may live a moment longer, so no name is used twice. */
async function addBridge(): Promise<string> {
  const bridge = `o${process.pid}x${++regions}`
  await run('ip', 'link', 'add', bridge, 'type', 'bridge')
  await run('ip', 'link', 'set', bridge, 'up')
  return bridge
}

async function openBox(parent: string, name: string, bridge: string, address: string): Promise<Box> {
  const folder = join(parent, name)
  await mkdir(join(folder, 'run'), { recursive: true })
  await writeFile(join(folder, 'first.sh'), firstScript(folder, name))
  const kinds = ['--mount', '--uts', '--net', '--pid', '--fork', '--mount-proc', '--kill-child']
  const first = spawn('unshare', [...kinds, 'bash', join(folder, 'first.sh')], { env, stdio: ['pipe', 'ignore', 'inherit'] })
  const inner = await eventually(
    'the first process of the box',
    async () => (await readFile(`/proc/${first.pid}/task/${first.pid}/children`, 'utf8')).trim() || undefined,
  )
  const inside = (command: string, ...args: string[]) => run('nsenter', '-t', inner, '-m', '-n', '-p', '-u', '--', command, ...args)
  await eventually('the mounts of the box', () => readFile(join(folder, 'run/ready')).then(() => true))
  const port = `${bridge}-${address.split('.').at(-1)}`
  await run('ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', inner)
  await run('ethtool', '-K', port, 'tx', 'off')
  await run('ip', 'link', 'set', port, 'master', bridge, 'up')
  await inside('sh', '-ec', 'ethtool -K eth0 tx off; ip link set eth0 up')
  const remove = async (): Promise<void> => {
    await end(first)
    await run('ip', 'link', 'del', port).catch(() => undefined) // the kernel takes its time to remove what the box had
  }
  return { name, folder, inside, shell: (script) => inside('sh', '-ec', script), remove }
}

async function end(first: ChildProcess): Promise<void> {
  if (first.exitCode !== null || first.signalCode !== null) return
  const ended = new Promise((resolve) => first.once('exit', resolve))
  first.stdin?.end()
  await ended
}

const firstScript = (folder: string, name: string): string => `set -e
mount --make-rprivate /
mount --bind ${folder}/run /run; mkdir -p /run/lock /run/netns /run/ovn /run/openvswitch
for each in /etc/openvswitch /etc/ovn /var/lib/ovn /var/lib/openvswitch /var/log/ovn /var/log/openvswitch; do
  mkdir -p $each; mount -t tmpfs tmpfs $each
done
mount -t sysfs sysfs /sys
hostname ${name}
ip link set lo up
touch /run/ready
while read -r _; do :; done
`
