// Packages for the proofs: as a release builds them, and those of releases to come.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pack } from '../../sdk/test/packed-package.ts'
import { buildDeb, type Architecture } from './build.ts'

const root = join(import.meta.dirname, '../..')
export const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
export const debArch: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
export const NEXT = '99.0.0'

export const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Builds those of one architecture, into the folder. */
export async function debs(folder: string): Promise<(arch: Architecture) => string> {
  const tarballs = new Map((await pack(folder)).map(({ name, filename }) => [name, join(folder, filename)]))
  return (arch) => join(folder, buildDeb({ root, version, epochSeconds: 1_700_000_000 }, arch, tarballs, folder))
}

/** The same with a higher version, as the next release would be. */
export function nextDeb(folder: string, deb: string, next: string, change: (stage: string) => void = () => {}): string {
  const stage = join(folder, next)
  run('dpkg-deb', '--raw-extract', deb, stage)
  for (const [path, from, to] of [
    ['DEBIAN/control', /^Version: .*$/m, `Version: ${next}`],
    ['usr/lib/berth/node_modules/@berth/server/package.json', /"version": "[^"]+"/, `"version": "${next}"`],
  ] as const)
    writeFileSync(join(stage, path), readFileSync(join(stage, path), 'utf8').replace(from, to))
  change(stage)
  const file = join(folder, `berth_${next}_${debArch}.deb`)
  run('dpkg-deb', '--root-owner-group', '-Zzstd', '--build', stage, file)
  rmSync(stage, { recursive: true })
  return file
}
