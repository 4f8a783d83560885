// Berth's settings in a configuration file of another package: one marked block, replaced as a unit. Settings outside the block are never
// changed; a conflicting one is reported.
import { readFile } from 'node:fs/promises'
import { SetupError } from './setup-step.ts'
import { writeFileAtomic } from './shell.ts'

export type Settings = Record<string, string | number | string[]>

const BEGIN = '# Berth: begin. Written by berthd host prepare.'
const END = '# Berth: end'

export function withSettings(text: string, settings: Settings): string {
  const others = withoutBlock(text).trimEnd()
  const own = Object.entries(settings).filter(([name]) => valueIn(others, name) === undefined)
  if (own.length === 0) return `${others}\n`
  return `${others}\n\n${[BEGIN, ...own.map(([name, value]) => `${name} = ${format(value)}`), END].join('\n')}\n`.trimStart()
}

/** Settings outside the block whose value differs from the one needed. */
export const conflicts = (text: string, settings: Settings): string[] =>
  Object.entries(settings)
    .filter(([name, value]) => ![undefined, format(value)].includes(valueIn(withoutBlock(text), name)))
    .map(([name]) => name)

export async function isSet(path: string, settings: Settings): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const found = conflicts(text, settings)
  if (found.length === 0) return withSettings(text, settings) === text || (text === '' && Object.keys(settings).length === 0)
  const wanted = found.map((name) => `${name} = ${format(settings[name]!)}`).join(', ')
  throw new SetupError(`${path} sets ${found.join(', ')} to other values than Berth needs`, `remove the line, or set it to: ${wanted}`)
}

export async function set(path: string, settings: Settings, mode: number): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '')
  await writeFileAtomic(path, withSettings(text, settings), mode)
}

function withoutBlock(text: string): string {
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  return start < 0 || end < start ? text : text.slice(0, start) + text.slice(end + END.length).replace(/^\n/, '')
}

/** The value as written, with white space normalised. */
function valueIn(text: string, name: string): string | undefined {
  const found = new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*(\\[[^\\]]*\\]|[^\\n#]*)`, 'm').exec(text)?.[1]
  return found === undefined ? undefined : found.replaceAll(/\s+/g, ' ').replace(/^\[ /, '[').replace(/ \]$/, ']').trim()
}

const format = (value: Settings[string]): string =>
  typeof value === 'number' ? String(value) : Array.isArray(value) ? `[${value.map((each) => `"${each}"`).join(', ')}]` : `"${value}"`
