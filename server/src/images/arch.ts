// The architectures guests come in, and what others call them.

export const ARCHES = ['x86_64', 'aarch64'] as const
export type Arch = (typeof ARCHES)[number]

/** What a guest of this machine runs on. */
export const nativeArch = (): Arch => (process.arch === 'arm64' ? 'aarch64' : 'x86_64')

export const isArch = (text: string): text is Arch => ARCHES.some((arch) => arch === text)

export const debianArch = (arch: Arch): string => ({ x86_64: 'amd64', aarch64: 'arm64' })[arch]

/** Where Linux shows its console on a serial line. */
export const serialConsole = (arch: Arch): string => ({ x86_64: 'ttyS0', aarch64: 'ttyAMA0' })[arch]
