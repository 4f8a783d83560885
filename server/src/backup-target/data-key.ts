// The key of one VM's backups. It lies in the bucket, sealed by the master key: with both a lost site can be restored, with one alone
// nothing. Chunks, manifests and names use keys derived from it, so a new master key changes this one object and no other.
import { createHmac, hkdfSync, randomBytes, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { Vault } from '../kernel/crypto.ts'
import { newId } from '../kernel/ids.ts'
import { BackupTargetError, isTargetError } from './errors.ts'
import type { ObjectStore } from './object-store.ts'

const { subtle } = webcrypto
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const KEYS = 'keys/'
const MAX_KEY_BYTES = 4_096
const COMPRESSION_LEVEL = 3
/** Of the buffers that zstd fills: with Node's 16 KiB, half of the CPU time went into them. */
const ZSTD_BUFFER_BYTES = 1024 ** 2

/** Format and compression, then the nonce. The tag follows the ciphertext. */
const [HEADER_BYTES, NONCE_BYTES] = [2, 12]
const FORMAT = 1
const [STORED, ZSTD] = [0, 1]

export interface DataKey {
  /** Manifests say by it which key they need. */
  readonly id: string
  readonly vmId: string
  /** Where it lies, to be locked as long as what it opens. */
  readonly object: { key: string; version: string }
  /** Compressed where that is smaller, encrypted, and bound to its name: no object can take the place of another. */
  seal(name: string, plain: Uint8Array): Promise<Buffer>
  /** `damaged` when any bit differs. */
  open(name: string, sealed: Uint8Array, maxBytes: number): Promise<Buffer>
  /** The same for the same parts, and guessable by nobody without the key. */
  nameFor(...parts: string[]): string
}

interface KeyRecord {
  id: string
  vmId: string
  key: string
}

interface FoundKey {
  record: KeyRecord
  version: string
}

const keyOf = (repositoryId: string): string => `${KEYS}${repositoryId}`
const contextOf = (repositoryId: string): string => `backup repository ${repositoryId}`

/** The repository's key; a new one where it has none. Of concurrent calls one makes it, and all return that. */
export async function ensureDataKey(
  store: ObjectStore,
  vault: Vault,
  repository: { id: string; vmId: string },
  signal: AbortSignal,
): Promise<DataKey> {
  try {
    return await openDataKey(store, vault, repository.id, signal)
  } catch (error) {
    if (!isTargetError(error, 'missing')) throw error
  }
  const record: KeyRecord = { id: newId(), vmId: repository.vmId, key: randomBytes(32).toString('base64') }
  const sealed = vault.seal(JSON.stringify(record), contextOf(repository.id))
  await store.put(keyOf(repository.id), sealed, { onlyIfMissing: true }, signal)
  return openDataKey(store, vault, repository.id, signal)
}

/** In a bucket with versions an overwritten or deleted key is still there: the newest version that opens is the key. */
export async function openDataKey(store: ObjectStore, vault: Vault, repositoryId: string, signal: AbortSignal): Promise<DataKey> {
  const { record, version } = await findRecord(store, vault, repositoryId, signal)
  return dataKeyOf(record, { key: keyOf(repositoryId), version })
}

async function findRecord(store: ObjectStore, vault: Vault, repositoryId: string, signal: AbortSignal): Promise<FoundKey> {
  const key = keyOf(repositoryId)
  let cause: unknown
  for await (const found of store.list(key, signal)) {
    if (found.key !== key || found.isDeleteMarker) continue
    const sealed = await store.get(key, found.version, MAX_KEY_BYTES, signal)
    try {
      return { record: JSON.parse(vault.open(sealed, contextOf(repositoryId))) as KeyRecord, version: found.version }
    } catch (error) {
      cause = error
    }
  }
  if (cause === undefined) throw new BackupTargetError('missing', `The object ${key} with the data key is missing`)
  throw new BackupTargetError('wrong_key', `The object ${key} with the data key was sealed by another master key, or is damaged`, cause)
}

/** Seals the key again by another master key; nothing else changes. True when it was sealed by the old one. */
export async function resealDataKey(
  store: ObjectStore,
  vaults: { old: Vault; new: Vault },
  repositoryId: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await findRecord(store, vaults.new, repositoryId, signal)
    return false
  } catch (error) {
    if (!isTargetError(error, 'wrong_key')) throw error
  }
  const { record } = await findRecord(store, vaults.old, repositoryId, signal)
  await store.put(keyOf(repositoryId), vaults.new.seal(JSON.stringify(record), contextOf(repositoryId)), {}, signal)
  return true
}

export async function* listRepositoryIds(store: ObjectStore, signal: AbortSignal): AsyncGenerator<string> {
  let last: string | undefined
  for await (const { key, isDeleteMarker } of store.list(KEYS, signal)) {
    if (key !== last && !isDeleteMarker) yield key.slice(KEYS.length)
    if (!isDeleteMarker) last = key
  }
}

async function dataKeyOf({ id, vmId, key }: KeyRecord, object: DataKey['object']): Promise<DataKey> {
  const derived = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', Buffer.from(key, 'base64'), '', `berth backup ${purpose}`, 32))
  const encryption = await subtle.importKey('raw', derived('encryption'), 'AES-GCM', false, ['encrypt', 'decrypt'])
  const naming = derived('names')
  // Hashes and ciphers of subtle run on the thread pool: 4 MiB would hold up the event loop for 10 ms.
  const parameters = (name: string, header: Uint8Array, iv: Uint8Array) => ({
    name: 'AES-GCM',
    iv,
    additionalData: Buffer.concat([header, Buffer.from(name)]),
  })
  return {
    id,
    vmId,
    object,
    seal: async (name, plain) => {
      const small = await compress(plain, {
        params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL },
        chunkSize: ZSTD_BUFFER_BYTES,
      })
      const isSmaller = small.length < plain.length
      const header = Buffer.from([FORMAT, isSmaller ? ZSTD : STORED])
      const nonce = randomBytes(NONCE_BYTES)
      const encrypted = await subtle.encrypt(parameters(name, header, nonce), encryption, isSmaller ? small : plain)
      return Buffer.concat([header, nonce, Buffer.from(encrypted)])
    },
    open: async (name, sealed, maxBytes) => {
      const header = sealed.subarray(0, HEADER_BYTES)
      const nonce = sealed.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)
      try {
        const decrypted = await subtle.decrypt(parameters(name, header, nonce), encryption, sealed.subarray(HEADER_BYTES + NONCE_BYTES))
        const bytes = Buffer.from(decrypted)
        return header[1] === ZSTD
          ? await decompress(bytes, { maxOutputLength: Math.max(maxBytes, 1), chunkSize: ZSTD_BUFFER_BYTES })
          : bytes
      } catch (error) {
        throw new BackupTargetError('damaged', `The object ${name} is damaged: it is not what was stored`, error)
      }
    },
    nameFor: (...parts) => createHmac('sha256', naming).update(JSON.stringify(parts)).digest('base64url'),
  }
}

export const sha256OfBytes = async (bytes: Uint8Array): Promise<string> =>
  Buffer.from(await subtle.digest('SHA-256', bytes)).toString('base64url')
