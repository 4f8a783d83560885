// The Debian packages of a host. ops/bootstrap.mjs installs the same list, packages.json, before any of this code runs.
import lists from './packages.json' with { type: 'json' }
import { nativeArch } from '../kernel/arch.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { findCommand, run } from './shell.ts'

export const QEMU = `qemu-system-${nativeArch()}`
const COMMANDS = [
  'libvirtd',
  'virtlogd',
  QEMU,
  'qemu-img',
  'ovs-vswitchd',
  'ovn-northd',
  'ovn-controller',
  'iptables',
  'ip',
  'ethtool',
  'openssl',
  'tini',
]

const wanted = (): string[] => [...lists.host.all, ...lists.host[nativeArch() === 'aarch64' ? 'arm64' : 'x64']]

export const installByHand = `sudo apt-get install -y --no-install-recommends ${wanted().join(' ')}`

/** Commands that are not installed: decisive on systems without dpkg. */
export async function missingCommands(): Promise<string[]> {
  const found = await Promise.all(COMMANDS.map(findCommand))
  return COMMANDS.filter((_, i) => !found[i])
}

export const packages: Step = {
  name: 'packages',
  async check() {
    const commands = await missingCommands()
    if (commands.length === 0 && !(await findCommand('dpkg-query'))) return satisfied('QEMU, libvirt and OVN are installed')
    const absent = (await findCommand('dpkg-query')) ? await notInstalled(wanted()) : commands
    return absent.length === 0 ? satisfied('QEMU, libvirt and OVN are installed') : missing(`packages ${absent.join(' ')}`)
  },
  async apply() {
    if (!(await findCommand('apt-get'))) {
      throw new SetupError(
        `${(await missingCommands()).join(', ')} not installed, and there is no apt-get to install them`,
        'install QEMU, libvirt, Open vSwitch, OVN and iptables, or use Debian 12',
      )
    }
    const apt = (...args: string[]): Promise<string> =>
      run('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o', 'DPkg::Lock::Timeout=120', '-qq', ...args)
    try {
      await apt('update')
      await apt('install', '-y', '--no-install-recommends', ...(await notInstalled(wanted())))
    } catch (error) {
      throw new SetupError(`Installing packages failed. ${(error as Error).message}`, installByHand)
    }
  },
}

async function notInstalled(names: string[]): Promise<string[]> {
  const listed = await run('dpkg-query', '-W', '-f', '${Package} ${db:Status-Status}\\n').catch(() => '')
  const installed = new Set(listed.split('\n').flatMap((line) => /^(\S+) installed$/.exec(line)?.[1] ?? []))
  return names.filter((name) => !installed.has(name))
}
