// Compresses and encrypts what is stored in a backup target, and back, on a thread of lower priority. There blocks of megabytes hold up nobody's
// requests, and the garbage that they leave is collected in a small heap: in that of the whole process it took as long as all the rest.
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { openThread, serveThread, wholeBuffer } from '../kernel/low-priority-thread.ts'

const ROLE = 'seal'
const CIPHER = 'aes-256-gcm'
const COMPRESSION_LEVEL = 3
/** Of the buffers that zstd fills: with Node's 16 KiB, half of the CPU time went into them. */
const ZSTD_BUFFER_BYTES = 1024 ** 2

/** Format and compression, then the nonce. The tag follows the ciphertext. */
const [HEADER_BYTES, NONCE_BYTES, TAG_BYTES] = [2, 12, 16]
const FORMAT = 1
const [STORED, ZSTD] = [0, 1]

interface SealOrder {
  key: Uint8Array
  /** Authenticated with the bytes; with `naming` only how it begins. */
  name: string
  /** The rest of the name: a hash, by this key, of these parts and the checksum of the bytes. */
  naming?: { key: Uint8Array; parts: string[] }
  bytes: Uint8Array
}

interface OpenOrder {
  key: Uint8Array
  name: string
  bytes: Uint8Array
  maxBytes: number
}

interface Result {
  name: string
  bytes: Uint8Array
  /** Of the plaintext. */
  sha256: string
  /** The bytes are not what was sealed under this name. */
  isDamaged: boolean
}

serveThread(
  ROLE,
  (order: SealOrder | OpenOrder): Result => ('maxBytes' in order ? open(order) : seal(order)),
  ({ bytes }) => wholeBuffer(bytes),
)

function seal({ key, name: begin, naming, bytes }: SealOrder): Result {
  const sha256 = sha256Of(bytes)
  const name = naming ? begin + nameFor(naming.key, [...naming.parts, sha256]) : begin
  const params = { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL }
  const small = zstdCompressSync(bytes, { params, chunkSize: ZSTD_BUFFER_BYTES })
  const isSmaller = small.length < bytes.length
  const header = Buffer.from([FORMAT, isSmaller ? ZSTD : STORED])
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(authenticated(header, name))
  const sealed = Buffer.concat([header, nonce, cipher.update(isSmaller ? small : bytes), cipher.final(), cipher.getAuthTag()])
  return { name, bytes: sealed, sha256, isDamaged: false }
}

function open({ key, name, bytes, maxBytes }: OpenOrder): Result {
  try {
    const [header, nonce] = [bytes.subarray(0, HEADER_BYTES), bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)]
    const decipher = createDecipheriv(CIPHER, key, nonce).setAAD(authenticated(header, name)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const encrypted = bytes.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES)
    const small = Buffer.concat([decipher.update(encrypted), decipher.final()])
    const limits = { maxOutputLength: Math.max(maxBytes, 1), chunkSize: ZSTD_BUFFER_BYTES }
    const plain = header[1] === ZSTD ? zstdDecompressSync(small, limits) : small
    return { name, bytes: plain, sha256: sha256Of(plain), isDamaged: false }
  } catch {
    return { name, bytes: new Uint8Array(), sha256: '', isDamaged: true }
  }
}

const authenticated = (header: Uint8Array, name: string): Buffer => Buffer.concat([header, Buffer.from(name)])

const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url')

/** The same for the same parts, and guessable by nobody without the key. */
export const nameFor = (key: Uint8Array, parts: string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

const order = openThread<SealOrder | OpenOrder, Result>(import.meta.url, ROLE)

/** Compressed where that is smaller, or back. The bytes are handed over. */
export async function inSealThread(work: SealOrder | OpenOrder): Promise<Result & { bytes: Buffer }> {
  const result = await order(work, wholeBuffer(work.bytes))
  return { ...result, bytes: Buffer.from(result.bytes.buffer, result.bytes.byteOffset, result.bytes.length) }
}
