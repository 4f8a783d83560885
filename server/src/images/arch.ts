// The architectures of guests, and their names in Debian and Linux.
import type { Arch } from '../hypervisor/driver.ts'

export type { Arch } from '../hypervisor/driver.ts'

/** The architecture of guests that run natively on this machine. */
export const nativeArch = (): Arch => (process.arch === 'arm64' ? 'aarch64' : 'x86_64')

export const isArch = (text: string): text is Arch => text === 'x86_64' || text === 'aarch64'

export const debianArch = (arch: Arch): string => ({ x86_64: 'amd64', aarch64: 'arm64' })[arch]

/** The device of the serial console. */
export const serialConsole = (arch: Arch): string => ({ x86_64: 'ttyS0', aarch64: 'ttyAMA0' })[arch]
