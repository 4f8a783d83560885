// What Debian and Linux call the architectures.
import type { Arch } from '../kernel/arch.ts'

export const debianArch = (arch: Arch): string => ({ x86_64: 'amd64', aarch64: 'arm64' })[arch]

/** The device of the serial console. */
export const serialConsole = (arch: Arch): string => ({ x86_64: 'ttyS0', aarch64: 'ttyAMA0' })[arch]
