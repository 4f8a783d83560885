// Imports files created by qemu-img; hostile ones are patched by hand.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { copyFile, mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { httpsServer } from '../../test/https-server.ts'
import { systemClock } from '../kernel/clock.ts'
import { sha256 } from '../kernel/crypto.ts'
import { parseChecksum } from './checksum.ts'
import { importImage } from './build-or-import.ts'
import { openImageStore, type ImageStore } from './store.ts'

let folder: string
let store: ImageStore
const at = (name: string): string => join(folder, name)
const qemuImg = (...args: string[]): void => void execFileSync('qemu-img', args, { stdio: 'pipe' })
const bring = (name: string, checksum: string | null = null) => bringFrom({ file: at(name) }, checksum)
const bringFrom = (from: { file: string } | { url: string }, checksum: string | null) => {
  const options = { arch: 'aarch64', progress: () => {}, signal: AbortSignal.timeout(60_000) } as const
  return importImage(store, from, checksum === null ? null : parseChecksum(checksum), options)
}

/** A copy of the valid image with some header bytes overwritten. */
async function changed(name: string, offset: number, hex: string): Promise<void> {
  await copyFile(at('good.qcow2'), at(name))
  const file = await open(at(name), 'r+')
  await file.write(Buffer.from(hex, 'hex'), 0, hex.length / 2, offset)
  await file.close()
}

describe('an imported image', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-images-'))
    store = openImageStore(at('store'), systemClock)
    const disk = Buffer.alloc(3 * 1024 ** 2, 'content ')
    disk.writeUInt16BE(0x55aa, 510)
    await writeFile(at('disk.raw'), disk)
    qemuImg('convert', '-f', 'raw', '-O', 'qcow2', '-c', at('disk.raw'), at('good.qcow2'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('is stored by its checksum, uncompressed, from any format', async () => {
    const image = await bring('good.qcow2')
    expect(image).toMatchObject({ format: 'qcow2', arch: 'aarch64', virtualBytes: 3 * 1024 ** 2 })
    expect(image.checksum).toBe(`sha256:${sha256(await readFile(image.path)).toString('hex')}`)
    expect(image.sourceChecksum).toBe(`sha256:${sha256(await readFile(at('good.qcow2'))).toString('hex')}`)
    expect((await bring('disk.raw')).checksum).toBe(image.checksum)
    qemuImg('compare', '-f', 'raw', '-F', 'qcow2', at('disk.raw'), image.path)
    expect(await store.open({ id: 'c1', slug: 'x', checksum: image.checksum, arch: 'aarch64', hasAgent: false })).toMatchObject({
      path: image.path,
      fileBytes: image.fileBytes,
    })
  })

  test('must match the given checksum', async () => {
    const right = sha256(await readFile(at('good.qcow2'))).toString('hex')
    await expect(bring('good.qcow2', right)).resolves.toMatchObject({ sourceChecksum: `sha256:${right}` })
    await expect(bring('good.qcow2', 'ab'.repeat(32))).rejects.toThrow(/^The file has sha256 .* instead of abab/)
  })

  test('rejects a backing file and an external data file', async () => {
    await writeFile(at('secret'), Buffer.alloc(1024 ** 2, 'secret'))
    qemuImg('create', '-f', 'qcow2', '-b', at('secret'), '-F', 'raw', at('backed.qcow2'))
    await expect(bring('backed.qcow2')).rejects.toThrow('backing file')
    qemuImg('create', '-f', 'qcow2', '-o', `data_file=${at('outside')},data_file_raw=on`, at('outer.qcow2'), '2M')
    await expect(bring('outer.qcow2')).rejects.toThrow('external data file')
  })

  test('rejects impossible sizes and truncated files', async () => {
    qemuImg('create', '-f', 'qcow2', at('giant.qcow2'), '100T')
    await expect(bring('giant.qcow2')).rejects.toThrow('a template may have at most 524288')
    await changed('giant-liar.qcow2', 24, '7fffffffffffffff')
    await expect(bring('giant-liar.qcow2')).rejects.toThrow('a template may have at most')
    qemuImg('convert', '-f', 'raw', '-O', 'qcow2', at('disk.raw'), at('cut.qcow2'))
    await truncate(at('cut.qcow2'), 1024 ** 2)
    await expect(bring('cut.qcow2')).rejects.toThrow(/cut off|damaged/)
    await truncate(at('cut.qcow2'), 30)
    await expect(bring('cut.qcow2')).rejects.toThrow('not a qcow2 image')
  })

  test('rejects archives, missing files and encrypted images', async () => {
    await writeFile(at('archive.xz'), Buffer.concat([Buffer.from('fd377a585a00', 'hex'), Buffer.alloc(4096)]))
    await expect(bring('archive.xz')).rejects.toThrow('unpack it first')
    await expect(bring('nothing-there')).rejects.toThrow('cannot be read')
    await changed('locked.qcow2', 32, '00000002')
    await expect(bring('locked.qcow2')).rejects.toThrow('The image is encrypted')
  })

  test('leaves no files behind when it is rejected', async () => {
    expect((await readdir(at('store'))).filter((name) => !/^[0-9a-f]{64}\.qcow2$/.test(name))).toEqual([])
  })

  test('is fetched over https at every hop, and never in part', async () => {
    const plain = createServer((_request, response) => void createReadStream(at('good.qcow2')).pipe(response)).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const plainUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
    const server = await httpsServer((request, response) => {
      const redirects: Record<string, string> = {
        '/moved': '/good',
        '/down': `${plainUrl}/good`,
        '/around': '/around',
        '/nowhere': 'https://',
      }
      const location = redirects[request.url!]
      if (location) return void response.writeHead(302, { location }).end('moved')
      if (request.url === '/half') response.setHeader('content-length', 10_000_000)
      if (request.url === '/half') return void response.write('x', () => response.destroy())
      if (request.url === '/missing') return void response.writeHead(404).end()
      createReadStream(at('good.qcow2')).pipe(response)
    })
    const right = sha256(await readFile(at('good.qcow2'))).toString('hex')
    const from = (path: string) => bringFrom({ url: `${server.url}${path}` }, right)
    try {
      await expect(from('/good')).resolves.toMatchObject({ sourceChecksum: `sha256:${right}` })
      await expect(from('/moved')).resolves.toMatchObject({ sourceChecksum: `sha256:${right}` })
      await expect(from('/down')).rejects.toThrow(/by https only, and https:.*\/down redirects to http:/)
      await expect(bringFrom({ url: `${plainUrl}/good` }, right)).rejects.toThrow('by https only, not by http:')
      await expect(from('/around')).rejects.toThrow('redirects more than 10 times')
      await expect(from('/nowhere')).rejects.toThrow('which is no URL')
      await expect(from('/half')).rejects.toThrow('The connection ended after')
      await expect(from('/missing')).rejects.toThrow('answers 404')
      await expect(bringFrom({ url: 'ftp://127.0.0.1/good' }, right)).rejects.toThrow('by https only')
      await expect(bringFrom({ url: 'https://127.0.0.1:1/good' }, right)).rejects.toThrow('cannot be reached')
    } finally {
      plain.closeAllConnections()
      plain.close()
      await server.close()
    }
    await expect(from('/good')).rejects.toThrow('cannot be reached')
  })
})

test('a store names the command for a missing image', async () => {
  const empty = openImageStore(join(tmpdir(), 'berth-no-such-folder'), systemClock)
  const template = { id: 'c1', slug: 'debian-13', arch: 'aarch64', hasAgent: false } as const
  await expect(empty.open({ ...template, checksum: '' })).rejects.toThrow('npx berthd template build debian-13 (or import)')
  await expect(empty.open({ ...template, checksum: `sha256:${'ab'.repeat(32)}` })).rejects.toThrow('is neither in')
})
