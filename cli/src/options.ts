// Parsing of command-line values.
import { existsSync, readFileSync } from 'node:fs'
import { WEBHOOK_EVENTS, type Body, type EventType } from '@berth/sdk'
import { usageError } from './exit-codes.ts'

export const parseOnOff = (flag: string, text: string | undefined): boolean | undefined => {
  if (text === undefined) return undefined
  if (text === 'on' || text === 'off') return text === 'on'
  throw usageError(`${flag} must be on or off, not "${text}"`)
}

export function parseInteger(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw usageError(`${flag} must be an integer, not "${text}"`)
  return Number(text)
}

/** Of whatever has labels. */
export const LABEL: [string, string] = ['--label <key=value...>', 'labels; of an update, instead of those that it has']
export const SELECTOR: [string, string] = ['--selector <labels>', 'only with such labels: env=prod,role!=db,tier,!old']

/** Empty without the option. */
export const labelsOf = ({ label }: { label?: string[] }): { labels?: Record<string, string> } =>
  omitUndefined({ labels: parseLabels(label) })

/** Empty without the option. */
export const selectorOf = ({ selector }: { selector?: string }): { labelSelector?: string } => omitUndefined({ labelSelector: selector })

export const parseLabels = (texts: string[] | undefined): Record<string, string> | undefined =>
  texts &&
  Object.fromEntries(
    texts.map((text) => {
      const [key, ...value] = text.split('=')
      if (!key || value.length === 0) throw usageError(`--label ${text}: give a key and a value, such as team=core`)
      return [key, value.join('=')]
    }),
  )

type Packet = Pick<Body<'checkReach'>, 'protocol' | 'port'>

/** The values of --protocol and --port. */
export function parsePacket(text = 'tcp', port: string | undefined): Packet {
  const protocol = text.toUpperCase() as Packet['protocol']
  if (port !== undefined) return { protocol, port: parseInteger('--port', port) }
  if (protocol === 'TCP' || protocol === 'UDP') throw usageError(`--port is required for ${protocol}, such as --port 443`)
  return { protocol }
}

/** Splits `80,443 22` and `80 443` alike: options with several values may be repeated or comma-separated. */
export const splitList = (texts: string[] | undefined): string[] | undefined =>
  texts?.flatMap((text) => text.split(',')).filter((text) => text !== '')

/** Each must be known: `webhook listen` would wait in vain for another. */
export const parseEventTypes = (texts: string[] | undefined): EventType[] | undefined =>
  splitList(texts)?.map((text) => {
    const type = WEBHOOK_EVENTS.find((each) => each === text)
    if (!type) throw usageError(`--event: there is no event type "${text}". Event types: ${WEBHOOK_EVENTS.join(', ')}`)
    return type
  })

/** A literal value, `@file`, or `-` for stdin. */
export function readTextOrFile(text: string): string {
  if (text !== '-' && !text.startsWith('@')) return text
  const path = text === '-' ? 0 : text.slice(1)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw usageError(`${text === '-' ? 'stdin' : text.slice(1)} cannot be read: ${(error as Error).message}`)
  }
}

/** No user data is valid that is the name of a file. */
export function readUserData(text: string): string {
  if (text !== '-' && !/^[@#]/.test(text) && existsSync(text)) throw usageError(`--user-data ${text}: to read the file, write @${text}`)
  return readTextOrFile(text)
}

export function parseJson(flag: string, text: string): unknown {
  try {
    return JSON.parse(readTextOrFile(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw usageError(`${flag} must be JSON, @file or - for stdin: ${error.message}`)
  }
}

/** The API distinguishes absent fields from empty ones. */
export const omitUndefined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

export function requireChanges<T extends object>(fields: T, flags: string): T {
  if (Object.keys(fields).length === 0) throw usageError(`Nothing to change. Use at least one of: ${flags}`)
  return fields
}
