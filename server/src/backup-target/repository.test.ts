import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { restored, testDisk } from '../../test/backup-disk.ts'
import { MemoryObjectStore } from '../../test/memory-object-store.ts'
import type { Extent } from '../hypervisor/extent.ts'
import { manualClock, systemClock, type Clock } from '../kernel/clock.ts'
import { vaultFrom } from '../kernel/crypto.ts'
import { createBandwidthLimit } from './bandwidth.ts'
import { ensureDataKey, listRepositoryIds, openDataKey, resealDataKey } from './data-key.ts'
import { BackupTargetError } from './errors.ts'
import { BackupRepository, type UploadRequest } from './repository.ts'
import { verifyBucket } from './verify.ts'

const { signal } = new AbortController()
const BLOCK = 4_096
const UNIT = 64
const vault = vaultFrom(randomBytes(32))
const REPOSITORY = { id: 'r1', vmId: 'cvm1' }

async function open(store: MemoryObjectStore, clock: Clock = systemClock, blockBytes = BLOCK): Promise<BackupRepository> {
  const dataKey = await ensureDataKey(store, vault, REPOSITORY, signal)
  return new BackupRepository({ store, clock, bandwidth: createBandwidthLimit(null), blockBytes }, dataKey, REPOSITORY.id)
}

const order = (backupId: string, parentId: string | null, disk: ReturnType<typeof testDisk>): UploadRequest => ({
  backupId,
  parentId,
  sizeBytes: disk.content.length,
  extents: disk.changes(),
  lockDays: null,
})

/** A full backup `a` and its disk. */
async function withBackup(store = new MemoryObjectStore(systemClock)) {
  const disk = testDisk(5 * BLOCK - 1_000, UNIT)
  disk.write(100, randomBytes(2 * BLOCK))
  disk.write(3 * BLOCK, Buffer.alloc(500, 'customer data '))
  const repository = await open(store)
  const stored = await repository.upload(order('a', null, disk), signal)
  return { store, disk, repository, stored }
}

const flipBit = (store: MemoryObjectStore, key: string, at = -20): void => {
  const body = store.bodyOf(key)
  body[at < 0 ? body.length + at : at]! ^= 1
}

describe('verifying a bucket', () => {
  test('names what is missing or was replaced, and checks everything else', async () => {
    const { store, disk, repository, stored } = await withBackup()
    disk.write(BLOCK, randomBytes(UNIT))
    const expected = { id: 'a', vm_id: 'cvm1', checksum: stored.checksum }
    const verify = async (...more: (typeof expected)[]) => {
      const { backups, problems } = await verifyBucket(store, vault, [expected, ...more], signal)
      return [backups.map(({ backupId, problems: found }) => [backupId, ...found]), problems]
    }
    expect(await verify()).toEqual([[['a']], []])
    const gone = 'It cannot be read: its manifest or its data key is missing or damaged'
    expect(await verify({ ...expected, id: 'b' })).toEqual([[['a'], ['b', gone]], []])
    const b = await repository.upload(order('b', 'a', disk), signal)
    expect(await verify({ ...expected, id: 'b' })).toEqual([
      expect.arrayContaining([['a'], ['b', 'It is not the backup that was stored']]),
      [],
    ])
    // A damaged manifest, and a key that somebody else put there.
    await repository.upload(order('c', 'b', disk), signal)
    flipBit(
      store,
      store.puts.findLast((key) => key.includes('/manifests/'))!,
    )
    await store.put('keys/0', Buffer.from('nothing'), {})
    const [backups, problems] = await verify({ ...expected, id: 'b', checksum: b.checksum }, { ...expected, id: 'c' })
    expect(backups).toEqual(expect.arrayContaining([['a'], ['b'], ['c', gone]]))
    expect(problems).toEqual([expect.stringContaining('keys/0'), expect.stringContaining('/manifests/')])
  })
})

describe('a backup', () => {
  test('restores as the disk was, full and incremental', async () => {
    const { disk, repository } = await withBackup()
    const versions = [Buffer.from(disk.content)]
    for (const [parent, name] of ['ab', 'bc', 'cd'].map(([from, to]) => [from!, to!] as const)) {
      disk.write(BLOCK - 50, randomBytes(200))
      disk.zero(2 * BLOCK, 300)
      disk.grow(disk.content.length + 700)
      disk.write(disk.content.length - 10, randomBytes(10))
      await repository.upload(order(name, parent, disk), signal)
      versions.push(Buffer.from(disk.content))
    }
    for (const [i, id] of ['a', 'b', 'c', 'd'].entries())
      expect((await restored(await repository.read(id, signal))).equals(versions[i]!)).toBe(true)
  })

  test('any sequence of writes, backups and removals keeps every kept backup whole', async () => {
    const position = fc.nat({ max: 4 * BLOCK - 1 })
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), at: position, length: fc.integer({ min: 1, max: 700 }) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('zero' as const), at: position, length: fc.integer({ min: 1, max: 5_000 }) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('backup' as const), full: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat() }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const store = new MemoryObjectStore(systemClock)
        const repository = await open(store)
        const disk = testDisk(4 * BLOCK, UNIT)
        const kept = new Map<string, Buffer>()
        let last: string | null = null
        for (const [i, each] of steps.entries()) {
          if (each.kind === 'write') disk.write(each.at, randomBytes(Math.min(each.length, 4 * BLOCK - each.at)))
          else if (each.kind === 'zero') disk.zero(each.at, Math.min(each.length, 4 * BLOCK - each.at))
          else if (each.kind === 'backup') {
            const parent: string | null = each.full ? null : last
            if (parent === null) disk.write(0, disk.content) // everything counts as changed
            await repository.upload(order(`b${i}`, parent, disk), signal)
            kept.set((last = `b${i}`), Buffer.from(disk.content))
          } else if (kept.size > 0) {
            const id = [...kept.keys()][each.which % kept.size]!
            kept.delete(id)
            await repository.remove([id], signal)
            if (id === last) last = null
          }
        }
        for (const [id, content] of kept) {
          expect((await restored(await repository.read(id, signal))).equals(content)).toBe(true)
          expect((await repository.verify(id, signal)).problems).toEqual([])
        }
        await repository.remove([...kept.keys()], signal)
        expect(store.keys('data/')).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  test('stores nothing for zeros, and only changed bytes after the first', async () => {
    const { store, disk, repository } = await withBackup()
    expect(store.keys('/chunks/')).toHaveLength(4)
    disk.write(BLOCK, randomBytes(UNIT))
    disk.write(2 * BLOCK, Buffer.alloc(BLOCK / 2))
    const { addedBytes, storedBytes } = await repository.upload(order('b', 'a', disk), signal)
    expect(store.keys('/chunks/')).toHaveLength(5)
    expect(addedBytes).toBeGreaterThan(UNIT)
    expect(addedBytes).toBeLessThan(2 * UNIT)
    expect(storedBytes).toBeGreaterThan(BLOCK)
  })

  test('holds what no newer one needs: the newest has everything that it needs itself', async () => {
    const { disk, repository, stored: a } = await withBackup()
    disk.write(BLOCK, randomBytes(UNIT))
    const b = await repository.upload(order('b', 'a', disk), signal)
    disk.write(BLOCK, randomBytes(UNIT))
    const c = await repository.upload(order('c', 'b', disk), signal)
    expect((await repository.remove([], signal)).heldBytes).toEqual(
      new Map([
        ['a', 0],
        ['b', b.addedBytes],
        ['c', a.addedBytes + c.addedBytes],
      ]),
    )
    expect((await repository.remove(['a', 'b'], signal)).heldBytes).toEqual(new Map([['c', c.storedBytes]]))
  })

  test('merges a block that many backups changed, so that neither manifest nor restore grows', async () => {
    const { store, disk, repository } = await withBackup()
    const sizes: number[] = []
    const contents: Buffer[] = []
    for (let i = 0; i < 60; i++) {
      disk.write((i % 30) * 2 * UNIT, randomBytes(UNIT))
      await repository.upload(order(`i${i}`, i === 0 ? 'a' : `i${i - 1}`, disk), signal)
      const manifest = store.puts.findLast((key) => key.includes('/manifests/'))!
      sizes.push(store.bodyOf(manifest).length)
      contents.push(Buffer.from(disk.content))
    }
    expect(Math.max(...sizes.slice(30))).toBeLessThan(2 * Math.max(...sizes.slice(0, 10)))
    for (const i of [0, 7, 8, 31, 59]) expect((await restored(await repository.read(`i${i}`, signal))).equals(contents[i]!)).toBe(true)
  })

  test.each([
    [8, 'a small disk', 100],
    [2, 'a large one, whose manifest would be too long', 300_000],
  ])('has at most %i chunks in a block of %s', async (most, _, blocks) => {
    const repository = await open(new MemoryObjectStore(systemClock))
    const counts: number[] = []
    for (let i = 0; i < 12; i++) {
      async function* extents(): AsyncGenerator<Extent> {
        yield { offset: i * UNIT, bytes: randomBytes(UNIT) }
      }
      const parentId = i === 0 ? null : `i${i - 1}`
      await repository.upload({ backupId: `i${i}`, parentId, sizeBytes: blocks * BLOCK, extents: extents(), lockDays: null }, signal)
      counts.push((await repository.verify(`i${i}`, signal)).chunks)
    }
    expect(Math.max(...counts)).toBe(most)
  })

  test('holds few blocks in memory at a time', async () => {
    const store = new MemoryObjectStore(systemClock)
    const repository = await open(store)
    let [given, stored, most] = [0, 0, 0]
    store.before = async (call, key) => {
      if (call !== 'put' || !key.includes('/chunks/')) return
      await new Promise(setImmediate)
      stored++
    }
    async function* extents(): AsyncGenerator<Extent> {
      for (let i = 0; i < 200; i++) {
        most = Math.max(most, ++given - stored)
        yield { offset: i * BLOCK, bytes: randomBytes(BLOCK) }
      }
    }
    await repository.upload({ backupId: 'a', parentId: null, sizeBytes: 200 * BLOCK, extents: extents(), lockDays: null }, signal)
    expect(most).toBeLessThanOrEqual(8)
  })
})

describe('an interrupted upload', () => {
  test('is no backup, and its repetition sends only the rest', async () => {
    const store = new MemoryObjectStore(systemClock)
    const repository = await open(store)
    const content = randomBytes(20 * BLOCK)
    const request = (): UploadRequest => {
      const disk = testDisk(content.length, BLOCK)
      disk.write(0, content)
      return order('a', null, disk)
    }
    store.before = async (call) => {
      if (call === 'put' && store.keys('/chunks/').length >= 12) throw new BackupTargetError('unavailable', 'the connection was cut')
    }
    await expect(repository.upload(request(), signal)).rejects.toMatchObject({ kind: 'unavailable', retry: true })
    await expect(repository.read('a', signal)).rejects.toMatchObject({ kind: 'missing' })
    const before = store.keys('/chunks/').length
    expect(before).toBeGreaterThanOrEqual(12)
    expect(before).toBeLessThan(20)

    store.before = async () => {}
    store.puts.length = 0
    await repository.upload(request(), signal)
    expect(store.puts.filter((key) => key.includes('/chunks/'))).toHaveLength(20 - before)
    expect(store.keys('/uploads/')).toEqual([])
    expect((await restored(await repository.read('a', signal))).equals(content)).toBe(true)
  })

  test('that wrote its manifest is finished by its repetition, without reading the disk', async () => {
    const { store, disk, repository, stored } = await withBackup()
    await store.put(
      store.puts.find((key) => key.includes('/uploads/'))!,
      Buffer.from('token'),
      {},
    )
    const unread: AsyncIterable<Extent> = { [Symbol.asyncIterator]: () => expect.unreachable() }
    expect(await repository.upload({ ...order('a', null, disk), extents: unread }, signal)).toEqual(stored)
    expect(store.keys('/uploads/')).toEqual([])
  })

  test('leaves nothing once it is removed', async () => {
    const { store, disk, repository } = await withBackup()
    const before = store.keys()
    disk.write(0, randomBytes(3 * BLOCK))
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/manifests/')) throw new BackupTargetError('unavailable', 'gone')
    }
    await expect(repository.upload(order('b', 'a', disk), signal)).rejects.toThrow('gone')
    expect(store.keys().length).toBeGreaterThan(before.length)
    expect(await repository.remove(['b'], signal)).toMatchObject({ isPostponed: false })
    expect(store.keys()).toEqual(before)
  })

  test('fails when it was removed meanwhile', async () => {
    const { store, disk, repository } = await withBackup()
    disk.write(0, randomBytes(BLOCK))
    store.before = async (call, key) => {
      if (call !== 'put' || !key.includes('/chunks/')) return
      store.before = async () => {}
      await repository.remove(['b'], signal)
    }
    await expect(repository.upload(order('b', 'a', disk), signal)).rejects.toMatchObject({ kind: 'cancelled' })
    await expect(repository.read('b', signal)).rejects.toMatchObject({ kind: 'missing' })
  })

  test('fails when it was removed while it looks for the chunks of its parent', async () => {
    const { store, disk, repository } = await withBackup()
    disk.write(0, randomBytes(BLOCK))
    const removed = Promise.withResolvers<void>()
    store.before = async (call, key) => {
      if (call === 'list' && key.endsWith('/chunks/')) await removed.promise
    }
    const upload = repository.upload(order('b', 'a', disk), signal)
    upload.catch(() => {})
    await sleep(50) // everything else is done
    store.before = async () => {}
    await repository.remove(['b'], signal)
    removed.resolve()
    await expect(upload).rejects.toMatchObject({ kind: 'cancelled' })
    await expect(repository.read('b', signal)).rejects.toMatchObject({ kind: 'missing' })
  })

  test('leaves no mark behind its end when it cannot look for its manifest', async () => {
    const { store, disk, repository } = await withBackup()
    const before = store.keys()
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/uploads/')) await sleep(20)
      else if (call === 'list' && key.includes('/manifests/')) throw new BackupTargetError('refused', 'the keys were withdrawn')
    }
    await expect(repository.upload(order('b', 'a', disk), signal)).rejects.toMatchObject({ kind: 'refused' })
    store.before = async () => {}
    await repository.discard('b', signal)
    await sleep(30)
    expect(store.keys()).toEqual(before)
  })

  test('without its parent, or without a chunk of it, is refused', async () => {
    const { store, disk, repository } = await withBackup()
    await expect(repository.upload(order('c', 'never made', disk), signal)).rejects.toMatchObject({ kind: 'missing' })
    const [lost] = store.keys('/chunks/')
    await store.remove(lost!, 'null')
    disk.write(4 * BLOCK, randomBytes(UNIT))
    await expect(repository.upload(order('b', 'a', disk), signal)).rejects.toThrow(`The object ${lost} is missing`)
    await expect(repository.read('b', signal)).rejects.toMatchObject({ kind: 'missing' })
  })
})

describe('damage', () => {
  test('is found by restore and verification, which name the object', async () => {
    const { store, repository } = await withBackup()
    const [first, second] = store.keys('/chunks/')
    flipBit(store, first!)
    await store.remove(second!, 'null')
    const { extents, sizeBytes } = await repository.read('a', signal)
    await expect(restored({ extents, sizeBytes })).rejects.toMatchObject({ name: 'BackupTargetError', retry: false })
    const { problems } = await repository.verify('a', signal)
    expect(problems).toHaveLength(2)
    expect(problems.join('\n')).toContain(`${first} is damaged`)
    expect(problems.join('\n')).toContain(`${second} is missing`)
  })

  test('of a manifest makes the backup unreadable, and removals delete no chunk', async () => {
    const { store, disk, repository } = await withBackup()
    disk.write(0, randomBytes(UNIT))
    await repository.upload(order('b', 'a', disk), signal)
    const chunks = store.keys('/chunks/')
    const manifest = store.puts.find((key) => key.includes('/manifests/'))!
    flipBit(store, manifest)
    await expect(repository.read('a', signal)).rejects.toThrow(`${manifest} is damaged`)
    await expect(repository.remove(['b'], signal)).rejects.toThrow(`${manifest} is damaged`)
    expect(store.keys('/chunks/')).toEqual(chunks)
  })

  test('is what an object in the place of another is', async () => {
    const { store, repository } = await withBackup()
    const [first, second] = store.keys('/chunks/')
    await store.put(first!, store.bodyOf(second!), {})
    expect((await repository.verify('a', signal)).problems).toHaveLength(1)
  })

  test('is other content under the same name, although the same key sealed it', async () => {
    const { store, repository } = await withBackup()
    const dataKey = await openDataKey(store, vault, REPOSITORY.id, signal)
    const [chunk] = store.keys('/chunks/').toSorted((a, b) => store.bodyOf(b).length - store.bodyOf(a).length)
    await store.put(chunk!, await dataKey.seal(chunk!, randomBytes(BLOCK / 2)), {})
    expect((await repository.verify('a', signal)).problems).toEqual([expect.stringContaining(`${chunk} does not have the checksum`)])
  })
})

describe('removal', () => {
  test('of a parent keeps what its children need', async () => {
    const { store, disk, repository } = await withBackup()
    disk.write(0, randomBytes(UNIT))
    await repository.upload(order('b', 'a', disk), signal)
    const { freedBytes } = await repository.remove(['a'], signal)
    expect(freedBytes).toBe(0)
    expect((await restored(await repository.read('b', signal))).equals(disk.content)).toBe(true)
    disk.write(0, randomBytes(5 * BLOCK - 1_000))
    await repository.upload(order('c', 'b', disk), signal)
    await repository.remove(['b'], signal)
    expect(store.keys('/chunks/')).toHaveLength(5)
    expect((await restored(await repository.read('c', signal))).equals(disk.content)).toBe(true)
  })

  test('waits for uploads that may need the chunks', async () => {
    const { store, disk, repository } = await withBackup()
    disk.write(0, randomBytes(UNIT))
    store.before = async (call, key) => {
      if (call !== 'put' || !key.includes('/chunks/')) return
      store.before = async () => {}
      const kept = { lockedChunks: store.keys('/chunks/').length, heldBytes: new Map() }
      expect(await repository.remove(['a'], signal)).toMatchObject({ isPostponed: true, freedBytes: 0, ...kept })
    }
    await repository.upload(order('b', 'a', disk), signal)
    expect((await restored(await repository.read('b', signal))).equals(disk.content)).toBe(true)
    await repository.remove(['b'], signal)
    expect(store.keys('data/')).toEqual([])
  })

  test('leaves chunks of an upload that begins while it runs', async () => {
    const { store, repository } = await withBackup()
    const disk = testDisk(3 * BLOCK, UNIT)
    disk.write(0, randomBytes(3 * BLOCK))
    const [stored, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let upload: Promise<unknown> | undefined
    store.before = async (call, key) => {
      if (call === 'list' && key.endsWith('/manifests/') && !upload) {
        upload = repository.upload(order('late', null, disk), signal)
        await stored.promise
      } else if (call === 'put' && key.includes('/manifests/')) {
        stored.resolve()
        await removed.promise
      }
    }
    await repository.remove(['a'], signal)
    removed.resolve()
    await upload
    expect((await restored(await repository.read('late', signal))).equals(disk.content)).toBe(true)
  })

  test('in any interleaving with uploads leaves no backup without its chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const { store, disk, repository } = await withBackup()
        disk.write(0, randomBytes(UNIT))
        await repository.upload(order('b', 'a', disk), signal)
        disk.write(BLOCK, randomBytes(UNIT))
        store.before = (call, key) => scheduler.schedule(Promise.resolve(), `${call} ${key}`)
        const other = testDisk(2 * BLOCK, UNIT)
        other.write(0, randomBytes(2 * BLOCK))
        const work = Promise.allSettled([
          repository.upload(order('c', 'b', disk), signal),
          repository.upload(order('full', null, other), signal),
          repository.remove(['a'], signal).then(() => repository.remove(['b'], signal)),
        ])
        await scheduler.waitFor(work)
        store.before = async () => {}
        const [child, full, removal] = await work
        expect([full.status, removal.status]).toEqual(['fulfilled', 'fulfilled'])
        const contentOf = (id: string) => repository.read(id, signal).then(restored, ({ kind }: BackupTargetError) => kind)
        expect(await contentOf('full')).toEqual(other.content)
        expect(await contentOf('c')).toEqual(child.status === 'fulfilled' ? disk.content : 'missing')
        await repository.remove(['c', 'full'], signal)
        expect(store.keys('data/')).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})

describe('object lock', () => {
  const lockedDisk = async () => {
    const clock = manualClock()
    const store = new MemoryObjectStore(clock, true)
    const repository = await open(store, clock)
    const disk = testDisk(4 * BLOCK, UNIT)
    disk.write(0, randomBytes(2 * BLOCK))
    await repository.upload({ ...order('a', null, disk), lockDays: 10 }, signal)
    return { clock, store, repository, disk }
  }

  test('keeps a backup whole until its date', async () => {
    const { clock, store, repository, disk } = await lockedDisk()
    clock.advance('9d')
    expect(await repository.remove(['a'], signal)).toMatchObject({ lockedIds: ['a'], freedBytes: 0, lockedChunks: 0 })
    expect((await restored(await repository.read('a', signal))).equals(disk.content)).toBe(true)
    clock.advance('2d')
    expect(await repository.remove(['a'], signal)).toMatchObject({ lockedIds: [], freedBytes: 0, lockedChunks: 2 })
    clock.advance('10d')
    expect(await repository.remove(['a'], signal)).toMatchObject({ lockedIds: [], lockedChunks: 0 })
    expect(store.keys('data/')).toEqual([])
  })

  test('of everything that a later backup needs is extended with it', async () => {
    const { clock, store, repository, disk } = await lockedDisk()
    clock.advance('15d')
    disk.write(0, randomBytes(UNIT))
    await repository.upload({ ...order('b', 'a', disk), lockDays: 10 }, signal)
    clock.advance('9d')
    const everything = [...store.objects].filter(([key]) => /keys|chunks/.test(key)).flatMap(([, versions]) => versions)
    expect(everything.length).toBeGreaterThan(3)
    for (const { lockedUntil } of everything) expect(lockedUntil!.getTime()).toBeGreaterThan(clock.now().getTime())
  })

  test('with versions survives whoever deletes or overwrites everything', async () => {
    const { store, repository, disk } = await lockedDisk()
    for (const key of store.keys()) await (key.length % 2 === 0 ? store.remove(key, null) : store.put(key, Buffer.from('ransom'), {}))
    for (const key of store.keys('/manifests/')) await store.remove(key, null)
    const dataKey = await openDataKey(store, vault, REPOSITORY.id, signal)
    expect(dataKey.vmId).toBe(REPOSITORY.vmId)
    const again = await open(store)
    expect((await restored(await again.read('a', signal))).equals(disk.content)).toBe(true)
    await repository.remove([], signal)
    expect((await again.verify('a', signal)).problems).toEqual([])
  })
})

describe('without the master key', () => {
  test('objects and their names say nothing', async () => {
    const store = new MemoryObjectStore(systemClock)
    await withBackup(store)
    const everything = Buffer.concat([...store.objects].flatMap(([key, [newest]]) => [Buffer.from(key), newest!.body!])).toString('latin1')
    for (const text of ['customer', REPOSITORY.vmId, 'chunks":', 'sha256', 'backupId']) expect(everything).not.toContain(text)
  })

  test('no key opens, and a rekey changes that one object only', async () => {
    const { store, disk } = await withBackup()
    const other = vaultFrom(randomBytes(32))
    await expect(openDataKey(store, other, REPOSITORY.id, signal)).rejects.toMatchObject({ kind: 'wrong_key' })
    store.puts.length = 0
    for await (const id of listRepositoryIds(store, signal))
      expect(await resealDataKey(store, { old: vault, new: other }, id, signal)).toBe(true)
    expect(store.puts).toEqual([`keys/${REPOSITORY.id}`])
    expect(await resealDataKey(store, { old: vault, new: other }, REPOSITORY.id, signal)).toBe(false)
    await expect(openDataKey(store, vault, REPOSITORY.id, signal)).rejects.toMatchObject({ kind: 'wrong_key' })
    const dataKey = await openDataKey(store, other, REPOSITORY.id, signal)
    const repository = new BackupRepository({ store, clock: systemClock, bandwidth: createBandwidthLimit(null) }, dataKey, REPOSITORY.id)
    expect((await restored(await repository.read('a', signal))).equals(disk.content)).toBe(true)
    await expect(resealDataKey(store, { old: vault, new: vaultFrom(randomBytes(32)) }, REPOSITORY.id, signal)).rejects.toMatchObject({
      kind: 'wrong_key',
    })
  })

  test('one key is made by concurrent calls', async () => {
    const store = new MemoryObjectStore(systemClock)
    const keys = await Promise.all(Array.from({ length: 5 }, () => ensureDataKey(store, vault, REPOSITORY, signal)))
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1)
  })

  test('a lost control plane lists what there is', async () => {
    const { disk, repository } = await withBackup()
    disk.write(0, randomBytes(UNIT))
    await repository.upload(order('b', 'a', disk), signal)
    const found = await Array.fromAsync(repository.list(signal))
    expect(new Map(found.map(({ backupId, parentId }) => [backupId, parentId]))).toEqual(
      new Map([
        ['a', null],
        ['b', 'a'],
      ]),
    )
  })
})
