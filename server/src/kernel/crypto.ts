// Secrets at rest: AES-256-GCM with a key in a file outside of the database. Tokens: random, with a checksum, so that a mistyped token is
// rejected without a database query.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, hkdfSync, randomBytes, type Hmac } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { randomText } from './ids.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const sha256 = (text: string | Uint8Array): Buffer => hash('sha256', text, 'buffer')
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

/** `prefix` + 40 random characters + 6 of checksum. */
export function newToken(prefix: string): string {
  const body = randomText(40, BASE62)
  return `${prefix}${body}${checksum(body)}`
}

export function isWellFormedToken(prefix: string, token: string): boolean {
  const body = token.slice(prefix.length, prefix.length + 40)
  return token.length === prefix.length + 46 && token.startsWith(prefix) && token.endsWith(checksum(body))
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text = BASE62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}

export interface Vault {
  /** `context` is authenticated (AAD): a ciphertext of one row cannot be decrypted as another's. */
  seal(plain: string, context: string): Buffer
  open(sealed: Uint8Array, context: string): string
  /** A keyed hash (HMAC): equal for equal text, and not guessable without the key. */
  digest(plain: string): Buffer
  /** An HMAC of a stream, with a key of its own per purpose. */
  hmac(purpose: string): Hmac
}

export function vaultFrom(key: Buffer): Vault {
  if (key.length !== 32) throw new Error('The master key must be 32 bytes')
  const sealKey = createSecretKey(key) // four times faster than passing the raw bytes at every use
  const derivedKey = (purpose: string) => createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `berth ${purpose}`, 32)))
  const digestKey = derivedKey('digest')
  return {
    seal(plain, context) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(Buffer.from(context))
      return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed)
      const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, 12)).setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(-16))
      return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')
    },
    digest: (plain) => createHmac('sha256', digestKey).update(plain).digest(),
    hmac: (purpose) => createHmac('sha256', derivedKey(purpose)),
  }
}

export function openVault(path: string): Vault {
  return vaultFrom(readOrCreateKey(path))
}

/** Reads the key file (64 hex digits), or creates it with mode 0600. Without it webhook secrets are lost: back it up. */
export function readOrCreateKey(path: string): Buffer {
  if (!existsSync(path)) storeKey(path, randomBytes(32))
  const key = readFileSync(path, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(key)) throw new Error(`The master key file ${path} must hold 64 hex digits. Restore it from your backup`)
  return Buffer.from(key, 'hex')
}

/** Leaves a file that is there as it is. Created atomically by link(2): a concurrent process never reads a partial file. */
export function storeKey(path: string, key: Buffer): void {
  mkdirSync(dirname(path), { recursive: true }) // the data folder, by whichever command comes first
  const draft = `${path}.${randomText(8, BASE62)}`
  writeFileSync(draft, `${key.toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}
