// Commands and files of the machine being prepared.
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, mkdir, readdir, readFile, readlink, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SETUP_FOLDER } from '../hypervisor/libvirt/core/resource-names.ts'
import { systemClock } from '../kernel/clock.ts'

/** The PATH of a user may lack the sbin folders. */
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
export const SYSTEM_PATH = FOLDERS.join(':')

/** Berth's state of this host and its certificate. */
export const BERTH_FOLDER = SETUP_FOLDER

export const exists = (path: string, mode = constants.F_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

export async function findCommand(name: string): Promise<string | undefined> {
  for (const folder of FOLDERS) if (await exists(join(folder, name), constants.X_OK)) return join(folder, name)
  return undefined
}

/** Runs it in the C locale. Resolves to stdout, rejects with stderr. */
export async function run(command: string, ...args: string[]): Promise<string> {
  const path = await findCommand(command)
  if (!path) throw new Error(`${command} is not installed`)
  return new Promise((resolve, reject) => {
    execFile('/usr/bin/env', ['LC_ALL=C', path, ...args], { timeout: 600_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} ${args.join(' ')}: ${stderr.trim() || error.message}`, { cause: error }))
      else resolve(stdout)
    })
  })
}

export const succeeds = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, ...args).then(
    () => true,
    () => false,
  )

export const readFileOrNull = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null)

/** Atomic and durable: survives a power loss. */
export async function writeFileAtomic(path: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, text, { mode, flush: true })
  await chmod(`${path}.new`, mode)
  await rename(`${path}.new`, path)
}

export const hasSystemd = (): Promise<boolean> => exists('/run/systemd/system')

export interface Daemon {
  pid: number
  args: string[]
  startedAt: Date
}

/** Only daemons in our mount namespace: those in containers belong to other installations. */
export async function findDaemon(name: string): Promise<Daemon | undefined> {
  const ours = await readlink('/proc/self/ns/mnt')
  for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    if ((await readFileOrNull(`/proc/${pid}/comm`))?.trim() !== name) continue
    if ((await readlink(`/proc/${pid}/ns/mnt`).catch(() => null)) !== ours) continue
    const args = (await readFileOrNull(`/proc/${pid}/cmdline`))?.split('\0') ?? []
    return { pid: Number(pid), args, startedAt: await startOf(pid) }
  }
  return undefined
}

const TICKS_PER_SECOND = 100

async function startOf(pid: string): Promise<Date> {
  const stat = (await readFileOrNull(`/proc/${pid}/stat`)) ?? ''
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const uptimeSeconds = Number((await readFile('/proc/uptime', 'utf8')).split(' ')[0])
  return new Date(systemClock.now().getTime() - (uptimeSeconds - ticks / TICKS_PER_SECOND) * 1000)
}
