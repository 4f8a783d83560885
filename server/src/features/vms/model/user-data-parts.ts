// What customers give as user data, as parts that cloud-init takes. What it would leave out without a word, or what could keep our own settings from the guest (a part that is fetched and cannot be,
// or that changes how parts are read), is refused.
import { gunzipSync } from 'node:zlib'
import type { UserDataPart } from '../../../hypervisor/driver.ts'
import { invalid } from '../../../kernel/errors.ts'

const MAX_BYTES = 2 ** 16
const MAX_PARTS = 50

/** By its first characters, in upper or lower case. The longer of two comes first. */
const KINDS: [string, string][] = [
  ['#cloud-config-archive', 'text/cloud-config-archive'],
  ['#cloud-config-jsonp', 'text/cloud-config-jsonp'],
  ['#cloud-config', 'text/cloud-config'],
  ['#cloud-boothook', 'text/cloud-boothook'],
  ['#part-handler', 'text/part-handler'],
  ['#include', 'text/x-include-url'],
  ['## template: jinja', 'text/jinja2'],
  ['#!', 'text/x-shellscript'],
]

const TAKEN = new Set([
  'text/cloud-config',
  'text/cloud-boothook',
  'text/jinja2',
  'text/x-shellscript',
  'text/x-shellscript-per-boot',
  'text/x-shellscript-per-instance',
  'text/x-shellscript-per-once',
])

const BEGINNINGS = 'it must begin with "#!" (a script), "#cloud-config", "#cloud-boothook" or "## template: jinja"'

const refuse = (message: string) => invalid(`userData ${message}`, 'userData')

export function parseUserData(given: string): UserDataPart[] {
  const text = decode(given)
  if (Buffer.byteLength(text) > MAX_BYTES) throw refuse(`is ${Buffer.byteLength(text)} bytes long: at most ${MAX_BYTES} are possible`)
  if (text.includes('\0')) throw refuse('must be text, and has a NUL character')
  if (!text.isWellFormed()) throw refuse('must be text, and has half of a character')
  return /^(mime-version|content-type):/im.test(headOf(text)) ? readMultipart(text) : [toPart(text, 'user data')]
}

/** Headers, where the text begins with some. */
const headOf = (text: string): string => (/^[\w-]+:/.test(text) ? text.split(/\r?\n\r?\n/, 1)[0]! : '')

/** The first bytes of every gzip, in base64. */
const GZIP = 'H4sI'

function decode(given: string): string {
  if (!given.startsWith(GZIP)) return given
  const bytes = fromBase64(given)
  if (!bytes) throw refuse('begins as gzip in base64, and is not valid base64')
  return toText(unpack(bytes), 'unpacked from gzip')
}

function unpack(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw refuse(`unpacks to more than ${MAX_BYTES} bytes`)
    throw refuse('begins as gzip in base64, and cannot be unpacked: it is damaged or cut off')
  }
}

function fromBase64(text: string): Buffer | undefined {
  const compact = text.replace(/\s+/g, '')
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact) ? Buffer.from(compact, 'base64') : undefined
}

function toText(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse(`must be text in UTF-8, and is not, ${what}`)
  }
}

type Fields = Pick<UserDataPart, 'filename' | 'mergeType'>

/** `type`: undefined or text/plain where only the text itself says what it is, as cloud-init has it; so does that of a script. */
function toPart(text: string, name: string, type?: string, fields: Fields = { filename: null, mergeType: null }): UserDataPart {
  const trimmed = text.trimStart().toLowerCase()
  const found = KINDS.find(([start]) => trimmed.startsWith(start))?.[1]
  const isGiven = type !== undefined && type !== 'text/plain' && type !== 'text/x-shellscript'
  const kind = isGiven ? type : found
  if (kind === undefined) throw refuse(`has no form that cloud-init knows: ${name === 'user data' ? BEGINNINGS : `${name}: ${BEGINNINGS}`}`)
  if (!TAKEN.has(kind))
    throw refuse(`has ${name === 'user data' ? 'a form' : `a part (${name})`} that is not possible here, ${kind}: ${BEGINNINGS}`)
  if (kind.startsWith('text/x-shellscript') && !trimmed.startsWith('#!'))
    throw refuse(`has a script (${name}) that does not begin with "#!"`)
  return { type: kind, ...fields, text }
}

interface Section {
  headers: Map<string, string>
  body: string
}

function readMultipart(text: string): UserDataPart[] {
  const { headers, body } = splitHeaders(text)
  const [type, boundary] = typeOf(headers)
  if (!type.startsWith('multipart/') || !boundary) throw refuse('has headers as a MIME message, but is no multipart with a boundary')
  const [, ...sections] = `\n${body}`.split(`\n--${boundary}`)
  const end = sections.pop()
  if (end === undefined || !end.startsWith('--')) throw refuse(`is cut off: the last boundary, --${boundary}--, is missing`)
  if (sections.length > MAX_PARTS) throw refuse(`has ${sections.length} parts: at most ${MAX_PARTS} are possible`)
  const parts = sections
    .map((section, index) => readPart(section.replace(/^[ \t]*\n/, ''), `part ${index + 1}`))
    .filter((part) => part !== null)
  if (parts.length === 0) throw refuse('has no part with any text')
  return parts
}

/** Null for one without text. */
function readPart(section: string, name: string): UserDataPart | null {
  const { headers, body } = splitHeaders(section)
  const [type] = typeOf(headers)
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase() ?? '7bit'
  if (!['7bit', '8bit', 'binary', 'base64'].includes(encoding))
    throw refuse(`has a part (${name}) in an encoding that is not possible here, ${encoding.slice(0, 40)}: use 7bit, 8bit or base64`)
  const bytes = encoding === 'base64' ? fromBase64(body) : undefined
  if (encoding === 'base64' && !bytes) throw refuse(`has a part (${name}) that is not valid base64`)
  const text = bytes ? toText(bytes, name) : body
  if (text.trim() === '') return null
  return toPart(text, name, type, { filename: filenameOf(headers, name), mergeType: mergeTypeOf(headers, name) })
}

function splitHeaders(text: string): Section {
  const unix = text.replaceAll('\r\n', '\n')
  const [head] = unix.startsWith('\n') ? [''] : unix.split('\n\n', 1)
  const lines = head!.replace(/\n[ \t]+/g, ' ').split('\n')
  const headers = new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(':')
      return colon > 0 ? [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const] : []
    }),
  )
  return { headers, body: unix.slice(head!.length).replace(/^\n{1,2}/, '') }
}

const parameter = (header: string, name: string): string | undefined =>
  new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^\\s;]+))`, 'i')
    .exec(header)
    ?.slice(1)
    .find((each) => each !== undefined)

function typeOf(headers: Map<string, string>): [type: string, boundary: string | undefined] {
  const header = headers.get('content-type') ?? 'text/plain'
  return [header.split(';', 1)[0]!.trim().toLowerCase(), parameter(header, 'boundary')]
}

function filenameOf(headers: Map<string, string>, name: string): string | null {
  const filename = parameter(headers.get('content-disposition') ?? '', 'filename')
  if (filename === undefined) return null
  if (!/^[\w.-]{1,100}$/.test(filename))
    throw refuse(`has a part (${name}) with a file name of other characters than letters, digits and ._-`)
  return filename
}

function mergeTypeOf(headers: Map<string, string>, name: string): string | null {
  const mergeType = headers.get('merge-type') ?? headers.get('x-merge-type')
  if (mergeType === undefined) return null
  if (!/^[a-z_(),+]{1,200}$/.test(mergeType))
    throw refuse(`has a part (${name}) with a Merge-Type that is not of the form list(append)+dict()+str()`)
  return mergeType
}
