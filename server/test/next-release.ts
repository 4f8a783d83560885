// The next release: a copy of this one with a few changes.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export interface NextRelease {
  /** Its `berthd`. */
  program: string
  /** Adds a file of `server`. */
  write(file: string, text: string): void
  /** Replaces what occurs once in a file of `server`. */
  replace(file: string, before: string, after: string): void
}

export function nextRelease(folder: string): NextRelease {
  const server = join(folder, 'server')
  cpSync(join(root, 'server'), server, { recursive: true, filter: (path) => !/node_modules|server\/dist|\.test\.ts$/.test(path) })
  for (const name of ['node_modules', 'docs', 'ops']) symlinkSync(join(root, name), join(folder, name))
  const write = (file: string, text: string): void => writeFileSync(join(server, file), text)
  return {
    program: join(server, 'bin/berthd.mjs'),
    write,
    replace(file, before, after) {
      const parts = readFileSync(join(server, file), 'utf8').split(before)
      if (parts.length !== 2) throw new Error(`${file} contains ${parts.length - 1} times: ${before}`)
      write(file, parts.join(after))
    },
  }
}
