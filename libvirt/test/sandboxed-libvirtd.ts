// A sandboxed libvirt host: libvirtd in its own PID, network, mount and UTS namespaces, with a unix socket and TLS, and room for Open vSwitch
// and OVN beside it. When the sandbox's first process ends, or this one dies, the kernel kills everything inside: daemons, guests, interfaces.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { access, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { env, run } from './command.ts'
import { eventually } from './eventually.ts'
import type { Identity } from './certificates.ts'

export interface SandboxOptions {
  folder: string
  name: string
  uuid: string
  /** The sandbox's address, and the bridge of this machine that it is attached to. */
  network: { address: string; bridge: string }
  identity: Identity
  ca: string
  libvirtdConf?: string
}

export interface Sandbox {
  socket: string
  folder: string
  address: string
  /** Prefix of a command that runs inside. */
  enter: string[]
  /** Runs a command inside; resolves to its output. */
  inside(command: string, ...args: string[]): Promise<string>
  virsh(...args: string[]): Promise<string>
  /** `KILL`, `STOP`: the guests keep running. */
  signalDaemon(signal: string): Promise<string>
  startDaemon(): Promise<void>
  remove(): Promise<void>
}

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const folder = join(options.folder, options.name)
  await furnish(folder, options)
  const first = await startFirstProcess(folder, options.name)
  const pid = String(first.pid)
  // The child of unshare is the first process of the new namespaces.
  const inner = await eventually('the first process of the sandbox', async () => {
    return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim() || undefined
  })
  const enter = ['nsenter', '-t', inner, '-m', '-n', '-p', '-u', '--']
  const inside = (command: string, ...args: string[]) => run('nsenter', ...enter.slice(1), command, ...args)
  await eventually('the mounts of the sandbox', () => access(join(folder, 'run/ready')).then(() => true))
  await plugIn(inner, inside, options)
  const socket = join(folder, 'run/libvirt-sock')
  const virsh = (...args: string[]) => run('virsh', '-c', `qemu+unix:///system?socket=${socket}`, ...args)
  const startDaemon = async () => {
    // A killed daemon, or a child that it was forking, may hold its port for a moment.
    const start = `rm -f /run/libvirt/libvirtd.pid; exec libvirtd --listen -d -p /run/libvirt/libvirtd.pid`
    await eventually('the start of libvirtd', () => inside('sh', '-c', start).then(() => true))
    await eventually('libvirtd', () => virsh('uri'))
  }
  await inside('virtlogd', '-d', '-p', '/run/libvirt/virtlogd.pid')
  await startDaemon()
  return {
    socket,
    folder,
    address: options.network.address,
    enter,
    inside,
    startDaemon,
    virsh,
    signalDaemon: (signal) => inside('sh', '-c', `kill -${signal} $(cat /run/libvirt/libvirtd.pid)`),
    remove: () => end(first),
  }
}

/** The first process runs until its stdin, a pipe from this process, is closed. It is bash, because bash reaps orphans. */
async function startFirstProcess(folder: string, name: string): Promise<ChildProcess> {
  const kinds = ['--mount', '--uts', '--net', '--pid', '--fork', '--mount-proc', '--kill-child']
  const child = spawn('unshare', [...kinds, 'bash', join(folder, 'first.sh'), name], { env, stdio: ['pipe', 'ignore', 'inherit'] })
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  return child
}

async function end(first: ChildProcess): Promise<void> {
  if (first.exitCode !== null || first.signalCode !== null) return
  const ended = new Promise((resolve) => first.once('exit', resolve))
  first.stdin?.end()
  await ended
}

async function plugIn(pid: string, inside: Sandbox['inside'], { name, network }: SandboxOptions): Promise<void> {
  const port = `${network.bridge}${name}`.slice(0, 15)
  await run('ip', 'link', 'del', port).catch(() => undefined) // of an earlier one, which the kernel has not removed yet
  await run('ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'mgmt0', 'netns', pid)
  await run('ip', 'link', 'set', port, 'master', network.bridge, 'up')
  await inside('ip', 'addr', 'add', `${network.address}/24`, 'dev', 'mgmt0')
  await inside('ip', 'link', 'set', 'mgmt0', 'up')
}

async function furnish(folder: string, options: SandboxOptions): Promise<void> {
  const parts = ['etc/qemu/networks', 'etc/nwfilter', 'lib/images', 'lib/qemu', 'lib/dnsmasq', 'log/qemu', 'pki/private']
  for (const part of [...parts, ...Object.keys(BINDS)]) await mkdir(join(folder, part), { recursive: true })
  await writeFile(join(folder, 'etc/libvirtd.conf'), daemonConf(options))
  await writeFile(
    join(folder, 'etc/qemu.conf'),
    `cgroup_controllers = []\nuser = "root"\ngroup = "+${await groupOfKvm()}"\nswtpm_group = "+${await groupOfKvm()}"\nsecurity_driver = "none"\nremember_owner = 0\n`,
  )
  await writeFile(join(folder, 'pki/cacert.pem'), options.ca)
  for (const role of ['server', 'client']) {
    await writeFile(join(folder, `pki/${role}cert.pem`), options.identity.cert)
    await writeFile(join(folder, `pki/private/${role}key.pem`), options.identity.key)
  }
  await writeFile(join(folder, 'first.sh'), firstScript(folder))
}

/** Guests run as users of their own, to whom only their group opens the device. */
const groupOfKvm = (): Promise<number> =>
  stat('/dev/kvm').then(
    ({ gid }) => gid,
    () => 0,
  )

function daemonConf({ network, uuid, libvirtdConf = '' }: SandboxOptions): string {
  return `listen_tls = 1
listen_tcp = 0
listen_addr = "${network.address}"
ca_file = "/etc/pki/CA/cacert.pem"
cert_file = "/etc/pki/libvirt/servercert.pem"
key_file = "/etc/pki/libvirt/private/serverkey.pem"
auth_unix_rw = "none"
host_uuid = "${uuid}"
log_outputs = "3:file:/var/log/libvirt/libvirtd.log"
${libvirtdConf}`
}

/** Folders of the sandbox, visible here, and where they are inside. They survive its daemons. */
const BINDS = {
  etc: '/etc/libvirt',
  run: '/run/libvirt',
  lib: '/var/lib/libvirt',
  log: '/var/log/libvirt',
  cache: '/var/cache/libvirt',
  'openvswitch/etc': '/etc/openvswitch',
  'openvswitch/lib': '/var/lib/openvswitch',
  'openvswitch/log': '/var/log/openvswitch',
  'ovn/etc': '/etc/ovn',
  'ovn/lib': '/var/lib/ovn',
  'ovn/log': '/var/log/ovn',
  'ovn/run': '/run/ovn',
}

function firstScript(folder: string): string {
  return `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run; mkdir /run/lock /run/openvswitch
${Object.entries(BINDS)
  .map(([from, to]) => `mkdir -p ${to}; mount --bind ${folder}/${from} ${to}`)
  .join('\n')}
mkdir -p /etc/pki; mount -t tmpfs tmpfs /etc/pki; mkdir /etc/pki/CA /etc/pki/libvirt
cp ${folder}/pki/cacert.pem /etc/pki/CA; cp -r ${folder}/pki/. /etc/pki/libvirt
mount -t sysfs sysfs /sys
hostname "$1"
ip link set lo up
echo 1 > /proc/sys/net/ipv4/ip_forward
touch /run/libvirt/ready
while read -r _; do :; done
`
}
