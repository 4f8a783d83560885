// Both directions against QEMU's own tools.
import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, readFile, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingCommands, run } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { scratchFolder, type ScratchFolder } from '../../../test/scratch-folder.ts'
import { stackLayers, type DiskContent, type Extent } from '../extent.ts'
import { openQcow2Layer, type Qcow2Layer, type ReadFile } from './read-layer.ts'
import { writeQcow2Image, type Qcow2Overlay } from './write-image.ts'

const KIB = 1024
const MIB = 1024 * KIB

describeIf(missingCommands('qemu-img', 'qemu-io'))('qcow2', () => {
  let folder: ScratchFolder
  const path = (name: string): string => join(folder.path, name)
  beforeAll(async () => void (folder = await scratchFolder()))
  afterAll(() => folder.remove())

  const qemuIo = (file: string, ...commands: string[]): Promise<string> =>
    run('qemu-io', '-f', 'qcow2', ...commands.flatMap((each) => ['-c', each]), path(file))

  const content = async (file: string): Promise<Buffer> => {
    await run('qemu-img', 'convert', '-O', 'raw', path(file), path(`${file}.raw`))
    return readFile(path(`${file}.raw`))
  }

  async function readLayers<T>(files: string[], use: (layers: Qcow2Layer[]) => Promise<T>): Promise<T> {
    const handles = await Promise.all(files.map((file) => open(path(file))))
    const readOf =
      (handle: FileHandle): ReadFile =>
      async (offset, length) => {
        const bytes = Buffer.alloc(length)
        const { bytesRead } = await handle.read(bytes, 0, length, offset)
        return bytes.subarray(0, bytesRead)
      }
    try {
      return await use(await Promise.all(handles.map((handle) => openQcow2Layer(readOf(handle)))))
    } finally {
      for (const handle of handles) await handle.close()
    }
  }

  const layerOf = (file: string) =>
    readLayers([file], async ([layer]) => ({ sizeBytes: layer!.sizeBytes, extents: await Array.fromAsync(layer!.extents()) }))

  const apply = (disk: Buffer, extents: Extent[]): Buffer => {
    for (const extent of extents) {
      if ('bytes' in extent) extent.bytes.copy(disk, extent.offset)
      else disk.fill(0, extent.offset, extent.offset + extent.zeros)
    }
    return disk
  }

  const lengthOf = (extent: Extent): number => ('bytes' in extent ? extent.bytes.length : extent.zeros)

  describe('a layer', () => {
    test('of a full disk is its content', async () => {
      const raw = Buffer.alloc(700 * MIB + 512)
      randomBytes(3 * MIB).copy(raw, 5 * MIB + 100)
      randomBytes(MIB).copy(raw, 600 * MIB)
      randomBytes(700).copy(raw, raw.length - 700)
      await writeFile(path('raw'), raw)
      await run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', path('raw'), path('full'))
      const { sizeBytes, extents } = await layerOf('full')
      expect(sizeBytes).toBe(raw.length)
      expect(extents.reduce((sum, extent) => sum + lengthOf(extent), 0)).toBeLessThan(6 * MIB)
      expect(apply(Buffer.alloc(sizeBytes), extents).equals(raw)).toBe(true)
    })

    test('on another is what changed, zeros too', async () => {
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', path('base'), '64M')
      await qemuIo('base', 'write -P 1 0 10M', 'write -P 2 40M 5M')
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', 'base', '-F', 'qcow2', path('layer'), '80M')
      await qemuIo('layer', 'write -P 3 1M 64k', 'write -P 4 9M 3M', 'write -z 41M 1M', 'write -P 5 79M 1M')
      const base = await layerOf('base')
      const layer = await layerOf('layer')
      expect(layer.sizeBytes).toBe(80 * MIB)
      expect(layer.extents.filter((extent) => 'zeros' in extent)).toEqual([{ offset: 41 * MIB, zeros: MIB }])
      expect(layer.extents.reduce((sum, extent) => sum + lengthOf(extent), 0)).toBe(5 * MIB + 64 * KIB)
      const disk = apply(apply(Buffer.alloc(80 * MIB), base.extents), layer.extents)
      expect(disk.equals(await content('layer'))).toBe(true)
    })

    test('is read in order, in parts of at most 4 MiB', async () => {
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', path('parts'), '64M')
      await qemuIo('parts', 'write -P 7 30M 20M', 'write -P 6 0 9M')
      const { extents } = await layerOf('parts')
      let position = 0
      for (const extent of extents) {
        expect(extent.offset).toBeGreaterThanOrEqual(position)
        expect(lengthOf(extent)).toBeLessThanOrEqual(4 * MIB)
        position = extent.offset + lengthOf(extent)
      }
    })

    test.each([
      ['compressed clusters', ['-c'], 'compressed clusters'],
      ['subclusters', ['-o', 'extended_l2=on'], 'unknown features'],
      ['another format', ['-O', 'raw'], 'not a qcow2 image'],
    ])('of %s is refused', async (_name, options, reason) => {
      await writeFile(path('plain'), Buffer.alloc(MIB, 'text'))
      await run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', ...options, path('plain'), path('refused'))
      await expect(layerOf('refused')).rejects.toThrow(reason)
    })

    test('whose table does not cover its size is refused', async () => {
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', path('lies'), '64M')
      const file = await readFile(path('lies'))
      file.writeBigUInt64BE(BigInt(64 * 1024 ** 4), 24)
      await writeFile(path('lies'), file)
      await expect(layerOf('lies')).rejects.toThrow('too small a cluster table')
    })
  })

  describe('an image', () => {
    async function write(name: string, disk: DiskContent | Qcow2Overlay): Promise<void> {
      await pipeline(Readable.from(writeQcow2Image(disk)), createWriteStream(path(name)))
    }
    const diskOf = (sizeBytes: number, extents: { offset: number; bytes: Buffer }[]): DiskContent => ({
      sizeBytes,
      allocated: extents.map(({ offset, bytes }) => ({ offset, length: bytes.length })),
      extents: Readable.from(extents),
    })

    test.each([
      ['nothing', 10 * MIB, []],
      [
        'neighbours, gaps and odd borders',
        700 * MIB + 512,
        [
          [0, 10],
          [10, 70_000],
          [200_000, 5],
          [200_010, 3],
          [5 * MIB - 1, 2],
          [512 * MIB - 3, 6],
          [700 * MIB, 512],
        ],
      ],
      [
        'many clusters',
        3_000 * MIB,
        [
          [MIB, 130 * MIB],
          [2_900 * MIB, 3 * MIB],
        ],
      ],
    ] as [string, number, [number, number][]][])('of %s is sound, and the disk', async (_name, sizeBytes, ranges) => {
      const extents = ranges.map(([offset, length]) => ({ offset, bytes: randomBytes(length) }))
      await write('image', diskOf(sizeBytes, extents))
      const {
        'check-errors': errors,
        leaks = 0,
        corruptions = 0,
      } = JSON.parse(await run('qemu-img', 'check', '--output=json', '-f', 'qcow2', path('image'))) as Record<string, number>
      expect({ errors, leaks, corruptions }).toEqual({ errors: 0, leaks: 0, corruptions: 0 })
      const handle = await open(path('expected'), 'w')
      await handle.truncate(sizeBytes)
      for (const { offset, bytes } of extents) await handle.write(bytes, 0, bytes.length, offset)
      await handle.close()
      expect(await run('qemu-img', 'compare', '-F', 'raw', '-f', 'qcow2', path('image'), path('expected'))).toContain('identical')
      expect(extents.length === 0 || (await layerOf('image')).extents.length > 0).toBe(true)
    })

    test('of layers on each other is the disk that they make', async () => {
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', path('lower'), '64M')
      await qemuIo('lower', 'write -P 1 0 10M', 'write -P 2 40M 5M', 'write -P 9 63M 1M')
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', 'lower', '-F', 'qcow2', path('middle'), '80M')
      await qemuIo('middle', 'write -P 3 1M 64k', 'write -P 4 9M 3M', 'write -z 41M 1M', 'write -P 5 79M 1M')
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', 'middle', '-F', 'qcow2', path('upper'), '80M')
      await qemuIo('upper', 'write -P 6 39M 4M', 'write -z 0 1M', 'write -P 7 11M 64k', 'write -P 8 20M 64k')
      await readLayers(['lower', 'middle', 'upper'], async (layers) => {
        await write('stacked', await stackLayers(layers.map((layer) => ({ ...layer, extents: layer.extents() }))))
      })
      expect(await run('qemu-img', 'compare', '-f', 'qcow2', '-F', 'qcow2', path('stacked'), path('upper'))).toContain('identical')
      expect(await run('qemu-img', 'check', '-f', 'qcow2', path('stacked'))).toContain('No errors were found')
    })

    test('as a layer is what changed, with zeros that hide what is below', async () => {
      await run('qemu-img', 'create', '-q', '-f', 'qcow2', path('below'), '64M')
      await qemuIo('below', 'write -P 1 0 30M')
      const extents = [
        { offset: 4 * MIB, bytes: randomBytes(4 * MIB) },
        { offset: 66 * MIB, bytes: randomBytes(2 * MIB) },
      ]
      const zeroed = [{ offset: 20 * MIB, length: 4 * MIB }]
      await write('layer', { ...diskOf(68 * MIB, extents), backing: 'below', zeroed })
      expect(await run('qemu-img', 'check', '-f', 'qcow2', path('layer'))).toContain('No errors were found')
      const handle = await open(path('merged'), 'w')
      await handle.truncate(68 * MIB)
      await handle.write(Buffer.alloc(30 * MIB, 1), 0, 30 * MIB, 0)
      await handle.write(Buffer.alloc(4 * MIB), 0, 4 * MIB, 20 * MIB)
      for (const { offset, bytes } of extents) await handle.write(bytes, 0, bytes.length, offset)
      await handle.close()
      expect(await run('qemu-img', 'compare', '-F', 'raw', '-f', 'qcow2', path('layer'), path('merged'))).toContain('identical')
      await readLayers(['below', 'layer'], async (layers) => {
        await write('restacked', await stackLayers(layers.map((layer) => ({ ...layer, extents: layer.extents() }))))
      })
      expect(await run('qemu-img', 'compare', '-F', 'raw', '-f', 'qcow2', path('restacked'), path('merged'))).toContain('identical')
      const part = diskOf(68 * MIB, [{ offset: 10, bytes: randomBytes(5) }])
      await expect(write('part', { ...part, backing: 'below', zeroed: [] })).rejects.toThrow('a part of a cluster')
    })

    test('refuses content that was not announced', async () => {
      const disk = diskOf(10 * MIB, [{ offset: 5 * MIB, bytes: randomBytes(100) }])
      await expect(write('short', { ...disk, allocated: [] })).rejects.toThrow('more content than was announced')
      const other = diskOf(10 * MIB, [{ offset: 5 * MIB, bytes: randomBytes(100) }])
      await expect(write('other', { ...other, allocated: [{ offset: 6 * MIB, length: 100 }] })).rejects.toThrow('was not announced')
    })
  })
})
