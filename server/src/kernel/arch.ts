/** The architectures that guests and hosts come in. */
export type Arch = 'x86_64' | 'aarch64'

export const ARCHITECTURES: readonly Arch[] = ['x86_64', 'aarch64']

/** Of this machine. */
export const nativeArch = (): Arch => (process.arch === 'arm64' ? 'aarch64' : 'x86_64')

export const foreignArch = (): Arch => (nativeArch() === 'x86_64' ? 'aarch64' : 'x86_64')

export const isArch = (text: string): text is Arch => (ARCHITECTURES as readonly string[]).includes(text)
