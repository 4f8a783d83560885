// The backups of one VM in a bucket:
//   keys/<repository>                           its data key, sealed by the master key
//   data/<repository>/uploads/<backup>          there while a backup is uploaded
//   data/<repository>/chunks/<backup>/<chunk>   compressed and encrypted content
//   data/<repository>/manifests/<backup>        written last: without it nothing is a backup
// Names are keyed hashes; a chunk's depends on its backup, block and content, so that a repeated upload finds what an earlier attempt stored.
//
// Any number of uploads and one `remove` at a time may run together. An upload writes its mark before it reads the manifest of its parent,
// and its manifest before it removes the mark. `remove` deletes manifests, then lists chunks, then marks, then manifests, and deletes no
// chunk while there is a mark. So each chunk in its list belongs to an upload whose mark or manifest it sees; and an upload that began after
// it looked for marks found its parent's manifest, which therefore is one of those that it keeps.
import { randomBytes } from 'node:crypto'
import type { Extent, Range } from '../hypervisor/extent.ts'
import { addDuration, type Clock } from '../kernel/clock.ts'
import type { BandwidthLimit } from './bandwidth.ts'
import { cutIntoBlocks, type Block } from './blocks.ts'
import { sha256OfBytes, type DataKey } from './data-key.ts'
import { BackupTargetError, isTargetError } from './errors.ts'
import {
  checksumOf,
  chunksOf,
  decodeManifest,
  encodeManifest,
  piecesByBlock,
  withoutRanges,
  type Chunk,
  type Manifest,
  type Piece,
} from './manifest.ts'
import { mapOrdered } from './map-ordered.ts'
import type { ObjectStore, StoredObject } from './object-store.ts'

/** 4 MiB: large enough for few requests, small enough for several in memory. */
const BLOCK_BYTES = 4 * 1024 ** 2
/** Blocks in work at a time, each with its plaintext, ciphertext and their like: 50 MiB in all. */
const WIDTH = 4
const REQUESTS = 8
/** A block that would have more is stored anew as one chunk: neither manifests nor restores grow with the number of backups. */
const [MAX_CHUNKS, MAX_PIECES] = [8, 16]
const MAX_MANIFEST_BYTES = 512 * 1024 ** 2
const TOKEN_BYTES = 16

export interface RepositoryDeps {
  store: ObjectStore
  clock: Clock
  bandwidth: BandwidthLimit
  /** Of backups without parent. */
  blockBytes?: number
}

export interface UploadRequest {
  backupId: string
  /** `extents` are what changed since this one; without it they are everything that is not zero. */
  parentId: string | null
  sizeBytes: number
  extents: AsyncIterable<Extent>
  /** Nobody can delete the backup for so many days, nor anything that it needs. */
  lockDays: number | null
}

export interface BackupStored {
  backupId: string
  parentId: string | null
  sizeBytes: number
  createdAt: string
  /** Of the content of the disk. */
  checksum: string
  /** What this backup added to the bucket. */
  addedBytes: number
  /** Everything it needs. */
  storedBytes: number
}

export interface RemovalResult {
  freedBytes: number
  /** Backups that object lock kept; they are still whole. */
  lockedIds: string[]
  /** Chunks that no backup needs, and that object lock kept. */
  lockedChunks: number
  /** An upload is under way: the next removal deletes the chunks. */
  isPostponed: boolean
  /** Of each backup that is left: what no newer one needs, and would be deleted with it. Empty when postponed. */
  heldBytes: Map<string, number>
}

export interface VerifyResult {
  chunks: number
  storedBytes: number
  /** A sentence per object that is missing or damaged. */
  problems: string[]
}

export class BackupRepository {
  private readonly deps: RepositoryDeps
  private readonly dataKey: DataKey
  private readonly folder: string

  constructor(deps: RepositoryDeps, dataKey: DataKey, repositoryId: string) {
    this.deps = deps
    this.dataKey = dataKey
    this.folder = `data/${repositoryId}`
  }

  /** Repeated after an interruption it sends only what is missing. `missing` without its parent. */
  async upload(request: UploadRequest, signal: AbortSignal): Promise<BackupStored> {
    const { backupId, parentId, sizeBytes, extents, lockDays } = request
    const { store, clock } = this.deps
    const tag = this.tagOf(backupId)
    const existing = await this.findManifest(tag, signal)
    if (existing) {
      await this.removeMark(tag, signal)
      return this.summaryOf(existing)
    }
    const token = randomBytes(TOKEN_BYTES)
    await store.put(this.markKey(tag), token, {}, signal)
    const parent = parentId === null ? undefined : await this.getManifest(parentId, signal)
    if (parent && parent.sizeBytes > sizeBytes) throw new Error(`BUG: the disk of backup ${backupId} is smaller than that of its parent`)

    const blockBytes = parent?.blockBytes ?? this.deps.blockBytes ?? BLOCK_BYTES
    const upload = { tag, disk: { sizeBytes, blockBytes }, lockDays, stored: await this.listStored(tag, signal), signal }
    const blocks = parent ? piecesByBlock(parent) : new Map<number, Piece[]>()
    const work = (block: Block) => this.storeBlock(upload, block, blocks.get(block.index) ?? [])
    for await (const { index, pieces } of mapOrdered(cutIntoBlocks(extents, upload.disk), WIDTH, work)) blocks.set(index, pieces)

    const manifest: Manifest = {
      backupId,
      parentId,
      vmId: this.dataKey.vmId,
      keyId: this.dataKey.id,
      sizeBytes,
      blockBytes,
      createdAt: clock.now().toISOString(),
      pieces: [...blocks].toSorted(([a], [b]) => a - b).flatMap(([, pieces]) => pieces),
    }
    if (lockDays !== null) await this.extendLocks(manifest, lockDays, signal)
    await this.requireChunks(manifest, signal)
    await this.requireMark(tag, token, signal)
    await this.putManifest(tag, manifest, lockDays, signal)
    await this.removeMark(tag, signal)
    return this.summaryOf(manifest)
  }

  /** Everything of the disk that is not zero, in order; each chunk is checked before its bytes are handed over. */
  async read(backupId: string, signal: AbortSignal): Promise<BackupStored & { allocated: Range[]; extents: AsyncIterable<Extent> }> {
    const manifest = await this.getManifest(backupId, signal)
    const allocated = manifest.pieces.map(({ offset, length }) => ({ offset, length }))
    return { ...this.summaryOf(manifest), allocated, extents: this.readExtents(manifest, signal) }
  }

  /** Reads every chunk of the backup. */
  async verify(backupId: string, signal: AbortSignal): Promise<VerifyResult> {
    const chunks = [...chunksOf(await this.getManifest(backupId, signal)).values()]
    const problems: string[] = []
    const check = async (chunk: Chunk): Promise<void> => {
      try {
        await this.fetchChunk(chunk, signal)
      } catch (error) {
        if (!isTargetError(error, 'missing', 'damaged')) throw error
        problems.push(error.message)
      }
    }
    for await (const _ of mapOrdered(chunks, WIDTH, check)) continue
    return { chunks: chunks.length, storedBytes: sumOf(chunks), problems }
  }

  /** Every backup of the repository, for a control plane that lost its database. `onDamaged` gets those that cannot be read. */
  async *list(signal: AbortSignal, onDamaged?: (error: BackupTargetError) => void): AsyncGenerator<BackupStored> {
    for (const tag of await this.listManifestTags(signal)) {
      const manifest = await this.findManifest(tag, signal).catch((error: unknown) => {
        if (!onDamaged || !isTargetError(error, 'damaged', 'unsupported')) throw error
        onDamaged(error)
        return undefined
      })
      if (manifest) yield this.summaryOf(manifest)
    }
  }

  /** Ends an upload, finished or not, that is nobody's parent. What it stored is deleted by the next `remove`. */
  async discard(backupId: string, signal: AbortSignal): Promise<void> {
    await this.removeMark(this.tagOf(backupId), signal)
    await this.removeVersions(this.manifestKey(this.tagOf(backupId)), signal)
  }

  /** Removes the data key of a repository that nobody uses any more. False where object lock keeps it, or something that needs it. */
  async removeIfEmpty(signal: AbortSignal): Promise<boolean> {
    for await (const _ of this.deps.store.list(`${this.folder}/`, signal)) return false
    return this.removeVersions(this.dataKey.object.key, signal)
  }

  /** Removes backups, finished or not, and every chunk that no other needs. Repeatable; one call at a time for a repository. */
  async remove(backupIds: string[], signal: AbortSignal): Promise<RemovalResult> {
    const result: RemovalResult = { freedBytes: 0, lockedIds: [], lockedChunks: 0, isPostponed: false, heldBytes: new Map() }
    for (const backupId of backupIds) {
      await this.removeMark(this.tagOf(backupId), signal)
      if (!(await this.removeVersions(this.manifestKey(this.tagOf(backupId)), signal))) result.lockedIds.push(backupId)
    }
    const chunks = await Array.fromAsync(this.deps.store.list(this.chunkKey(''), signal))
    const marks = await Array.fromAsync(this.deps.store.list(this.markKey(''), signal))
    const tags = await this.listManifestTags(signal)
    const isUnfinished = ({ key, isLatest, isDeleteMarker }: StoredObject): boolean =>
      isLatest && !isDeleteMarker && !tags.has(key.slice(this.markKey('').length))
    if (marks.some(isUnfinished)) return { ...result, isPostponed: true }

    const needed = new Map<string, Holder>()
    // A manifest that cannot be read rejects here, before anything that it may need is deleted.
    for (const tag of tags) {
      const manifest = (await this.findManifest(tag, signal))!
      const { backupId, createdAt } = manifest
      result.heldBytes.set(backupId, 0)
      for (const { name, storedBytes } of chunksOf(manifest).values()) {
        const key = this.chunkKey(name)
        const holder = needed.get(key)
        if (!holder || holder.createdAt < createdAt) needed.set(key, { backupId, createdAt, storedBytes })
      }
    }
    for (const { backupId, storedBytes } of needed.values()) result.heldBytes.set(backupId, result.heldBytes.get(backupId)! + storedBytes)
    const sweep = async ({ key, version, sizeBytes }: StoredObject): Promise<void> => {
      if (await this.removeUnlessLocked(key, version, signal)) result.freedBytes += sizeBytes
      else result.lockedChunks++
    }
    const unneeded = chunks.filter(({ key }) => !needed.has(key))
    for await (const _ of mapOrdered(unneeded, REQUESTS, sweep)) continue
    return result
  }

  private async storeBlock(upload: Upload, block: Block, before: Piece[]): Promise<{ index: number; pieces: Piece[] }> {
    const { blockBytes, sizeBytes } = upload.disk
    const { index } = block
    let kept = withoutRanges(before, block.reported)
    let data = joined(block.data)
    if (kept.length + data.length > MAX_PIECES || new Set(kept.map(({ chunk }) => chunk)).size >= MAX_CHUNKS) {
      const offset = index * blockBytes
      const bytes = await this.assemble(kept, { offset, length: Math.min(blockBytes, sizeBytes - offset) }, upload.signal)
      for (const run of data) run.bytes.copy(bytes, run.offset - offset)
      kept = []
      data = [{ offset, bytes }]
    }
    if (data.length === 0) return { index, pieces: kept }
    const chunk = await this.storeChunk(upload, index, contentOf(data))
    let from = 0
    const added = data.map(({ offset, bytes }) => ({ offset, length: bytes.length, chunk, from: (from += bytes.length) - bytes.length }))
    return { index, pieces: [...kept, ...added].toSorted((a, b) => a.offset - b.offset) }
  }

  private async storeChunk({ tag, stored, lockDays, signal }: Upload, index: number, plain: Buffer): Promise<Chunk> {
    const { store, bandwidth } = this.deps
    const sha256 = await sha256OfBytes(plain)
    const name = `${tag}/${this.dataKey.nameFor('chunk', tag, String(index), sha256)}`
    const key = this.chunkKey(name)
    const existing = stored.get(key)
    const facts = { name, plainBytes: plain.length, sha256 }
    if (existing) {
      // Its lock, if any, is that of an earlier attempt: extendLocks renews it.
      return {
        ...facts,
        storedBytes: existing.sizeBytes,
        version: existing.version === 'null' ? null : existing.version,
        lockedUntil: null,
      }
    }
    const sealed = await this.dataKey.seal(key, plain)
    await bandwidth(sealed.length, signal)
    const lockedUntil = lockDays === null ? null : this.chunkLock(lockDays)
    const { version } = await store.put(key, sealed, { lockedUntil }, signal)
    return { ...facts, storedBytes: sealed.length, version, lockedUntil: lockedUntil?.getTime() ?? null }
  }

  /** Twice as long as backups, so that a chunk of many backups is extended once in `lockDays` and not by each of them. */
  private chunkLock(lockDays: number): Date {
    return addDuration(this.deps.clock.now(), `${2 * lockDays}d`)
  }

  /** What the backup needs is locked at least as long as its manifest will be. */
  private async extendLocks(manifest: Manifest, lockDays: number, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.deps
    const needed = addDuration(clock.now(), `${lockDays}d`).getTime()
    const until = this.chunkLock(lockDays)
    const short = [...chunksOf(manifest).values()].filter(({ lockedUntil }) => (lockedUntil ?? 0) < needed)
    const extend = async (chunk: Chunk): Promise<void> => {
      await store.extendLock(this.chunkKey(chunk.name), chunk.version, until, signal)
      chunk.lockedUntil = until.getTime()
    }
    for await (const _ of mapOrdered(short, REQUESTS, extend)) continue
    await store.extendLock(this.dataKey.object.key, this.dataKey.object.version, until, signal)
  }

  /** A rule of the bucket, or somebody, may have deleted chunks of the parent. */
  private async requireChunks(manifest: Manifest, signal: AbortSignal): Promise<void> {
    const sizes = new Map<string, number>()
    for await (const { key, version, sizeBytes } of this.deps.store.list(this.chunkKey(''), signal))
      sizes.set(`${key} ${version}`, sizeBytes)
    for (const { name, version, storedBytes } of chunksOf(manifest).values()) {
      const key = this.chunkKey(name)
      const found = sizes.get(`${key} ${version ?? 'null'}`)
      if (found === undefined) throw missing(key)
      if (found !== storedBytes)
        throw new BackupTargetError('damaged', `The object ${key} has ${found} bytes, and ${storedBytes} were stored`)
    }
  }

  /** Fails when the backup was removed meanwhile, or another process has begun the same upload. */
  private async requireMark(tag: string, token: Buffer, signal: AbortSignal): Promise<void> {
    const found = await this.deps.store.get(this.markKey(tag), null, TOKEN_BYTES, signal).catch((error: unknown) => {
      if (isTargetError(error, 'missing')) return undefined
      throw error
    })
    if (!found?.equals(token)) throw new BackupTargetError('cancelled', `The upload ${this.markKey(tag)} was removed or taken over`)
  }

  private async putManifest(tag: string, manifest: Manifest, lockDays: number | null, signal: AbortSignal): Promise<void> {
    const { store, clock, bandwidth } = this.deps
    const key = this.manifestKey(tag)
    const sealed = await this.dataKey.seal(key, encodeManifest(manifest))
    await bandwidth(sealed.length, signal)
    await store.put(key, sealed, { lockedUntil: lockDays === null ? null : addDuration(clock.now(), `${lockDays}d`) }, signal)
  }

  private async *readExtents(manifest: Manifest, signal: AbortSignal): AsyncGenerator<Extent> {
    const { blockBytes, sizeBytes } = manifest
    const work = async ([index, pieces]: [number, Piece[]]): Promise<Extent[]> => {
      const offset = index * blockBytes
      const bytes = await this.assemble(pieces, { offset, length: Math.min(blockBytes, sizeBytes - offset) }, signal)
      return joined(
        pieces.map((piece) => ({ offset: piece.offset, bytes: bytes.subarray(piece.offset - offset).subarray(0, piece.length) })),
      )
    }
    for await (const extents of mapOrdered(piecesByBlock(manifest), WIDTH, work)) yield* extents
  }

  private async assemble(pieces: Piece[], block: Range, signal: AbortSignal): Promise<Buffer> {
    const bytes = Buffer.alloc(block.length)
    for (const chunk of new Set(pieces.map((piece) => piece.chunk))) {
      const plain = await this.fetchChunk(chunk, signal)
      for (const { offset, length, from } of pieces.filter((piece) => piece.chunk === chunk))
        plain.copy(bytes, offset - block.offset, from, from + length)
    }
    return bytes
  }

  private async fetchChunk({ name, version, storedBytes, plainBytes, sha256 }: Chunk, signal: AbortSignal): Promise<Buffer> {
    const key = this.chunkKey(name)
    const plain = await this.dataKey.open(key, await this.deps.store.get(key, version, storedBytes, signal), plainBytes)
    if (plain.length === plainBytes && (await sha256OfBytes(plain)) === sha256) return plain
    throw new BackupTargetError('damaged', `The object ${key} does not have the checksum that its manifest names`)
  }

  private async listStored(tag: string, signal: AbortSignal): Promise<Map<string, StoredObject>> {
    const stored = new Map<string, StoredObject>()
    for await (const found of this.deps.store.list(this.chunkKey(`${tag}/`), signal))
      if (found.isLatest && !found.isDeleteMarker) stored.set(found.key, found)
    return stored
  }

  private async getManifest(backupId: string, signal: AbortSignal): Promise<Manifest> {
    const tag = this.tagOf(backupId)
    const manifest = await this.findManifest(tag, signal)
    if (!manifest) throw new BackupTargetError('missing', `The manifest ${this.manifestKey(tag)} of backup ${backupId} is missing`)
    return manifest
  }

  /** The newest version that opens. Delete markers hide none: we delete versions, so they are somebody else's. */
  private async findManifest(tag: string, signal: AbortSignal): Promise<Manifest | undefined> {
    const key = this.manifestKey(tag)
    let failure: unknown
    for await (const found of this.deps.store.list(key, signal)) {
      if (found.key !== key || found.isDeleteMarker) continue
      const sealed = await this.deps.store.get(key, found.version, MAX_MANIFEST_BYTES, signal)
      try {
        return decodeManifest(key, await this.dataKey.open(key, sealed, MAX_MANIFEST_BYTES))
      } catch (error) {
        if (!isTargetError(error, 'damaged')) throw error
        failure ??= error
      }
    }
    if (failure) throw failure
    return undefined
  }

  private async listManifestTags(signal: AbortSignal): Promise<Set<string>> {
    const folder = this.manifestKey('')
    const tags = new Set<string>()
    for await (const { key, isDeleteMarker } of this.deps.store.list(folder, signal))
      if (!isDeleteMarker) tags.add(key.slice(folder.length))
    return tags
  }

  private async removeMark(tag: string, signal: AbortSignal): Promise<void> {
    // A default lock of the bucket holds versions; a delete marker ends the upload as well.
    if (!(await this.removeVersions(this.markKey(tag), signal))) await this.deps.store.remove(this.markKey(tag), null, signal)
  }

  /** False when object lock kept one. */
  private async removeVersions(key: string, signal: AbortSignal): Promise<boolean> {
    let areRemoved = true
    for (const found of await Array.fromAsync(this.deps.store.list(key, signal)))
      if (found.key === key && !(await this.removeUnlessLocked(key, found.version, signal))) areRemoved = false
    return areRemoved
  }

  private async removeUnlessLocked(key: string, version: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.deps.store.remove(key, version, signal)
      return true
    } catch (error) {
      if (isTargetError(error, 'locked')) return false
      throw error
    }
  }

  private summaryOf(manifest: Manifest): BackupStored {
    const { backupId, parentId, sizeBytes, createdAt } = manifest
    const chunks = [...chunksOf(manifest).values()]
    const added = chunks.filter(({ name }) => name.startsWith(`${this.tagOf(backupId)}/`))
    return {
      backupId,
      parentId,
      sizeBytes,
      createdAt,
      checksum: checksumOf(manifest),
      addedBytes: sumOf(added),
      storedBytes: sumOf(chunks),
    }
  }

  private tagOf(backupId: string): string {
    return this.dataKey.nameFor('backup', backupId)
  }

  private chunkKey(name: string): string {
    return `${this.folder}/chunks/${name}`
  }

  private markKey(tag: string): string {
    return `${this.folder}/uploads/${tag}`
  }

  private manifestKey(tag: string): string {
    return `${this.folder}/manifests/${tag}`
  }
}

interface Holder {
  backupId: string
  createdAt: string
  storedBytes: number
}

interface Upload {
  tag: string
  disk: { sizeBytes: number; blockBytes: number }
  lockDays: number | null
  /** Chunks of an earlier attempt. */
  stored: Map<string, StoredObject>
  signal: AbortSignal
}

type Run = { offset: number; bytes: Buffer }

/** Neighbours become one. */
function joined(runs: Run[]): Run[] {
  const groups: Run[][] = []
  for (const run of runs) {
    const last = groups.at(-1)?.at(-1)
    if (last && last.offset + last.bytes.length === run.offset) groups.at(-1)!.push(run)
    else groups.push([run])
  }
  return groups.map((group) => ({ offset: group[0]!.offset, bytes: contentOf(group) }))
}

const contentOf = (runs: Run[]): Buffer => (runs.length === 1 ? runs[0]!.bytes : Buffer.concat(runs.map(({ bytes }) => bytes)))

const missing = (key: string): BackupTargetError => new BackupTargetError('missing', `The object ${key} is missing`)

const sumOf = (chunks: Chunk[]): number => chunks.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
