// A Debian machine with systemd as its first process, in namespaces of this one: with a root file system, processes, users, network and cgroups of its own.
// It can be rebooted, and reaches nothing outside.
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { access, copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { env, missingCommands } from '../../libvirt/test/command.ts'
import lists from '../../server/src/host-setup/packages.json' with { type: 'json' }
import { debianSources } from '../../server/src/images/debian/sources.ts'
import { withPrograms } from '../../server/src/images/foreign-programs.ts'
import { debianArch } from '../../server/src/images/arch.ts'
import { nativeArch, type Arch } from '../../server/src/kernel/arch.ts'
import { eventually } from '../../server/test/processes.ts'
import { scratchFolder } from '../../server/test/scratch-folder.ts'

const RELEASE = 'bookworm'
/** On its network card, whose other end nothing is at. */
export const BOX_ADDRESS = '10.9.0.1'
/** What the package depends on and recommends, and what hosts need, so that apt needs no network; and what operators have. */
const PACKAGES = [
  'adduser,bsdutils,caddy,ca-certificates,curl,dbus,openssh-client,openssl,postgresql,qemu-utils,sudo,systemd,systemd-sysv,xz-utils',
  ...lists.host.all,
  ...lists.host[process.arch === 'arm64' ? 'arm64' : 'x64'],
].join()

export function missingForBox(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  return missingCommands('mmdebstrap', 'unshare', 'nsenter', 'setpriv', 'pivot_root', 'dpkg-deb')
}

export interface Outcome {
  code: number
  /** Both streams, as a terminal shows them. */
  output: string
}

export interface Box {
  root: string
  /** In /root, as an administrator types it. */
  run(script: string): Promise<Outcome>
  /** Before it boots, without systemd. */
  chroot(script: string): Promise<Outcome>
  /** On a terminal: answers each question that contains the text. */
  type(script: string, answers: [question: string, answer: string][]): Promise<Outcome>
  boot(): Promise<void>
  reboot(): Promise<void>
  close(): Promise<void>
}

/** `files` are in /root. */
export async function createBox(...files: string[]): Promise<Box> {
  const folder = await scratchFolder()
  const root = join(folder.path, 'root')
  await mkdir(root)
  await succeed('tar', '-xf', await rootArchive(nativeArch(), PACKAGES), '-C', root, '--numeric-owner')
  await writeFile(join(root, 'etc/hostname'), 'box\n')
  await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost box\n')
  await writeFile(join(root, 'etc/apt/apt.conf.d/90box'), 'APT::Get::Assume-Yes "true";\nDpkg::Use-Pty "false";\n')
  await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/box'), 'force-unsafe-io\n')
  for (const file of files) await copyFile(file, join(root, 'root', basename(file)))
  const group = join(await cgroups(), `berth-box-${basename(folder.path)}`)
  await mkdir(group)

  let init: { supervisor: ChildProcess; pid: string } | undefined
  const clean = [
    'env',
    '-i',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME=/root',
    'LC_ALL=C.UTF-8',
    'DEBIAN_FRONTEND=noninteractive',
    'TERM=dumb',
  ]
  const inside = (...command: string[]): string[] => ['nsenter', '--target', init!.pid, '--all', '--root', ...clean, ...command]

  async function boot(): Promise<void> {
    const command = ['--pdeathsig', 'KILL', 'sh', '-ec', 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"', 'sh', group]
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--uts', '--ipc', '--net', '--cgroup', '--propagation', 'private']
    const supervisor = spawn('setpriv', [...command, 'unshare', ...namespaces, 'sh', '-ec', ENTER, root, `${BOX_ADDRESS}/24`], {
      env,
      stdio: 'ignore',
    })
    const pid = await eventually(async () => (await childOf(supervisor.pid!)) ?? (supervisor.exitCode === null ? null : 'none'))
    init = { supervisor, pid }
    await eventually(async () => {
      if (supervisor.exitCode !== null) throw new Error('The first process of the box has ended')
      const { output } = await execute(inside('systemctl', 'is-system-running', '--wait'))
      return /^(running|degraded)$/m.test(output)
    }, 240_000)
  }

  async function end(): Promise<void> {
    if (!init || init.supervisor.exitCode !== null || init.supervisor.signalCode !== null) return
    const ended = once(init.supervisor, 'exit')
    init.supervisor.kill('SIGKILL')
    await ended
  }

  return {
    root,
    boot,
    run: (script) => execute(inside('bash', '-c', `cd /root; ${script}`)),
    chroot: (script) => execute(['chroot', root, ...clean, 'bash', '-c', `cd /root; ${script}`]),
    type: (script, answers) => execute(inside('script', '--quiet', '--return', '--command', `cd /root; ${script}`, '/dev/null'), answers),
    async reboot() {
      const ended = once(init!.supervisor, 'exit', { signal: AbortSignal.timeout(180_000) })
      await execute(inside('systemctl', 'reboot'))
      await ended
      await boot()
    },
    async close() {
      await end()
      await eventually(() =>
        succeed('find', group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';').then(
          () => true,
          () => false,
        ),
      )
      await folder.remove()
    },
  }
}

/** Becomes the first process of the box. */
const ENTER = `
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm dev/net
for name in null zero full random urandom tty net/tun; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
pivot_root . mnt
umount -l mnt
ip link set lo up
ip link add eth0 type veth peer name wire
ip addr add $1 dev eth0
ip link set eth0 up
ip link set wire up
exec env -i container=berth PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 /lib/systemd/systemd --show-status=false`

/** A Debian with these packages. Made once, kept for the next run. */
export async function rootArchive(arch: Arch, packages: string): Promise<string> {
  const path = join(tmpdir(), `berth-box-${arch}-${createHash('sha256').update(packages).digest('hex').slice(0, 12)}.tar`)
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (isThere) return path
  const sources = Object.entries(await debianSources(RELEASE)).filter(([, text]) => text !== '')
  const files = await Promise.all(
    sources.map(async ([suffix, text]) => {
      const file = join(tmpdir(), `debian-${process.pid}.${suffix}`) // apt in the box has the name
      await writeFile(file, text as string)
      return file
    }),
  )
  await succeed(
    'unshare',
    '--mount',
    ...withPrograms(arch, 'mmdebstrap'),
    '--variant=minbase',
    `--architectures=${debianArch(arch)}`,
    '--format=tar',
    '--dpkgopt=force-unsafe-io',
    `--include=${packages}`,
    RELEASE,
    `${path}.${process.pid}`,
    ...files,
  )
  await rename(`${path}.${process.pid}`, path)
  await succeed('rm', '-f', ...files)
  return path
}

async function cgroups(): Promise<string> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '))
  const found = mounts.find(([, , type]) => type === 'cgroup2')?.[1]
  if (!found) throw new Error('This machine has no cgroup2')
  return found
}

/** The process that `unshare --fork` forked. */
export async function childOf(pid: number): Promise<string | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return children.trim() || undefined
}

export async function succeed(...command: string[]): Promise<void> {
  const { code, output } = await execute(command)
  if (code !== 0) throw new Error(`${command.join(' ')}: ${output}`)
}

/** For the other architecture each program is emulated. */
const LONGEST_MS = 1_800_000

export async function execute([program, ...args]: string[], answers: [string, string][] = []): Promise<Outcome> {
  const child = spawn(program!, args, { env, stdio: 'pipe', timeout: LONGEST_MS, killSignal: 'SIGKILL' })
  const open = [...answers]
  let [output, seen] = ['', 0]
  const hear = (more: string): void => {
    output += more
    const at = open[0] ? output.indexOf(open[0][0], seen) : -1
    if (at === -1) return
    seen = output.length
    child.stdin.write(`${open.shift()![1]}\n`)
  }
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  if (answers.length === 0) child.stdin.end()
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? -1, output }
}
