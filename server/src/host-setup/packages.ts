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

export const installByHand = byHand(wanted())

/** Commands of a host that are not installed: decisive on systems without dpkg. */
export const missingCommands = (): Promise<string[]> => lacking(COMMANDS)

export const packages = packagesStep('QEMU, libvirt and OVN', COMMANDS, wanted())

/** Of a machine that only holds the databases of OVN. */
export const controllerPackages = packagesStep('OVN', ['ovn-northd', 'ovsdb-server', 'iptables'], lists.networkController)

function packagesStep(what: string, commands: string[], names: string[]): Step<unknown> {
  return {
    name: 'packages',
    async check() {
      const absent = (await findCommand('dpkg-query')) ? await notInstalled(names) : await lacking(commands)
      return absent.length === 0
        ? satisfied(`${what} ${what.includes(' ') ? 'are' : 'is'} installed`)
        : missing(`packages ${absent.join(' ')}`)
    },
    async apply() {
      if (!(await findCommand('apt-get'))) {
        throw new SetupError(
          `${(await lacking(commands)).join(', ')} not installed, and there is no apt-get to install them`,
          `install ${what} and iptables, or use Debian 12`,
        )
      }
      const apt = (...args: string[]): Promise<string> =>
        run('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o', 'DPkg::Lock::Timeout=120', '-qq', ...args)
      try {
        await apt('update')
        await apt('install', '-y', '--no-install-recommends', ...(await notInstalled(names)))
      } catch (error) {
        throw new SetupError(`Installing packages failed. ${(error as Error).message}`, byHand(names))
      }
    },
  }
}

function byHand(names: string[]): string {
  return `sudo apt-get install -y --no-install-recommends ${names.join(' ')}`
}

async function lacking(commands: string[]): Promise<string[]> {
  const found = await Promise.all(commands.map(findCommand))
  return commands.filter((_, i) => !found[i])
}

async function notInstalled(names: string[]): Promise<string[]> {
  const listed = await run('dpkg-query', '-W', '-f', '${Package} ${db:Status-Status}\\n').catch(() => '')
  const installed = new Set(listed.split('\n').flatMap((line) => /^(\S+) installed$/.exec(line)?.[1] ?? []))
  return names.filter((name) => !installed.has(name))
}
