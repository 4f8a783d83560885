// The key of one VM's backups. It lies in the bucket, sealed by the master key: with both a lost site can be restored, with one alone
// nothing. Chunks, manifests and names use keys derived from it, so a new master key changes this one object and no other.
import { hkdfSync, randomBytes } from 'node:crypto'
import type { Vault } from '../kernel/crypto.ts'
import { newId } from '../kernel/ids.ts'
import { BackupTargetError, isTargetError } from './errors.ts'
import type { ObjectStore } from './object-store.ts'
import { inSealThread, nameFor } from './seal-thread.ts'

const KEYS = 'keys/'
const MAX_KEY_BYTES = 4_096

export interface DataKey {
  /** Manifests say by it which key they need. */
  readonly id: string
  readonly vmId: string
  /** Where it lies, to be locked as long as what it opens. */
  readonly object: { key: string; version: string }
  /** Compressed where that is smaller, encrypted, and bound to its name: no object can take the place of another. `plain` is handed over. */
  seal(name: string, plain: Uint8Array): Promise<Buffer>
  /** Under a name in the folder that the parts and the content make: the same for the same. `plain` is handed over. */
  sealChunk(folder: string, parts: string[], plain: Uint8Array): Promise<{ name: string; sealed: Buffer; sha256: string }>
  /** `damaged` when any bit differs. `sealed` is handed over. */
  open(name: string, sealed: Uint8Array, maxBytes: number): Promise<{ plain: Buffer; sha256: string }>
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

function dataKeyOf(record: KeyRecord, object: DataKey['object']): DataKey {
  const derived = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', Buffer.from(record.key, 'base64'), '', `berth backup ${purpose}`, 32))
  const [key, naming] = [derived('encryption'), derived('names')]
  return {
    id: record.id,
    vmId: record.vmId,
    object,
    seal: async (name, plain) => (await inSealThread({ key, name, bytes: plain })).bytes,
    sealChunk: async (folder, parts, plain) => {
      const { name, bytes: sealed, sha256 } = await inSealThread({ key, name: folder, naming: { key: naming, parts }, bytes: plain })
      return { name, sealed, sha256 }
    },
    open: async (name, sealed, maxBytes) => {
      const { bytes: plain, sha256, isDamaged } = await inSealThread({ key, name, bytes: sealed, maxBytes })
      if (isDamaged) throw new BackupTargetError('damaged', `The object ${name} is damaged: it is not what was stored`)
      return { plain, sha256 }
    },
    nameFor: (...parts) => nameFor(naming, parts),
  }
}
