// The templates that can be built here from Debian packages.
import type { Arch } from './arch.ts'
import { buildDebian } from './debian/build.ts'
import { buildTiny } from './tiny/build.ts'

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

export const RECIPES: Record<string, Build> = { tiny: buildTiny, 'debian-12': buildDebian }
