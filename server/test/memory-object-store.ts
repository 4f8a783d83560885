// A bucket in memory, with versions and locks where the test wants them. Every call is one step that other callers see whole, as in S3.
import { BackupTargetError } from '../src/backup-target/errors.ts'
import type { ObjectStore, StoredObject } from '../src/backup-target/object-store.ts'
import type { Clock } from '../src/kernel/clock.ts'

interface Version {
  version: string
  /** Null is a delete marker. */
  body: Buffer | null
  lockedUntil: Date | null
}

export class MemoryObjectStore implements ObjectStore {
  /** The newest version first. */
  readonly objects = new Map<string, Version[]>()
  /** Keys as they were put. */
  readonly puts: string[] = []
  /** May reject, or wait, before a call takes effect. */
  before: (call: keyof ObjectStore, key: string) => Promise<void> = async () => {}
  private readonly clock: Clock
  private readonly hasVersions: boolean
  private counter = 0

  constructor(clock: Clock, hasVersions = false) {
    this.clock = clock
    this.hasVersions = hasVersions
  }

  keys(part = ''): string[] {
    return [...this.objects].filter(([key, [newest]]) => key.includes(part) && newest?.body).map(([key]) => key)
  }

  bodyOf(key: string): Buffer {
    return this.objects.get(key)![0]!.body!
  }

  async put(
    key: string,
    body: Buffer,
    options: { lockedUntil?: Date | null; onlyIfMissing?: boolean },
  ): Promise<{ version: string | null }> {
    await this.before('put', key)
    if (options.onlyIfMissing && this.objects.get(key)?.[0]?.body) return { version: null }
    this.puts.push(key)
    return this.add(key, { body: Buffer.from(body), lockedUntil: options.lockedUntil ?? null })
  }

  async get(key: string, version: string | null, maxBytes: number): Promise<Buffer> {
    await this.before('get', key)
    const body = this.objects.get(key)?.find((each) => version === null || each.version === version)?.body
    if (!body) throw new BackupTargetError('missing', `The object ${key} is missing`)
    if (body.length > maxBytes) throw new BackupTargetError('damaged', `The object ${key} is larger than ${maxBytes} bytes`)
    return Buffer.from(body)
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    await this.before('list', prefix)
    const found = [...this.objects].filter(([key]) => key.startsWith(prefix)).toSorted(([a], [b]) => (a < b ? -1 : 1))
    yield* found.flatMap(([key, versions]) =>
      versions.map(({ version, body }, index) => ({
        key,
        sizeBytes: body?.length ?? 0,
        version,
        isLatest: index === 0,
        isDeleteMarker: body === null,
      })),
    )
  }

  async remove(key: string, version: string | null): Promise<void> {
    await this.before('remove', key)
    if (version === null && this.hasVersions) return void this.add(key, { body: null, lockedUntil: null })
    const versions = this.objects.get(key) ?? []
    const which = versions.find((each) => version === null || each.version === version)
    if (which?.lockedUntil && which.lockedUntil > this.clock.now()) throw new BackupTargetError('locked', `The object ${key} is locked`)
    const left = versions.filter((each) => each !== which)
    if (left.length > 0) this.objects.set(key, left)
    else this.objects.delete(key)
  }

  async extendLock(key: string, version: string | null, until: Date): Promise<void> {
    await this.before('extendLock', key)
    this.objects.get(key)!.find((each) => version === null || each.version === version)!.lockedUntil = until
  }

  async hasObjectLock(): Promise<boolean> {
    return this.hasVersions
  }

  private add(key: string, object: Omit<Version, 'version'>): { version: string | null } {
    const version = this.hasVersions ? `v${++this.counter}` : 'null'
    this.objects.set(key, [{ version, ...object }, ...(this.hasVersions ? (this.objects.get(key) ?? []) : [])])
    return { version: this.hasVersions ? version : null }
  }
}
