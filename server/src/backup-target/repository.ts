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
import { cutIntoBlocks, type Block } from './blocks.ts'
import { ChunkStore, REQUESTS, type ChunkOwner, type StoreDeps } from './chunk-store.ts'
import { forEachConcurrently, mapOrdered } from './concurrency.ts'
import type { DataKey } from './data-key.ts'
import { BackupTargetError, isTargetError } from './errors.ts'
import { checksumOf, chunksOf, piecesByBlock, withoutRanges, type Chunk, type Manifest, type Piece } from './manifest.ts'
import { ManifestStore } from './manifest-store.ts'
import { removeUnlessLocked, removeVersions, type StoredObject } from './object-store.ts'

/** 4 MiB: large enough for few requests, small enough for several in memory. */
const BLOCK_BYTES = 4 * 1024 ** 2
/** Blocks in work at a time, each as plaintext or ciphertext: under 150 MB in all, with what is to be collected (bench:backup-s3). */
const WIDTH = 6
/** A block that would have more is stored anew as one chunk: neither manifests nor restores grow with the number of backups. */
const MAX_CHUNKS = 8
const PIECES_PER_CHUNK = 2
/** Of a disk, whose blocks have fewer then: a manifest is decoded as one text, of at most 512 MiB. */
const MAX_CHUNKS_OF_DISK = 400_000
const TOKEN_BYTES = 16

export interface RepositoryDeps extends StoreDeps {
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
  /** Chunks that no backup needs, and that object lock kept, or are kept until an upload ends. */
  lockedChunks: number
  lockedChunkBytes: number
  /** With the backups that object lock kept. */
  lockedBytes: number
  /** An upload is under way: the next removal deletes the chunks. */
  isPostponed: boolean
  /** Of each backup that is left: what no newer one needs, and would be deleted with it. */
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
  private readonly chunks: ChunkStore
  private readonly manifests: ManifestStore

  constructor(deps: RepositoryDeps, dataKey: DataKey, repositoryId: string) {
    this.deps = deps
    this.dataKey = dataKey
    this.folder = `data/${repositoryId}`
    this.chunks = new ChunkStore(deps, dataKey, `${this.folder}/chunks`)
    this.manifests = new ManifestStore(deps, dataKey, `${this.folder}/manifests`)
  }

  /** Repeated after an interruption it sends only what is missing. `missing` without its parent. */
  async upload(request: UploadRequest, signal: AbortSignal): Promise<BackupStored> {
    const { backupId, parentId, sizeBytes, extents, lockDays } = request
    const { store, clock } = this.deps
    const tag = this.tagOf(backupId)
    const parenting = parentId === null ? Promise.resolve(undefined) : this.getManifest(parentId, signal)
    parenting.catch(() => {}) // awaited below
    const existing = await this.manifests.find(tag, signal)
    if (existing) {
      await this.removeMark(tag, signal)
      return this.summaryOf(existing)
    }
    const parent = await parenting
    if (parent && parent.sizeBytes > sizeBytes) throw new Error(`BUG: the disk of backup ${backupId} is smaller than that of its parent`)
    const token = randomBytes(TOKEN_BYTES)
    await store.put(this.markKey(tag), token, {}, signal)
    const stored = this.chunks.listOf(tag, signal)
    stored.catch(() => {}) // awaited by every chunk

    const blockBytes = parent?.blockBytes ?? this.deps.blockBytes ?? BLOCK_BYTES
    const upload = { tag, disk: { sizeBytes, blockBytes }, lockDays, stored, signal }
    const older = parent ? this.chunks.listSizes(signal) : Promise.resolve(new Map<string, number>())
    older.catch(() => {}) // awaited below: it takes its time beside the upload
    const blocks = parent ? piecesByBlock(parent) : new Map<number, Piece[]>()
    await forEachConcurrently(cutIntoBlocks(extents, upload.disk), WIDTH, async (block) => {
      blocks.set(block.index, await this.storeBlock(upload, block, blocks.get(block.index) ?? []))
    })

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
    if (lockDays !== null) await this.chunks.extendLocks(manifest, lockDays, signal)
    this.chunks.requireOlder(tag, manifest, await older)
    await this.requireMark(tag, token, signal) // last: the list of chunks may take long
    await this.manifests.put(tag, manifest, lockDays, signal)
    await this.removeMark(tag, signal)
    return this.summaryOf(manifest)
  }

  async has(backupId: string, signal: AbortSignal): Promise<boolean> {
    return (await this.manifests.find(this.tagOf(backupId), signal)) !== undefined
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
        await this.chunks.get(chunk, signal)
      } catch (error) {
        if (!isTargetError(error, 'missing', 'damaged')) throw error
        problems.push(error.message)
      }
    }
    await forEachConcurrently(chunks, WIDTH, check)
    return { chunks: chunks.length, storedBytes: sumOf(chunks), problems }
  }

  /** Every backup of the repository, for a control plane that lost its database. `onDamaged` gets those that cannot be read. */
  async *list(signal: AbortSignal, onDamaged?: (error: BackupTargetError) => void): AsyncGenerator<BackupStored> {
    for (const tag of await this.manifests.listTags(signal)) {
      const manifest = await this.manifests.find(tag, signal).catch((error: unknown) => {
        if (!onDamaged || !isTargetError(error, 'damaged', 'unsupported')) throw error
        onDamaged(error)
        return undefined
      })
      if (manifest) yield this.summaryOf(manifest)
    }
  }

  /** Nobody can delete it for so many days from now. */
  async renewLock(backupId: string, lockDays: number, signal: AbortSignal): Promise<void> {
    const manifest = await this.getManifest(backupId, signal)
    await this.chunks.extendLocks(manifest, lockDays, signal)
    await this.manifests.put(this.tagOf(backupId), manifest, lockDays, signal)
  }

  /** Ends an upload, finished or not, that is nobody's parent. What it stored is deleted by the next `remove`. */
  async discard(backupId: string, signal: AbortSignal): Promise<void> {
    await this.removeMark(this.tagOf(backupId), signal)
    await this.manifests.remove(this.tagOf(backupId), signal)
  }

  /** Removes the data key of a repository that nobody uses any more. False where object lock keeps it, or something that needs it. */
  async removeIfEmpty(signal: AbortSignal): Promise<boolean> {
    for await (const _ of this.deps.store.list(`${this.folder}/`, signal)) return false
    return removeVersions(this.deps.store, this.dataKey.object.key, signal)
  }

  /** Removes backups, finished or not, and every chunk that no other needs. Repeatable; one call at a time for a repository. */
  async remove(backupIds: string[], signal: AbortSignal): Promise<RemovalResult> {
    const result: RemovalResult = {
      freedBytes: 0,
      lockedIds: [],
      lockedChunks: 0,
      lockedChunkBytes: 0,
      lockedBytes: 0,
      isPostponed: false,
      heldBytes: new Map(),
    }
    for (const backupId of backupIds) {
      await this.removeMark(this.tagOf(backupId), signal)
      if (!(await this.manifests.remove(this.tagOf(backupId), signal))) result.lockedIds.push(backupId)
    }
    const chunks = await Array.fromAsync(this.chunks.list(signal))
    const marks = await Array.fromAsync(this.deps.store.list(this.markKey(''), signal))
    const tags = await this.manifests.listTags(signal)
    const uploading = marks
      .filter(({ isLatest, isDeleteMarker }) => isLatest && !isDeleteMarker)
      .map(({ key }) => key.slice(this.markKey('').length))
      .filter((tag) => !tags.has(tag))
    result.isPostponed = uploading.length > 0

    const needed = new Map<string, Holder>()
    // A manifest that cannot be read rejects here, before anything that it may need is deleted.
    for (const tag of tags) {
      const manifest = (await this.manifests.find(tag, signal))!
      const { backupId, createdAt } = manifest
      result.heldBytes.set(backupId, 0)
      for (const { name, storedBytes } of chunksOf(manifest).values()) {
        const key = this.chunks.keyOf(name)
        const holder = needed.get(key)
        if (!holder || holder.createdAt < createdAt) needed.set(key, { backupId, createdAt, storedBytes })
      }
    }
    for (const { backupId, storedBytes } of needed.values()) result.heldBytes.set(backupId, result.heldBytes.get(backupId)! + storedBytes)
    const sweep = async ({ key, version, sizeBytes }: StoredObject): Promise<void> => {
      if (!result.isPostponed && (await removeUnlessLocked(this.deps.store, key, version, signal))) result.freedBytes += sizeBytes
      else {
        result.lockedChunks++
        result.lockedChunkBytes += sizeBytes
      }
    }
    const isUploading = (key: string): boolean => uploading.some((tag) => key.startsWith(this.chunks.keyOf(`${tag}/`)))
    const unneeded = chunks.filter(({ key }) => !needed.has(key) && !isUploading(key))
    await forEachConcurrently(unneeded, REQUESTS, sweep)
    result.lockedBytes = result.lockedIds.reduce((sum, id) => sum + (result.heldBytes.get(id) ?? 0), result.lockedChunkBytes)
    return result
  }

  private async storeBlock(upload: Upload, block: Block, before: Piece[]): Promise<Piece[]> {
    const { blockBytes, sizeBytes } = upload.disk
    const { index } = block
    let kept = withoutRanges(before, block.reported)
    let data = joined(block.data)
    const maxChunks = Math.max(2, Math.min(MAX_CHUNKS, Math.floor((MAX_CHUNKS_OF_DISK * blockBytes) / sizeBytes)))
    if (kept.length + data.length > maxChunks * PIECES_PER_CHUNK || new Set(kept.map(({ chunk }) => chunk)).size >= maxChunks) {
      const offset = index * blockBytes
      const bytes = await this.chunks.assemble(kept, { offset, length: Math.min(blockBytes, sizeBytes - offset) }, upload.signal)
      for (const run of data) run.bytes.copy(bytes, run.offset - offset)
      kept = []
      data = [{ offset, bytes }]
    }
    if (data.length === 0) return kept
    let from = 0
    const runs = data.map(({ offset, bytes: { length } }) => ({ offset, length, from: (from += length) - length }))
    const chunk = await this.chunks.put(upload, index, contentOf(data))
    const added = runs.map((run) => ({ ...run, chunk }))
    return [...kept, ...added].toSorted((a, b) => a.offset - b.offset)
  }

  /** Fails when the backup was removed meanwhile, or another process has begun the same upload. */
  private async requireMark(tag: string, token: Buffer, signal: AbortSignal): Promise<void> {
    const found = await this.deps.store.get(this.markKey(tag), null, TOKEN_BYTES, signal).catch((error: unknown) => {
      if (isTargetError(error, 'missing')) return undefined
      throw error
    })
    if (!found?.equals(token)) throw new BackupTargetError('cancelled', `The upload ${this.markKey(tag)} was removed or taken over`)
  }

  private async *readExtents(manifest: Manifest, signal: AbortSignal): AsyncGenerator<Extent> {
    const { blockBytes, sizeBytes } = manifest
    const work = async ([index, pieces]: [number, Piece[]]): Promise<Extent[]> => {
      const offset = index * blockBytes
      const bytes = await this.chunks.assemble(pieces, { offset, length: Math.min(blockBytes, sizeBytes - offset) }, signal)
      return joined(
        pieces.map((piece) => ({ offset: piece.offset, bytes: bytes.subarray(piece.offset - offset).subarray(0, piece.length) })),
      )
    }
    for await (const extents of mapOrdered(piecesByBlock(manifest), WIDTH, work)) yield* extents
  }

  private async removeMark(tag: string, signal: AbortSignal): Promise<void> {
    // A default lock of the bucket holds versions; a delete marker ends the upload as well.
    if (!(await removeVersions(this.deps.store, this.markKey(tag), signal))) await this.deps.store.remove(this.markKey(tag), null, signal)
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

  private async getManifest(backupId: string, signal: AbortSignal): Promise<Manifest> {
    const tag = this.tagOf(backupId)
    const manifest = await this.manifests.find(tag, signal)
    if (!manifest) throw new BackupTargetError('missing', `The manifest ${this.manifests.keyOf(tag)} of backup ${backupId} is missing`)
    return manifest
  }

  private markKey(tag: string): string {
    return `${this.folder}/uploads/${tag}`
  }
}

interface Holder {
  backupId: string
  createdAt: string
  storedBytes: number
}

interface Upload extends ChunkOwner {
  disk: { sizeBytes: number; blockBytes: number }
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

const sumOf = (chunks: Chunk[]): number => chunks.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
