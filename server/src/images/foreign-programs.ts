// Programs of the other architecture run here while an image of it is built: the kernel hands them to QEMU's user emulation.
import { nativeArch, type Arch } from '../kernel/arch.ts'
import { requireTools } from './external-tools.ts'

/** The configuration is the package's own: systemd registers it at boot, and on a machine without systemd nobody does. */
const REGISTER = `
set -e
[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
cd /proc/sys/fs/binfmt_misc
[ -e "$0" ] || cat "/usr/lib/binfmt.d/$0.conf" > register
cd /
exec "$@"`

/** Arguments of `unshare --mount` for a command that runs programs of the architecture. Since Linux 6.7 a registration ends with its last mount, so it is made in the command's own namespace. */
export const withPrograms = (arch: Arch, ...command: string[]): string[] =>
  arch === nativeArch() ? command : ['sh', '-c', REGISTER, `qemu-${arch}`, ...command]

export function requirePrograms(arch: Arch): void {
  if (arch !== nativeArch()) requireTools(`qemu-${arch}-static`, 'arch-test')
}
