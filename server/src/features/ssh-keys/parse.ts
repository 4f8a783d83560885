// Parses an OpenSSH public key and serialises it again, so that authorized_keys in a guest never contains raw customer text. The whole
// base64 blob is validated: length-prefixed strings, the repeated type, exact sizes, no trailing bytes.
import { createPublicKey } from 'node:crypto'
import { sha256 } from '../../kernel/crypto.ts'
import { invalid, type ApiError } from '../../kernel/errors.ts'

export interface PublicKey {
  type: string
  /** `type base64`, without a comment. */
  publicKey: string
  /** As `ssh-keygen -l` shows it. */
  fingerprint: string
}

type Check = (field: Buffer) => boolean

/** The fields after the type, per key type. */
const FIELDS = new Map<string, Check[]>([
  ['ssh-ed25519', [bytes(32)]],
  ['ssh-rsa', [isRsaExponent, isRsaModulus]],
  ['ecdsa-sha2-nistp256', [exactly('nistp256'), pointOn('P-256', 32)]],
  ['ecdsa-sha2-nistp384', [exactly('nistp384'), pointOn('P-384', 48)]],
  ['ecdsa-sha2-nistp521', [exactly('nistp521'), pointOn('P-521', 66)]],
  ['sk-ssh-ed25519@openssh.com', [bytes(32), isApplication]],
  ['sk-ecdsa-sha2-nistp256@openssh.com', [exactly('nistp256'), pointOn('P-256', 32), isApplication]],
])

export const KEY_TYPES = [...FIELDS.keys()]

const PRIVATE = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|b3BlbnNzaC1rZXktdjE/
const KEY_ON_A_LINE = /(?:^|\s)(?:ssh|ecdsa|sk)-\S+\s+AAAA/g

/** Throws an ApiError unless `text` is exactly one key; surrounding white space and a comment are dropped. */
export function parsePublicKey(text: string): PublicKey {
  const line = text.trim()
  refuseMistakes(line)
  const [type = '', base64 = ''] = line.split(/[ \t]+/, 2)
  const checks = FIELDS.get(type)
  if (!checks) throw wrongType(type)
  const blob = Buffer.from(base64, 'base64')
  if (base64 === '' || blob.toString('base64') !== base64) throw damaged('what follows the type is not base64')
  const [inner, ...fields] = stringsIn(blob)
  if (inner?.toString('latin1') !== type) throw damaged(`it says ${type} outside and something else inside`)
  if (fields.length !== checks.length || !checks.every((fits, i) => fits(fields[i]!))) throw damaged(`its content does not fit ${type}`)
  return { type, publicKey: `${type} ${base64}`, fingerprint: `SHA256:${sha256(blob).toString('base64').replace(/=+$/, '')}` }
}

/** Common mistakes, each with its own message. */
function refuseMistakes(line: string): void {
  if (PRIVATE.test(line)) {
    throw refused('holds a private key. It was not stored: keep it secret, and send the public key, the content of the file ending in .pub')
  }
  if (line.includes('-- BEGIN ') || line.includes('--BEGIN ')) {
    throw refused('must be in OpenSSH format: convert this key with ssh-keygen -i -f FILE (add -m PKCS8 for a PEM file)')
  }
  const keys = line.match(KEY_ON_A_LINE) ?? []
  if (/[\r\n]/.test(line) || keys.length > 1) throw refused('must be one key on one line, without line breaks')
  if (keys.length === 1 && !line.startsWith(keys[0]))
    throw refused('must start with the type of the key: options before it are not accepted')
}

function wrongType(type: string): ApiError {
  if (type === 'ssh-dss') return refused('is a DSA key, which OpenSSH no longer accepts: make a new one with ssh-keygen -t ed25519')
  return refused(`must be an OpenSSH public key such as "ssh-ed25519 AAAA…". Its type must be one of ${KEY_TYPES.join(', ')}`)
}

const refused = (sentence: string): ApiError => invalid(`publicKey ${sentence}`, 'publicKey')
const damaged = (why: string): ApiError => refused(`is damaged: ${why}. Copy the whole line of the .pub file again`)

/** The SSH wire format: strings prefixed with a 4-byte length. */
function stringsIn(blob: Buffer): Buffer[] {
  const strings: Buffer[] = []
  for (let at = 0; at < blob.length;) {
    const start = at + 4
    const end = start <= blob.length ? start + blob.readUInt32BE(at) : Infinity
    if (end > blob.length) throw damaged('it ends in the middle')
    strings.push(blob.subarray(start, end))
    at = end
  }
  return strings
}

function bytes(length: number): Check {
  return (field) => field.length === length
}

function exactly(text: string): Check {
  return (field) => field.toString('latin1') === text
}

/** An uncompressed point on the curve: OpenSSH rejects any other. */
function pointOn(crv: string, size: number): Check {
  return (field) => {
    if (field.length !== 1 + 2 * size || field[0] !== 4) return false
    const coordinate = (from: number): string => field.subarray(from, from + size).toString('base64url')
    try {
      createPublicKey({ key: { kty: 'EC', crv, x: coordinate(1), y: coordinate(1 + size) }, format: 'jwk' })
      return true
    } catch {
      return false // node:crypto throws for a point that is not on the curve
    }
  }
}

/** A security key's application: `ssh:` by default. */
function isApplication(field: Buffer): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(field.toString('latin1'))
}

/** OpenSSL rejects exponents of more than 64 bits. */
function isRsaExponent(field: Buffer): boolean {
  return isOddNumber(field) && bitsOf(field) >= 2 && bitsOf(field) <= 64
}

function isRsaModulus(field: Buffer): boolean {
  if (!isOddNumber(field)) return false
  const bits = bitsOf(field)
  if (bits < 2048 || bits > 16_384) throw refused(`is an RSA key of ${bits} bits: it must have 2048-16384. Or use ssh-keygen -t ed25519`)
  return true
}

/** A positive odd number in its shortest form: a leading zero byte only where the sign bit would be set otherwise. */
function isOddNumber(field: Buffer): boolean {
  const [first, second = 0] = field
  if (first === undefined || first >= 0x80 || (first === 0 && second < 0x80)) return false
  return field.at(-1)! % 2 === 1
}

function bitsOf(number: Buffer): number {
  const digits = number[0] === 0 ? number.subarray(1) : number
  return digits.length * 8 - (Math.clz32(digits[0] ?? 0) - 24)
}
