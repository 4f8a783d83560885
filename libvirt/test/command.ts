// System commands, with root's PATH, and in the C locale: tests read their output, and libvirtd started by them reports in English.
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)
export const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin`, LC_ALL: 'C' }

/** What it prints. */
export async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { env, timeout: 120_000, maxBuffer: 1 << 26 })
  return stdout
}

export function hasCommands(...names: string[]): boolean {
  return succeeds('sh', '-c', names.map((name) => `command -v ${name}`).join(' && '))
}

/** Whether hosts can be boxed here: it takes root, namespaces, libvirt and QEMU, for x86 unless something else is wanted inside. */
export function canBox(...wanted: string[]): boolean {
  const needed = ['libvirtd', 'virtlogd', 'virsh', 'qemu-img', 'nsenter', 'ip', 'openssl']
  const inside = wanted.length > 0 ? wanted : ['qemu-system-x86_64']
  return (
    process.getuid?.() === 0 &&
    hasCommands(...needed, ...inside) &&
    succeeds('unshare', '--mount', '--uts', '--net', '--pid', '--fork', 'true')
  )
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { env, stdio: 'ignore' }).status === 0
}
