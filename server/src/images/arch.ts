// The architectures guests come in, and what others call them.
import type { Arch } from '../hypervisor/driver.ts'

export type { Arch } from '../hypervisor/driver.ts'

/** What guests of this machine run on. */
export const nativeArch = (): Arch => (process.arch === 'arm64' ? 'aarch64' : 'x86_64')

export const isArch = (text: string): text is Arch => text === 'x86_64' || text === 'aarch64'

export const debianArch = (arch: Arch): string => ({ x86_64: 'amd64', aarch64: 'arm64' })[arch]

/** Where Linux shows its console on a serial line. */
export const serialConsole = (arch: Arch): string => ({ x86_64: 'ttyS0', aarch64: 'ttyAMA0' })[arch]
