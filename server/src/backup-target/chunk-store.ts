// Chunks of a repository: compressed and encrypted content, checked when it is read.
import type { Range } from '../hypervisor/extent.ts'
import { addDuration, type Clock } from '../kernel/clock.ts'
import type { BandwidthLimit } from './bandwidth.ts'
import type { DataKey } from './data-key.ts'
import { BackupTargetError } from './errors.ts'
import { chunksOf, type Chunk, type Manifest, type Piece } from './manifest.ts'
import { forEachConcurrently } from './concurrency.ts'
import type { ObjectStore, StoredObject } from './object-store.ts'

/** At a time. */
export const REQUESTS = 8

/** Whose chunks are stored. */
export interface ChunkOwner {
  tag: string
  lockDays: number | null
  /** Chunks of an earlier attempt. */
  stored: Promise<Map<string, StoredObject>>
  signal: AbortSignal
}

export interface StoreDeps {
  store: ObjectStore
  clock: Clock
  bandwidth: BandwidthLimit
}

export class ChunkStore {
  private readonly deps: StoreDeps
  private readonly dataKey: DataKey
  private readonly folder: string

  constructor(deps: StoreDeps, dataKey: DataKey, folder: string) {
    this.deps = deps
    this.dataKey = dataKey
    this.folder = folder
  }

  keyOf(name: string): string {
    return `${this.folder}/${name}`
  }

  list(signal: AbortSignal): AsyncIterable<StoredObject> {
    return this.deps.store.list(this.keyOf(''), signal)
  }

  /** What an upload of the backup has stored until now. */
  async listOf(tag: string, signal: AbortSignal): Promise<Map<string, StoredObject>> {
    const stored = new Map<string, StoredObject>()
    for await (const found of this.deps.store.list(this.keyOf(`${tag}/`), signal))
      if (found.isLatest && !found.isDeleteMarker) stored.set(found.key, found)
    return stored
  }

  /** The chunk is not sent again when an earlier attempt stored it. `plain` is handed over. */
  async put({ tag, stored, lockDays, signal }: ChunkOwner, index: number, plain: Buffer): Promise<Chunk> {
    const { store, bandwidth } = this.deps
    const plainBytes = plain.length
    const { name: key, sealed, sha256 } = await this.dataKey.sealChunk(this.keyOf(`${tag}/`), ['chunk', tag, String(index)], plain)
    const facts = { name: key.slice(this.keyOf('').length), plainBytes, sha256 }
    const existing = (await stored).get(key)
    if (existing) {
      // Its lock, if any, is that of an earlier attempt: extendLocks renews it.
      return {
        ...facts,
        storedBytes: existing.sizeBytes,
        version: existing.version === 'null' ? null : existing.version,
        lockedUntil: null,
      }
    }
    await bandwidth(sealed.length, signal)
    const lockedUntil = lockDays === null ? null : this.chunkLock(lockDays)
    const { version } = await store.put(key, sealed, { lockedUntil }, signal)
    return { ...facts, storedBytes: sealed.length, version, lockedUntil: lockedUntil?.getTime() ?? null }
  }

  async get(chunk: Chunk, signal: AbortSignal): Promise<Buffer> {
    const key = this.keyOf(chunk.name)
    const { plain, sha256 } = await this.dataKey.open(
      key,
      await this.deps.store.get(key, chunk.version, chunk.storedBytes, signal),
      chunk.plainBytes,
    )
    if (plain.length === chunk.plainBytes && sha256 === chunk.sha256) return plain
    throw new BackupTargetError('damaged', `The object ${key} does not have the checksum that its manifest names`)
  }

  async assemble(pieces: Piece[], block: Range, signal: AbortSignal): Promise<Buffer> {
    const bytes = Buffer.alloc(block.length)
    for (const chunk of new Set(pieces.map((piece) => piece.chunk))) {
      const plain = await this.get(chunk, signal)
      for (const { offset, length, from } of pieces.filter((piece) => piece.chunk === chunk))
        plain.copy(bytes, offset - block.offset, from, from + length)
    }
    return bytes
  }

  /** What the backup needs is locked at least as long as its manifest will be. */
  async extendLocks(manifest: Manifest, lockDays: number, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.deps
    const needed = addDuration(clock.now(), `${lockDays}d`).getTime()
    const until = this.chunkLock(lockDays)
    const short = [...chunksOf(manifest).values()].filter(({ lockedUntil }) => (lockedUntil ?? 0) < needed)
    const extend = async (chunk: Chunk): Promise<void> => {
      await store.extendLock(this.keyOf(chunk.name), chunk.version, until, signal)
      chunk.lockedUntil = until.getTime()
    }
    await forEachConcurrently(short, REQUESTS, extend)
    await store.extendLock(this.dataKey.object.key, this.dataKey.object.version, until, signal)
  }

  /** Twice as long as backups, so that a chunk of many backups is extended once in `lockDays` and not by each of them. */
  private chunkLock(lockDays: number): Date {
    return addDuration(this.deps.clock.now(), `${2 * lockDays}d`)
  }

  /** Of every version of every chunk. */
  async listSizes(signal: AbortSignal): Promise<Map<string, number>> {
    const sizes = new Map<string, number>()
    for await (const { key, version, sizeBytes } of this.list(signal)) sizes.set(`${key} ${version}`, sizeBytes)
    return sizes
  }

  /** Those of other backups: a rule of the bucket, or somebody, may have deleted some. */
  requireOlder(tag: string, manifest: Manifest, sizes: Map<string, number>): void {
    for (const { name, version, storedBytes } of chunksOf(manifest).values()) {
      if (name.startsWith(`${tag}/`)) continue
      const key = this.keyOf(name)
      const found = sizes.get(`${key} ${version ?? 'null'}`)
      if (found === undefined) throw new BackupTargetError('missing', `The object ${key} is missing`)
      if (found !== storedBytes)
        throw new BackupTargetError('damaged', `The object ${key} has ${found} bytes, and ${storedBytes} were stored`)
    }
  }
}
