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

/** Says which of these commands are not installed; undefined when all are. */
export function missingCommands(...names: string[]): string | undefined {
  const missing = names.filter((name) => !succeeds('sh', '-c', `command -v ${name}`))
  return missing.length > 0 ? `not installed: ${missing.join(', ')}` : undefined
}

/** Says why no sandboxed libvirtd can run here. It takes root, namespaces, libvirt and QEMU, for x86 unless other commands are given. */
export function missingForSandbox(...commands: string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  const needed = ['libvirtd', 'virtlogd', 'virsh', 'qemu-img', 'nsenter', 'ip', 'openssl']
  const missing = missingCommands(...needed, ...(commands.length > 0 ? commands : ['qemu-system-x86_64']))
  if (missing) return missing
  return succeeds('unshare', '--mount', '--uts', '--net', '--pid', '--fork', 'true') ? undefined : 'namespaces cannot be created'
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { env, stdio: 'ignore' }).status === 0
}
