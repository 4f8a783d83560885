// Images from URLs: what is fetched, and which files are refused.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { testApp } from '../../../test/harness.ts'
import { receiver } from '../../../test/receiver.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { importOwn } from '../../images/import-own.ts'
import { ImageRefusedError, openOwnImages } from '../../images/own-images.ts'
import { sleep } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'

const missing = (): string | undefined => {
  try {
    for (const program of ['qemu-img', 'xz']) execFileSync(program, ['--version'])
    return undefined
  } catch {
    return 'qemu-img and xz (qemu-utils, xz-utils)'
  }
}

const MIB = 1024 ** 2
const xz = (input: Buffer, ...args: string[]): Buffer => execFileSync('xz', ['--stdout', ...args], { input, maxBuffer: 64 * MIB })
const sumOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

describeIf(missing())('an image from a URL', async () => {
  const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' } })
  await app.db.run(sql`update catalog_values set value = 1000 where name = 'quota.images'`)
  const customer = await app.given.customer({ credit: '100.00' })
  const server = await receiver()
  const folder = mkdtempSync(join(tmpdir(), 'berth-import-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const raw = Buffer.alloc(4 * MIB)
  raw.writeUInt16BE(0x55aa, 510)
  raw.write('hello', 2 * MIB)
  const qemuImg = (...args: string[]) => execFileSync('qemu-img', args, { cwd: folder })
  const file = (name: string): Buffer => readFileSync(join(folder, name))
  writeFileSync(join(folder, 'disk.raw'), raw)
  qemuImg('convert', '-f', 'raw', '-O', 'qcow2', 'disk.raw', 'disk.qcow2')
  const qcow2 = file('disk.qcow2')

  const imported = async (bytes: Buffer, more: object = {}) => {
    server.answers((response) => response.writeHead(200).end(bytes))
    return ended({ url: server.url, checksum: sumOf(bytes), ...more })
  }
  const ended = async (body: object) => {
    const answer = await customer.post('/images', { name: 'x', ...body })
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    await app.settle()
    return (await customer.get(`/images/${answer.body.data.image.id}`)).body.data
  }
  const contentOf = (id: string): Buffer => {
    const path = join(app.config.imagesDir, 'accounts', `${id}.qcow2`)
    qemuImg('convert', '-f', 'qcow2', '-O', 'raw', path, 'back.raw')
    return file('back.raw')
  }

  test('is kept as a clean qcow2 with the same content, and VMs are made from it', async () => {
    qemuImg('convert', '-f', 'raw', '-O', 'qcow2', '-c', 'disk.raw', 'compressed.qcow2')
    for (const bytes of [raw, qcow2, file('compressed.qcow2'), gzipSync(raw), zstdCompressSync(qcow2), xz(raw), xz(qcow2)]) {
      const image = await imported(bytes, { defaultUser: 'me' })
      expect(image).toMatchObject({ status: 'AVAILABLE', disk: 1, defaultUser: 'me', source: { type: 'URL', url: server.url, vmId: null } })
      expect(contentOf(image.id).equals(raw)).toBe(true)
    }
    const [image] = (await customer.get('/images')).body.data
    const { id } = await app.given.vm(customer, { osTemplateId: image.id })
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', readiness: 'booting' })
    const actions = (await customer.get('/actions')).body.data as { action: string; imageId: string | null; vmId: string }[]
    expect(actions.find(({ imageId }) => imageId === image.id)).toMatchObject({ action: 'IMAGE_CREATE', vmId: '' })
  })

  test('an ISO image is kept as it is, and is no template', async () => {
    const iso = Buffer.alloc(MIB)
    iso.write('\x01CD001', 16 * 2048, 'latin1')
    const image = await imported(iso, { kind: 'ISO' })
    expect(image).toMatchObject({ status: 'AVAILABLE', kind: 'ISO', disk: null, checksum: sumOf(iso), size: String(MIB) })
    const answer = await customer.post('/vms', { ...(await app.given.vmInput()), osTemplateId: image.id })
    expect([answer.status, answer.body.error]).toEqual([422, expect.stringMatching(/^x is an ISO image/)])
    expect((await customer.get('/images?kind=ISO')).body.data).toHaveLength(1)
    expect(await imported(raw, { kind: 'ISO' })).toMatchObject({ status: 'FAILED', error: 'The file is not an ISO 9660 image' })
    qcow2.copy(iso, 0, 0, 512) // its first sectors are free for anything
    expect(await imported(iso, { kind: 'ISO' })).toMatchObject({
      status: 'FAILED',
      error: 'The file is a disk image, not an ISO 9660 image',
    })
  })

  test('is the only one of its account that is being imported', async () => {
    server.answers((response) => void response.writeHead(200).write('a part'))
    const body = { name: 'x', url: server.url, checksum: sumOf(raw) }
    const answers = await Promise.all([1, 2, 3].map(() => customer.post('/images', body)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body.error).toMatch(/^Another image of this account is being imported/)
    const { id } = answers.find(({ status }) => status === 202)!.body.data.image
    expect((await customer.delete(`/images/${id}`)).status).toBe(200)
    await app.settle()
    expect(await imported(raw)).toMatchObject({ status: 'AVAILABLE' })
  })

  const patched = (at: number, value: bigint, bytes = 8): Buffer => {
    const copy = Buffer.from(qcow2)
    if (bytes === 8) copy.writeBigUInt64BE(value, at)
    else copy.writeUInt32BE(Number(value), at)
    return copy
  }

  /** Names 1,000 snapshots, which qemu-img lists with each byte of their names as six characters. */
  const talkative = (): Buffer => {
    const entry = Buffer.alloc(40 + 16 + 127 + 255 + 2, 1)
    entry.fill(0, 0, 56)
    entry.writeBigUInt64BE(qcow2.readBigUInt64BE(40))
    entry.writeUInt32BE(1, 8)
    entry.writeUInt16BE(127, 12)
    entry.writeUInt16BE(255, 14)
    entry.writeUInt32BE(16, 36)
    entry.writeBigUInt64BE(BigInt(raw.length), 48)
    const start = Math.ceil(qcow2.length / 65_536) * 65_536
    const head = Buffer.concat([qcow2, Buffer.alloc(start - qcow2.length)])
    head.writeUInt32BE(1_000, 60)
    head.writeBigUInt64BE(BigInt(start), 64)
    return Buffer.concat([head, ...Array.from({ length: 1_000 }, () => entry)])
  }

  test('hostile files are refused, with the reason, and nothing is left or paid', async () => {
    const secret = join(folder, 'secret')
    writeFileSync(secret, 'secret of the worker')
    qemuImg('create', '-f', 'qcow2', '-F', 'raw', '-b', secret, 'backed.qcow2', '4M')
    qemuImg('create', '-f', 'qcow2', '-o', `data_file=${secret}.data,data_file_raw=on`, 'external.qcow2', '4M')
    const corrupt = Buffer.from(qcow2)
    corrupt.fill(0xff, Number(qcow2.readBigUInt64BE(40)), Number(qcow2.readBigUInt64BE(40)) + 8)
    const cases: [Buffer, RegExp][] = [
      [file('backed.qcow2'), /only the changes to another file/],
      [file('external.qcow2'), /keeps its data in another file/],
      [patched(32, 1n, 4), /encrypted/],
      [patched(24, 2n ** 50n), /may have at most/],
      [patched(24, 10n), /has only 10 bytes/],
      [patched(72, 2n ** 20n), /unknown features/],
      [corrupt, /damaged|Invalid|failed/],
      [qcow2.subarray(0, qcow2.length / 2), /cut off|damaged|failed/],
      [talkative(), /says too much about the file/],
      [Buffer.from('#!/bin/sh\n'), /neither a qcow2 image nor a raw disk/],
      [Buffer.concat([gzipSync(raw).subarray(0, 2_000), Buffer.alloc(100)]), /compressed, and damaged/],
      [Buffer.concat([Buffer.from('fd377a585a00', 'hex'), Buffer.alloc(100)]), /compressed, and damaged/],
      [xz(raw).subarray(0, -20), /compressed, and damaged/],
      [xz(raw, '--lzma2=preset=0,dict=272MiB'), /compressed, and damaged/], // needs more memory than it gets
      [Buffer.from(JSON.stringify({ driver: 'qcow2', file: '/etc/shadow' })), /neither a qcow2 image/],
    ]
    const before = (await customer.get('/wallet')).body.data.balance
    for (const [bytes, reason] of cases) {
      const image = await imported(bytes)
      expect(image).toMatchObject({ status: 'FAILED', error: expect.stringMatching(reason), checksum: null, billing: null })
      expect(image.error).not.toContain(folder)
    }
    expect((await customer.get('/wallet')).body.data.balance).toBe(before)
    expect(await imported(raw, { checksum: `sha256:${'0'.repeat(64)}` })).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/^The file has the checksum sha256:/),
    })
  })

  test('a file that is too large is refused, packed or not', async () => {
    const images = openOwnImages(join(folder, 'own'))
    const write = (bytes: Buffer) =>
      images.write('c1', 'DISK', async (work) => {
        const received = await work.save('received', Readable.from([bytes]), MIB)
        return importOwn(work, received, { kind: 'DISK', checksum: sumOf(bytes), maxBytes: 16 * MIB }, AbortSignal.timeout(10_000))
      })
    const tooLarge = 'It has more than 0.0 GiB, as much as it may have'
    await expect(write(raw)).rejects.toThrow(tooLarge)
    await expect(write(gzipSync(Buffer.alloc(64 * MIB)))).rejects.toThrow(tooLarge)
    await expect(write(zstdCompressSync(Buffer.alloc(64 * MIB)))).rejects.toThrow(tooLarge)
    await expect(write(xz(Buffer.alloc(64 * MIB)))).rejects.toThrow(tooLarge)
    const sparse = Buffer.alloc(64 * MIB, 'x')
    sparse.writeUInt16BE(0x55aa, 510)
    writeFileSync(join(folder, 'sparse.raw'), sparse)
    qemuImg('convert', '-f', 'raw', '-O', 'qcow2', '-c', 'sparse.raw', 'bomb.qcow2')
    await expect(write(file('bomb.qcow2'))).rejects.toBeInstanceOf(ImageRefusedError)
    expect(await images.list(new Date(Date.now() + 1e6))).toEqual(['c1'])
    await images.remove('c1')
    expect(await images.list(new Date(Date.now() + 1e6))).toEqual([])

    const { used } = await app.db.one<{ used: bigint }>(
      sql`select used from account_quotas where account_id = ${customer.accountId} and name = 'image_storage_gib'`,
    )
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'image_storage_gib', used))
    const full = await customer.post('/images', { name: 'x', url: server.url, checksum: sumOf(raw) })
    expect(full.headers['x-error-code']).toBe('quota_exceeded')
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'image_storage_gib', null))
  })

  test('never takes what its disk has in reserve, however much it has unpacked', async ({ skip }) => {
    skip(process.getuid!() !== 0, 'only root can mount a small disk')
    const small = join(folder, 'small')
    execFileSync('mkdir', [small])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', small])
    try {
      const full = Buffer.alloc(96 * MIB, 'x')
      full.writeUInt16BE(0x55aa, 510)
      writeFileSync(join(folder, 'full.raw'), full)
      qemuImg('convert', '-f', 'raw', '-O', 'qcow2', '-c', 'full.raw', 'small.qcow2')
      const bytes = file('small.qcow2')
      let [most, isOver] = [0, false]
      const watch = (async () => {
        while (!isOver) {
          const { bavail, blocks } = await statfs(small)
          most = Math.max(most, 1 - bavail / blocks)
          await sleep(5)
        }
      })()
      const order = { kind: 'DISK', checksum: sumOf(bytes), maxBytes: 1024 * MIB } as const
      const writing = openOwnImages(small).write('c1', 'DISK', async (work) =>
        importOwn(work, await work.save('received', Readable.from([bytes]), MIB), order, AbortSignal.timeout(60_000)),
      )
      await expect(writing).rejects.not.toBeInstanceOf(ImageRefusedError)
      isOver = true
      await watch
      expect(most).toBeGreaterThan(0.5)
      expect(most).toBeLessThan(0.97)
    } finally {
      execFileSync('umount', [small])
    }
  })

  test('a URL without control characters is wanted', async () => {
    const answer = await customer.post('/images', { name: 'x', url: `${server.url}/\u001b[2J`, checksum: sumOf(raw) })
    expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'validation_failed'])
  })

  test('redirects are followed a few times; a server that answers nothing useful is said to', async () => {
    server.answers((response, { path }) => {
      if (path === '/there') response.writeHead(200).end(qcow2)
      else response.writeHead(302, { location: '/there' }).end()
    })
    expect(await ended({ url: server.url, checksum: sumOf(qcow2) })).toMatchObject({ status: 'AVAILABLE' })
    server.answers((response) => response.writeHead(302, { location: '/again' }).end())
    expect((await ended({ url: server.url, checksum: sumOf(qcow2) })).error).toMatch(/redirects more than 5 times/)
    server.answers((response) => response.writeHead(404).end('no'))
    expect((await ended({ url: server.url, checksum: sumOf(qcow2) })).error).toBe('The file could not be fetched: it answered 404')
    server.answers((response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end())
    expect((await ended({ url: server.url, checksum: sumOf(qcow2) })).error).toMatch(/what it redirects to may not be called/)
  })

  test('counts what failed imports received: beyond the limit of a day none is begun', async () => {
    const impatient = await app.given.customer({ credit: '100.00' })
    const order = { name: 'x', url: server.url, checksum: sumOf(Buffer.from('another file')) }
    const fail = async () => {
      server.answers((response) => response.writeHead(200).end(qcow2))
      const { status, body } = await impatient.post('/images', order)
      expect([status, body.error]).toEqual([202, undefined])
      await app.settle()
      const { id } = body.data.image
      expect((await impatient.get(`/images/${id}`)).body.data).toMatchObject({
        status: 'FAILED',
        error: expect.stringContaining('checksum'),
      })
      expect((await impatient.delete(`/images/${id}`)).status).toBe(200)
    }
    const received = () =>
      app.db.many<{ bytes: bigint }>(sql`select bytes from failed_imports where account_id = ${impatient.accountId} order by failed_at`)
    await fail()
    expect(await received()).toEqual([{ bytes: BigInt(qcow2.length) }])
    app.clock.advance('1h')
    await fail()
    await app.db.run(sql`update failed_imports set bytes = ${50n * 1024n ** 3n} where account_id = ${impatient.accountId}`)
    const refused = await impatient.post('/images', order)
    expect([refused.status, refused.headers['x-error-code'], refused.headers['retry-after']]).toEqual([
      422,
      'quota_exceeded',
      String(23 * 3600),
    ])
    expect(refused.body.error).toContain('imports that failed have received and unpacked 100.0 GiB in 24 hours, and 100 GiB are allowed')
    expect((await impatient.get('/images')).body.data.filter(({ status }: { status: string }) => status === 'CREATING')).toEqual([])
    await app.db.tx((tx) => setQuotaLimit(tx, impatient.accountId, 'failed_import_gib_per_day', 101n))
    await fail()
    await app.db.tx((tx) => setQuotaLimit(tx, impatient.accountId, 'failed_import_gib_per_day', null))
    expect((await impatient.post('/images', order)).status).toBe(422)
    app.clock.advance('23h')
    await fail()
    expect(await received()).toHaveLength(3)
  })

  test('ends between two tries when it has received as much as may fail in a day', async () => {
    const unlucky = await app.given.customer({ credit: '100.00' })
    await app.db.tx((tx) => setQuotaLimit(tx, unlucky.accountId, 'failed_import_gib_per_day', 1n))
    server.answers((response) => {
      response.writeHead(200, { 'content-length': String(2 * qcow2.length) }).write(qcow2, () => response.destroy())
    })
    const { image } = (await unlucky.post('/images', { name: 'x', url: server.url, checksum: sumOf(qcow2) })).body.data
    await app.db.run(sql`update images set received_bytes = ${1024 ** 3 - 1} where id = ${image.id}`)
    await app.settle()
    expect((await unlucky.get(`/images/${image.id}`)).body.data).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('have received and unpacked 1.0 GiB'),
    })
    const [{ bytes }] = (await app.db.many<{ bytes: bigint }>(sql`select bytes from failed_imports where image_id = ${image.id}`)) as [
      { bytes: bigint },
    ]
    expect(bytes).toBeGreaterThanOrEqual(BigInt(1024 ** 3))
  })

  test('counts what failed imports unpacked, of whatever kind', async () => {
    const zeros = Buffer.alloc(8 * MIB)
    for (const bytes of [gzipSync(zeros), zstdCompressSync(zeros), xz(zeros)]) {
      const image = await imported(bytes)
      expect(image.error).toMatch(/neither a qcow2 image nor a raw disk/)
      const failed = await app.db.many<{ bytes: bigint }>(sql`select bytes from failed_imports where image_id = ${image.id}`)
      expect(failed).toEqual([{ bytes: BigInt(bytes.length + zeros.length) }])
    }
  })

  test('that is there counts nothing', async () => {
    const { id } = await imported(qcow2)
    expect(await app.db.many(sql`select 1 from failed_imports where image_id = ${id}`)).toEqual([])
  })
})
