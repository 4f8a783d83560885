// The file with the settings of the units, which systemd (EnvironmentFile) and Node (--env-file) must read alike.
import { isDeepStrictEqual, parseEnv } from 'node:util'
import { UsageError } from '../errors.ts'

export type Settings = Record<string, string>

export const readSettings = (text: string): Settings => ({ ...parseEnv(text) }) as Settings

/** Changes these settings; every other line stays. One that is there as a comment takes its place. */
export function changeSettings(text: string, changes: Settings): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  for (const [name, value] of Object.entries(changes)) {
    const line = `${name}=${quote(name, value)}`
    const set = lines.findLastIndex((each) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(each))
    const at = set === -1 ? lines.findIndex((each) => each.startsWith(`#${name}=`)) : set
    if (at === -1) lines.push(line)
    else lines[at] = line
  }
  const before = readSettings(text)
  const changed = `${lines.join('\n')}\n`
  const isOneLine = Object.keys(changes).every((name) => !before[name]?.includes('\n'))
  if (!isOneLine || !isDeepStrictEqual(readSettings(changed), { ...before, ...changes }))
    throw new Error(`${Object.keys(changes).join(', ')} cannot be changed in that file, because a value has several lines. Edit it by hand`)
  return changed
}

function quote(name: string, value: string): string {
  if (/^[\w.,:;@%+/=?&~[\]*!-]*$/.test(value)) return value
  if (/['\\\p{Cc}]/u.test(value)) throw new UsageError(`${name} must not contain ' or \\ or a line break. In a URL, write %27 and %5C`)
  return `'${value}'`
}
