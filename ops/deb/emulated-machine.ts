// A Debian machine of the other architecture, without systemd: QEMU emulates each of its programs. It has a root file system, processes and a network of
// its own, and reaches nothing outside.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { env } from '../../libvirt/test/command.ts'
import { withPrograms } from '../../server/src/images/foreign-programs.ts'
import type { Arch } from '../../server/src/kernel/arch.ts'
import { eventually } from '../../server/test/processes.ts'
import { scratchFolder } from '../../server/test/scratch-folder.ts'
import { childOf, execute, rootArchive, succeed, type Outcome } from './box.ts'

/** What the package depends on, and a database. */
const PACKAGES = 'adduser,ca-certificates,curl,openssl,postgresql,procps,sudo,xz-utils'

const ENTER = `
cd "$0"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount --bind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ip link set lo up
exec sleep infinity`

const CLEAN = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive']

export interface Machine {
  /** In /root, as root. */
  run(script: string): Promise<Outcome>
  close(): Promise<void>
}

/** `files` are in /root. */
export async function emulatedMachine(arch: Arch, ...files: string[]): Promise<Machine> {
  const folder = await scratchFolder()
  const root = join(folder.path, 'root')
  await mkdir(root)
  await succeed('tar', '-xf', await rootArchive(arch, PACKAGES), '-C', root, '--numeric-owner')
  await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n')
  await writeFile(join(root, 'etc/apt/apt.conf.d/90machine'), 'APT::Get::Assume-Yes "true";\nDpkg::Use-Pty "false";\n')
  for (const file of files) await copyFile(file, join(root, 'root', basename(file)))
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--net', '--uts', '--propagation', 'private']
  const enter = withPrograms(arch, 'sh', '-ec', ENTER, root)
  const supervisor = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...namespaces, ...enter], { env, stdio: 'ignore' })
  const pid = await eventually(() => childOf(supervisor.pid!))
  const inside = ['nsenter', '--target', pid, '--mount', '--pid', '--net', '--uts', 'chroot', root, ...CLEAN]
  const run = (script: string): Promise<Outcome> => execute([...inside, 'bash', '-c', `cd /root; ${script}`])
  await eventually(async () => (await run('hostname localhost && test -e /dev/shm && ! rmdir /dev/shm 2> /dev/null')).code === 0)
  return {
    run,
    async close() {
      const ended = once(supervisor, 'exit')
      supervisor.kill('SIGKILL')
      await ended
      await folder.remove()
    },
  }
}
