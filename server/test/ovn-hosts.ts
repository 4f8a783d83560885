// A region of OVN on this machine: a central and chassis, each in its own namespaces, on the userspace datapath, which needs no kernel module.
// Guests are network namespaces of a chassis with one interface; `outside` is a machine in the public network.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, missingCommands, run } from '../../libvirt/test/command.ts'
import { eventually } from '../../libvirt/test/eventually.ts'
import { unix } from '../../ovsdb/src/index.ts'
import { nativeArch } from '../src/kernel/arch.ts'
import { installTools, sendCommand } from './frame-tools.ts'
import type { End } from './frames.ts'

export function missingForOvn(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  return missingCommands('ovs-vswitchd', 'ovsdb-server', 'ovn-northd', 'ovn-controller', 'ip', 'nsenter', 'ethtool')
}

/** Both databases and the daemon between them. */
export const START_CENTRAL = '/usr/share/ovn/scripts/ovn-ctl start_northd'

export const startSwitch = (name: string): string =>
  `/usr/share/openvswitch/scripts/ovs-ctl start --no-mlockall --system-id=${name} --no-record-hostname`

/** The chassis of a host; `address` is its end of tunnels. */
export const startController = ({ name, address, central }: { name: string; address: string; central: string }): string => {
  const settings = {
    hostname: name,
    'ovn-remote': central,
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': address,
    'ovn-bridge-mappings': 'public:br-ex,nat:br-ex',
  }
  const written = Object.entries(settings).map(([key, value]) => `external_ids:${key}=${value}`)
  return `ovs-vsctl set Open_vSwitch . ${written.join(' ')}
      /usr/share/ovn/scripts/ovn-ctl start_controller`
}

export interface Box {
  name: string
  folder: string
  /** Runs a command inside; resolves to its output. */
  inside(command: string, ...args: string[]): Promise<string>
  shell(script: string): Promise<string>
  remove(): Promise<void>
}

/** Something with one interface that sends frames and records those it receives. */
export interface Guest extends End {
  shell(script: string): Promise<string>
  send(frame: Buffer): Promise<void>
  /** Every frame that arrived, a byte a character. */
  received(): Promise<string>
}

/** Tunnels and databases. */
const TUNNELS = '10.60.0'
/** The public network; `outside` is its gateway. */
export const OUTSIDE = '10.61.0.1'

export class OvnRegion {
  readonly central: Box
  readonly outside: Guest
  readonly chassis: Box[] = []
  private readonly cables: Cables
  private readonly boxes: Box[] = []
  private guests = 0

  private constructor(cables: Cables, central: Box, outside: { box: Box; guest: Guest }) {
    this.cables = cables
    this.central = central
    this.outside = outside.guest
    this.boxes.push(central, outside.box)
  }

  static async open(chassis: number): Promise<OvnRegion> {
    const cables = await layCables()
    const central = await openBox(cables, 'central', ['tunnels'])
    await central.shell(`
      ip addr add ${TUNNELS}.1/24 dev tunnels
      ${START_CENTRAL} --db-nb-create-insecure-remote=yes --db-sb-create-insecure-remote=yes`)
    const region = new OvnRegion(cables, central, await openOutside(cables))
    for (let number = 1; number <= chassis; number++) await region.addChassis(number)
    return region
  }

  get endpoints() {
    const socket = (name: string) => [unix(join(this.central.folder, `run/ovn/${name}.sock`))]
    return { northbound: socket('ovnnb_db'), southbound: socket('ovnsb_db') }
  }

  /** With the interface that libvirt would make for the port. */
  async addGuest(chassis: Box, { mac, address, interfaceId }: End & { interfaceId: string }): Promise<Guest> {
    const name = `g${++this.guests}`
    await chassis.shell(`
      ip netns add ${name}
      ip link add ${name} type veth peer name e0 netns ${name}
      ethtool -K ${name} tx off >/dev/null
      ip netns exec ${name} ethtool -K e0 tx off >/dev/null
      ip -n ${name} link set lo up
      ip -n ${name} link set e0 address ${mac} up
      ip -n ${name} addr add ${address}/24 dev e0
      ip link set ${name} addrgenmode none arp off up
      ovs-vsctl add-port br-int ${name} -- set Interface ${name} external_ids:iface-id=${interfaceId}`)
    return openGuest(chassis, ['ip', 'netns', 'exec', name], name, 'e0', { mac, address })
  }

  async close(): Promise<void> {
    for (const box of this.boxes) await box.remove()
    for (const bridge of Object.values(this.cables.bridges)) await run('ip', 'link', 'del', bridge)
    await rm(this.cables.folder, { recursive: true, force: true })
  }

  /** Tunnels go through an OVS bridge: the userspace datapath sees no other routes. */
  private async addChassis(number: number): Promise<void> {
    const name = `hv${number}`
    const address = `${TUNNELS}.1${number}`
    const box = await openBox(this.cables, name, ['tunnels', 'public'])
    this.boxes.push(box)
    this.chassis.push(box)
    await box.shell(`
      ip link set tunnels arp off
      ip link set public arp off
      ${startSwitch(name)}
      ovs-vsctl add-br br-phy -- set Bridge br-phy datapath_type=netdev other-config:hwaddr=02:60:00:00:00:1${number} -- add-port br-phy tunnels
      ip addr add ${address}/24 dev br-phy
      ip link set br-phy up
      ethtool -K br-phy tx off >/dev/null
      ovs-vsctl add-br br-ex -- set Bridge br-ex datapath_type=netdev -- add-port br-ex public \\
        -- set Open_vSwitch . external_ids:ovn-bridge-datapath-type=netdev
      ${startController({ name, address, central: `tcp:${TUNNELS}.1:6642` })}
      ${installTools(nativeArch())}`)
    await eventually('br-int', () => box.inside('ovs-vsctl', 'br-exists', 'br-int').then(() => true))
  }
}

interface Cables {
  folder: string
  /** Of this machine, which connect the boxes. */
  bridges: { tunnels: string; public: string }
}

let regions = 0

/** The kernel may remove the interfaces of a closed region a moment later, so no name is used twice. */
async function layCables(): Promise<Cables> {
  const name = `${process.pid}x${++regions}`
  const bridges = { tunnels: `t${name}`, public: `p${name}` }
  for (const bridge of Object.values(bridges)) {
    await run('ip', 'link', 'add', bridge, 'type', 'bridge')
    // This machine is no part of the network: as a host it has addresses that those in it have too, and would answer for them.
    await run('ip', 'link', 'set', bridge, 'addrgenmode', 'none', 'arp', 'off', 'up')
  }
  return { folder: await mkdtemp(join(tmpdir(), 'berth-ovn-')), bridges }
}

async function openOutside(cables: Cables): Promise<{ box: Box; guest: Guest }> {
  const box = await openBox(cables, 'outside', ['public'])
  await box.shell(`ip addr add ${OUTSIDE}/24 dev public; ${installTools(nativeArch())}`)
  const mac = (await box.shell('cat /sys/class/net/public/address')).trim()
  return { box, guest: await openGuest(box, [], 'outside', 'public', { mac, address: OUTSIDE }) }
}

async function openGuest(box: Box, enter: string[], name: string, device: string, end: End): Promise<Guest> {
  const [command, ...args] = [...enter, 'sh', '-ec']
  const shell = (script: string): Promise<string> => box.inside(command!, ...args, script)
  const frames = `/run/${name}.frames`
  await shell(`/run/sniff > ${frames} 2>/dev/null </dev/null &`)
  const number = Number(await shell(`cat /sys/class/net/${device}/ifindex`))
  return {
    ...end,
    shell,
    send: async (frame) => void (await shell(sendCommand(frame, number))),
    received: () => readFile(join(box.folder, frames), 'latin1'),
  }
}

async function openBox({ folder: parent, bridges }: Cables, name: string, cables: (keyof Cables['bridges'])[]): Promise<Box> {
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
  const ports = cables.map((cable) => `${bridges[cable]}${name.at(0)}${name.at(-1)}`)
  for (const [i, cable] of cables.entries()) {
    await run('ip', 'link', 'add', ports[i]!, 'type', 'veth', 'peer', 'name', cable, 'netns', inner)
    await run('ethtool', '-K', ports[i]!, 'tx', 'off')
    await run('ip', 'link', 'set', ports[i]!, 'master', bridges[cable], 'up')
    await inside('sh', '-ec', `ethtool -K ${cable} tx off >/dev/null; ip link set ${cable} up`)
  }
  const remove = async (): Promise<void> => {
    await end(first)
    for (const port of ports) await run('ip', 'link', 'del', port).catch(() => undefined)
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
