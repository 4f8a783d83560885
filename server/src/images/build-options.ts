import type { Arch } from '../kernel/arch.ts'

export interface BuildOptions {
  arch: Arch
  /** For temporary files; the caller removes it. */
  folder: string
  /** Called with the current step, in a few words. */
  progress: (doing: string) => void
  signal: AbortSignal
}

/** Writes a qcow2 file. */
export type Build = (order: BuildOptions, output: string) => Promise<void>
