// Commands of the system, found also where only root's PATH leads.
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)
export const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }

/** What it prints. */
export async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { env, timeout: 120_000, maxBuffer: 1 << 26 })
  return stdout
}

/** Whether hosts can be boxed here: it takes root, namespaces, libvirt and QEMU. `npm run prove` installs the packages. */
export function canBox(): boolean {
  const needed = ['libvirtd', 'virtlogd', 'virsh', 'qemu-system-x86_64', 'qemu-img', 'unshare', 'nsenter', 'ip', 'openssl']
  try {
    execFileSync('sh', ['-c', needed.map((name) => `command -v ${name}`).join(' && ')], { env, stdio: 'ignore' })
    return process.getuid?.() === 0
  } catch {
    return false
  }
}
