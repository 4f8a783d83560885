// Manifests of a repository, by the tags of their backups.
import { addDuration } from '../kernel/clock.ts'
import type { StoreDeps } from './chunk-store.ts'
import type { DataKey } from './data-key.ts'
import { isTargetError } from './errors.ts'
import { decodeManifest, encodeManifest, type Manifest } from './manifest.ts'
import { removeVersions } from './object-store.ts'

const MAX_MANIFEST_BYTES = 512 * 1024 ** 2

export class ManifestStore {
  private readonly deps: StoreDeps
  private readonly dataKey: DataKey
  private readonly folder: string

  constructor(deps: StoreDeps, dataKey: DataKey, folder: string) {
    this.deps = deps
    this.dataKey = dataKey
    this.folder = folder
  }

  keyOf(tag: string): string {
    return `${this.folder}/${tag}`
  }

  async put(tag: string, manifest: Manifest, lockDays: number | null, signal: AbortSignal): Promise<void> {
    const { store, clock, bandwidth } = this.deps
    const key = this.keyOf(tag)
    const sealed = await this.dataKey.seal(key, encodeManifest(manifest))
    await bandwidth(sealed.length, signal)
    await store.put(key, sealed, { lockedUntil: lockDays === null ? null : addDuration(clock.now(), `${lockDays}d`) }, signal)
  }

  /** The newest version that opens. Delete markers hide none: we delete versions, so they are somebody else's. */
  async find(tag: string, signal: AbortSignal): Promise<Manifest | undefined> {
    const key = this.keyOf(tag)
    let failure: unknown
    for await (const found of this.deps.store.list(key, signal)) {
      if (found.key !== key || found.isDeleteMarker) continue
      const sealed = await this.deps.store.get(key, found.version, MAX_MANIFEST_BYTES, signal)
      try {
        return decodeManifest(key, (await this.dataKey.open(key, sealed, MAX_MANIFEST_BYTES)).plain)
      } catch (error) {
        if (!isTargetError(error, 'damaged')) throw error
        failure ??= error
      }
    }
    if (failure) throw failure
    return undefined
  }

  async listTags(signal: AbortSignal): Promise<Set<string>> {
    const folder = this.keyOf('')
    const tags = new Set<string>()
    for await (const { key, isDeleteMarker } of this.deps.store.list(folder, signal))
      if (!isDeleteMarker) tags.add(key.slice(folder.length))
    return tags
  }

  /** False when object lock kept a version. */
  remove(tag: string, signal: AbortSignal): Promise<boolean> {
    return removeVersions(this.deps.store, this.keyOf(tag), signal)
  }
}
