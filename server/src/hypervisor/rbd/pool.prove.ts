// Against a real Ceph cluster, without guests: what QEMU would write is written by qemu-io.
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { env, missingCommands, run } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { eventually } from '../../../../libvirt/test/eventually.ts'
import { missingForCeph, startCeph, type CephCluster } from '../../../test/ceph.ts'
import { scratchFolder, type ScratchFolder } from '../../../test/scratch-folder.ts'
import { nativeArch } from '../../kernel/arch.ts'
import { newId } from '../../kernel/ids.ts'
import { expectKind } from '../conformance/fixture.ts'
import type { VolumeSpec } from '../driver.ts'
import type { Image } from '../image-source.ts'
import type { RbdBackend } from './access.ts'
import { openRbdPool, type RbdPool } from './pool.ts'

const MIB = 2 ** 20
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

describeIf(missingForCeph() ?? missingCommands('qemu-img', 'qemu-io'))('a pool of Ceph RBD', () => {
  let cluster: CephCluster
  let folder: ScratchFolder
  let backend: RbdBackend
  let pool: RbdPool
  /** As in another process. */
  let other: RbdPool
  let image: Image
  let content: Buffer

  beforeAll(async () => {
    ;[cluster, folder] = await Promise.all([startCeph(), scratchFolder()])
    backend = await cluster.addPool()
    pool = openRbdPool(backend, join(folder.path, 'one'))
    other = openRbdPool(backend, join(folder.path, 'other'))
    content = Buffer.concat([randomBytes(5 * MIB), Buffer.alloc(11 * MIB)])
    image = await qcow2Of(folder.path, content)
  }, 120_000)
  afterAll(async () => {
    await cluster?.close()
    await folder?.remove()
  })

  const open = (): Promise<Image> => Promise.resolve(image)
  const names = async (): Promise<string[]> => JSON.parse(await cluster.rbd('ls', backend.pool, '--format=json')) as string[]
  const trash = async (): Promise<unknown> => JSON.parse(await cluster.rbd('trash', 'ls', backend.pool, '--format=json'))
  const sizeOf = async (name: string): Promise<number> =>
    (JSON.parse(await cluster.rbd('info', `${backend.pool}/${name}`, '--format=json')) as { size: number }).size
  const bytesOf = async (name: string): Promise<Buffer> => {
    const path = join(folder.path, newId())
    await cluster.rbd('export', '--no-progress', `${backend.pool}/${name}`, path)
    return readFile(path)
  }
  const target = (name: string): string => {
    const { pool: within, user } = backend
    const options = { driver: 'rbd', pool: within, image: name, user, conf: join(folder.path, 'one', `${backend.id}.conf`) }
    return ['driver=raw', ...Object.entries(options).map(([key, value]) => `file.${key}=${value}`)].join(',')
  }
  const write = (name: string, letter: string): Promise<string> =>
    run('qemu-io', '--image-opts', target(name), '-c', `write -P ${letter.charCodeAt(0)} 0 1M`)
  const firstOf = async (name: string): Promise<string> => String.fromCharCode((await bytesOf(name))[0]!)
  /** Of an image that is too large to be read at once. */
  const holds = async (name: string, letter: string): Promise<boolean> =>
    !(await run('qemu-io', '-r', '--image-opts', target(name), '-c', `read -P ${letter.charCodeAt(0)} 0 1M`)).includes(
      'verification failed',
    )
  const created = async (): Promise<string> => {
    const vmId = newId()
    await pool.ensureDisk({ vmId, generation: 1 }, await pool.ensureTemplate('tiny', open, soon()), 20 * MIB, soon())
    return vmId
  }

  test('a template is imported once, also by two processes, and holds the bytes of the image', async () => {
    const made = await Promise.all([pool, other].map((each) => each.ensureTemplate('tiny', open, soon())))
    expect(made).toEqual(Array.from({ length: 2 }, () => ({ spec: 'template-tiny@base', bytes: content.length })))
    expect(await names()).toEqual(['template-tiny'])
    expect(await trash()).toEqual([])
    expect(sha256(await bytesOf('template-tiny@base'))).toBe(sha256(content))
    const again = pool.ensureTemplate('tiny', () => Promise.reject(new Error('it is there already')), soon())
    expect(await again).toEqual(made[0])
  })

  test('an image with another checksum is not imported', async () => {
    const damaged = { ...image, checksum: `sha256:${'0'.repeat(64)}` }
    await expectKind(
      pool.ensureTemplate('damaged', () => Promise.resolve(damaged), soon()),
      'transient',
    )
    expect(await names()).not.toContain('template-damaged')
  })

  test('a disk is a clone of its template, of the size of the plan, and created once', async () => {
    const disk = { vmId: newId(), generation: 1 }
    const parent = await pool.ensureTemplate('tiny', open, soon())
    await cluster.rbd('create', '--size=1', `${backend.pool}/draft-vm-${disk.vmId}-1-0123abcd`) // of a process that died
    await Promise.all([pool, other].map((each) => each.ensureDisk(disk, parent, 20 * MIB, soon())))
    expect(await pool.findDisk(disk, soon())).toEqual({ bytes: 20 * MIB })
    expect((await names()).filter((name) => name.includes(disk.vmId))).toEqual([`vm-${disk.vmId}-1`])
    expect(sha256((await bytesOf(`vm-${disk.vmId}-1`)).subarray(0, content.length))).toBe(sha256(content))
    await write(`vm-${disk.vmId}-1`, 'a')
    await other.ensureDisk(disk, parent, 20 * MIB, soon())
    expect(await firstOf(`vm-${disk.vmId}-1`)).toBe('a')
    await expectKind(pool.ensureNoTemplate('tiny', soon()), 'in_use')
  })

  test('a disk grows and never shrinks', async () => {
    const disk = { vmId: await created(), generation: 1 }
    expect(await pool.growDisk(disk, 32 * MIB, soon())).toBe(32 * MIB)
    expect(await pool.growDisk(disk, 24 * MIB, soon())).toBe(32 * MIB)
    expect(await pool.findDisk(disk, soon())).toEqual({ bytes: 32 * MIB })
    await expectKind(pool.growDisk({ ...disk, generation: 2 }, MIB, soon()), 'not_found')
  })

  test('snapshots outlive their disk, are restored repeatedly, and go one by one', async () => {
    const vmId = await created()
    const ids = [newId(), newId()] as const
    for (const [position, snapshotId] of ids.entries()) {
      await write(`vm-${vmId}-1`, 'ab'[position]!)
      await Promise.all([pool, other].map((each) => each.ensureSnapshot({ vmId, generation: 1 }, snapshotId, soon())))
    }
    await write(`vm-${vmId}-1`, 'c')
    const taken = await Promise.all(ids.map(async (id) => sha256(await bytesOf(`vm-${vmId}-1@snapshot-${id}`))))
    const restoredAs = async (generation: number): Promise<string> =>
      sha256((await bytesOf(`vm-${vmId}-${generation}`)).subarray(0, 20 * MIB))
    await pool.growDisk({ vmId, generation: 1 }, 32 * MIB, soon())
    const [first, second] = [(await pool.findSnapshot(vmId, ids[0], soon()))!, (await pool.findSnapshot(vmId, ids[1], soon()))!]
    const sizes = [await pool.snapshotBytes(first, soon()), await pool.snapshotBytes(second, soon())]
    expect(sizes[0]).toBeGreaterThanOrEqual(5 * MIB)
    expect(sizes[1]).toBe(sizes[0]) // not only what changed between the two
    await pool.ensureDisk({ vmId, generation: 2 }, first, 32 * MIB, soon())
    expect(await restoredAs(2)).toBe(taken[0])
    await pool.ensureNoDisk({ vmId, generation: 1 }, soon())
    await pool.ensureNoDisk({ vmId, generation: 1 }, soon())
    expect(await pool.findDisk({ vmId, generation: 1 }, soon())).toBeUndefined()
    expect(await sizeOf(`kept-${vmId}-1`)).toBe(0) // without what was written after the last snapshot
    expect(await firstOf(`vm-${vmId}-2`)).toBe('a')
    await pool.ensureDisk({ vmId, generation: 3 }, (await pool.findSnapshot(vmId, ids[1], soon()))!, 32 * MIB, soon())
    expect(await firstOf(`vm-${vmId}-3`)).toBe('b')
    expect(await restoredAs(3)).toBe(taken[1])
    expect(summaryOf(await pool.listVolumes(new Set([vmId]), soon()))).toEqual(
      [`disk 2`, `disk 3`, ...ids.map((id) => `snapshot ${id}`)].toSorted(),
    )
    for (const snapshotId of [ids[0], ids[0], ids[1]]) await pool.ensureNoSnapshot(vmId, snapshotId, soon())
    expect(await pool.findSnapshot(vmId, ids[0], soon())).toBeUndefined()
    expect([await restoredAs(2), await restoredAs(3)]).toEqual(taken)
    // Nothing of what the snapshots were taken of is left, which nobody pays for.
    expect((await names()).filter((name) => name.includes(vmId))).toEqual([`vm-${vmId}-2`, `vm-${vmId}-3`])
    expect(await trash()).toEqual([])
    expect(summaryOf(await pool.listVolumes(new Set([vmId]), soon()))).toEqual(['disk 2', 'disk 3'])
    await pool.ensurePurged(vmId, soon())
    expect((await names()).filter((name) => name.includes(vmId))).toEqual([])
    expect(await trash()).toEqual([])
  })

  test('a volume is restored from its snapshots, and another one made from them depends on neither', async () => {
    const [volume, copy] = [0, 1].map(() => ({ volumeId: newId(), generation: 0, storageId: backend.id, sizeGiB: 1 })) as [
      VolumeSpec,
      VolumeSpec,
    ]
    const { volumeId } = volume
    const [first, second] = [newId(), newId()]
    const imageOf = ({ generation }: VolumeSpec): string => (generation === 0 ? `volume-${volumeId}` : `volume-${volumeId}-${generation}`)
    const take = (on: RbdPool, of: VolumeSpec, snapshotId: string) => on.ensureVolumeSnapshot(of, { snapshotId, vmId: null }, soon())
    await pool.ensureVolume(volume, null, soon())
    await write(imageOf(volume), 'a')
    const made = await Promise.all([pool, other].map((each) => take(each, volume, first)))
    expect(made[0]).toEqual(made[1])
    expect(made[0]!.sizeBytes).toBeGreaterThanOrEqual(MIB)
    await write(imageOf(volume), 'b')
    let current = volume
    for (let round = 1; round <= 2; round++) {
      const restored = { ...volume, generation: round, sizeGiB: 2 }
      await Promise.all([pool, other].map((each) => each.ensureVolume(restored, { volumeId, snapshotId: first }, soon())))
      for (const each of [pool, other]) await each.ensureNoVolume(current, soon())
      expect(await holds(imageOf(restored), 'a')).toBe(true)
      await write(imageOf(restored), 'c')
      current = restored
    }
    await take(pool, current, second)
    await pool.ensureVolume(copy, { volumeId, snapshotId: second }, soon())
    for (const snapshotId of [first, first, second]) await pool.ensureNoVolumeSnapshot(current, { snapshotId, vmId: null }, soon())
    expect(await holds(imageOf(current), 'c')).toBe(true)
    expect((await names()).filter((name) => name.includes(volumeId))).toEqual([imageOf(current)])
    expect(await trash()).toEqual([])
    const qemu = spawn('qemu-io', ['--image-opts', target(imageOf(current))], { env, stdio: ['pipe', 'ignore', 'ignore'] })
    await eventually('the watcher', async () => (await cluster.rbd('status', `${backend.pool}/${imageOf(current)}`)).includes('watcher='))
    await expectKind(pool.ensureNoVolume(current, soon()), 'in_use')
    qemu.stdin.end()
    await eventually('no watcher', async () => !(await pool.isOpen(volumeId, soon())))
    await pool.ensurePurged(volumeId, soon())
    expect((await names()).filter((name) => name.includes(volumeId))).toEqual([])
    expect(await holds(`volume-${copy.volumeId}`, 'c')).toBe(true)
    await pool.ensurePurged(copy.volumeId, soon())
    expect(await trash()).toEqual([])
    await expectKind(pool.ensureVolume(copy, { volumeId, snapshotId: first }, soon()), 'not_found')
  })

  test('a purge leaves nothing of the VM, and what is not ours alone', async () => {
    const vmId = await created()
    await pool.ensureSnapshot({ vmId, generation: 1 }, newId(), soon())
    await pool.ensureDisk({ vmId, generation: 2 }, await pool.ensureTemplate('tiny', open, soon()), 20 * MIB, soon())
    await pool.ensureNoDisk({ vmId, generation: 1 }, soon())
    const foreign = [`vm-${vmId}`, `copy-of-vm-${vmId}-1`]
    for (const name of [...foreign, `draft-vm-${vmId}-7-0123abcd`]) await cluster.rbd('create', '--size=1', `${backend.pool}/${name}`)
    await pool.ensurePurged(vmId, soon())
    await other.ensurePurged(vmId, soon())
    expect((await names()).filter((name) => name.includes(vmId)).toSorted()).toEqual(foreign.toSorted())
  })

  test('a template that no disk is built on is removed', async () => {
    await pool.ensureTemplate('brief', open, soon())
    await pool.ensureNoTemplate('brief', soon())
    await pool.ensureNoTemplate('brief', soon())
    expect((await names()).filter((name) => name.includes('brief'))).toEqual([])
  })

  test('an image that a QEMU has open is removed once it is closed', async () => {
    const vmId = await created()
    expect([await pool.isOpen(vmId, soon()), (await pool.listOwnerIds(soon())).includes(vmId)]).toEqual([false, true])
    const qemu = spawn('qemu-io', ['--image-opts', target(`vm-${vmId}-1`)], { env, stdio: ['pipe', 'ignore', 'ignore'] })
    await eventually('the watcher', async () => (await cluster.rbd('status', `${backend.pool}/vm-${vmId}-1`)).includes('watcher='))
    expect(await pool.isOpen(vmId, soon())).toBe(true)
    await expectKind(pool.ensurePurged(vmId, AbortSignal.timeout(3_000)), 'aborted')
    expect(await pool.listOwnerIds(soon())).toContain(vmId) // as a draft
    qemu.stdin.end()
    await pool.ensurePurged(vmId, soon())
    expect(await pool.listOwnerIds(soon())).not.toContain(vmId)
    expect((await names()).filter((name) => name.includes(vmId))).toEqual([])
  })

  test('what a killed process left half made beside the complete image is removed', async () => {
    await pool.ensureTemplate('tiny', open, soon())
    const draft = 'draft-template-tiny-0123abcd'
    await cluster.rbd('create', '--size=1', `${backend.pool}/${draft}`)
    const qemu = spawn('qemu-io', ['--image-opts', target(draft)], { env, stdio: ['pipe', 'ignore', 'ignore'] })
    await eventually('the watcher', async () => (await cluster.rbd('status', `${backend.pool}/${draft}`)).includes('watcher='))
    await pool.ensureNoDrafts(soon())
    expect(await names()).toContain(draft) // it may be alive
    qemu.kill('SIGKILL')
    const isGone = async (): Promise<boolean> => {
      await pool.ensureNoDrafts(soon())
      return !(await names()).includes(draft)
    }
    await eventually('the end of the watch', isGone, 60_000)
    expect(await names()).toContain('template-tiny')
  })

  test('the key is in a file that only its owner reads', async () => {
    const keyring = join(folder.path, 'one', `${backend.id}.keyring`)
    expect(await readFile(keyring, 'utf8')).toContain(backend.key)
    expect((await stat(keyring)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder.path, 'one'))).mode & 0o777).toBe(0o700)
  })

  test('the space of the pool is what guests can write', async () => {
    const { capacityBytes, availableBytes } = await pool.space(soon())
    expect(availableBytes).toBeGreaterThan(MIB)
    expect(capacityBytes).toBeGreaterThan(availableBytes)
  })

  test('a pool, a user or a cluster that does not answer is an error of its kind', async () => {
    const changed = (changes: Partial<RbdBackend>): RbdPool => openRbdPool({ ...backend, ...changes }, join(folder.path, newId()))
    const disk = { vmId: newId(), generation: 1 }
    const [foreign, silent] = [await cluster.addPool(), { monitors: ['127.0.0.1:1'] }]
    await Promise.all([
      expectKind(changed({ pool: 'nowhere' }).ensurePurged(disk.vmId, soon()), 'not_found'),
      expectKind(changed({ pool: foreign.pool }).ensurePurged(disk.vmId, soon()), 'permanent'),
      expectKind(changed({ key: foreign.key }).findDisk(disk, soon()), 'transient'), // the monitors do not say what is wrong
      expectKind(changed(silent).findDisk(disk, soon()), 'transient'),
      expectKind(changed(silent).findDisk(disk, AbortSignal.timeout(500)), 'aborted'),
    ])
    await expectKind(pool.findDisk(disk, AbortSignal.abort()), 'aborted')
  })
})

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const summaryOf = (volumes: { kind: string; id: string; generation: number | null }[]): string[] =>
  volumes.map(({ kind, id, generation }) => `${kind} ${kind === 'disk' ? generation : id}`).toSorted()

async function qcow2Of(folder: string, content: Buffer): Promise<Image> {
  const [raw, path] = [join(folder, 'image.raw'), join(folder, 'image.qcow2')]
  await writeFile(raw, content)
  await run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, path)
  const bytes = await readFile(path)
  const shared = { path, format: 'qcow2', arch: nativeArch() } as const
  return { ...shared, virtualBytes: content.length, fileBytes: bytes.length, checksum: `sha256:${sha256(bytes)}` }
}
