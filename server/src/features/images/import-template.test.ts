// Images of OS templates that operators import in the dashboard.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { receiver } from '../../../test/receiver.ts'
import { sql } from '../../kernel/database/db.ts'

const missing = (): string | undefined => {
  try {
    execFileSync('qemu-img', ['--version'])
    return undefined
  } catch {
    return 'qemu-img (qemu-utils)'
  }
}
const hexOf = (bytes: Buffer, algorithm = 'sha256'): string => createHash(algorithm).update(bytes).digest('hex')
const diskOf = (text: string): Buffer => {
  const disk = Buffer.alloc(2 * 1024 ** 2, text)
  disk.writeUInt16BE(0x55aa, 510)
  return disk
}

describeIf(missing())('an import of the image of an OS template', async () => {
  const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' } })
  const operator = await givenBrowser(app, { isOperator: true })
  const server = await receiver()
  const [disk, other] = [diskOf('first '), diskOf('other ')]
  const files = () => readdirSync(join(app.config.imagesDir, 'fetched')).filter((name) => name.endsWith('.qcow2'))
  const templateOf = async (slug: string) =>
    (await operator.get('/operator/templates')).body.data.find((each: { slug: string }) => each.slug === slug)
  const imported = async (bytes: Buffer, body: object) => {
    server.answers((response) => response.writeHead(200).end(bytes))
    const answer = await operator.post('/operator/template-imports', { url: server.url, ...body })
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    expect(answer.body.data).toMatchObject({ status: 'PENDING', error: null, completedAt: null })
    await app.settle()
    return (await operator.get('/operator/template-imports')).body.data.find(({ id }: { id: string }) => id === answer.body.data.id)
  }

  test('adds a template, from which VMs are made', async () => {
    const facts = { name: 'Alpine', version: '3.22', distribution: 'alpine', minDisk: 2, minRam: 256, defaultUser: 'alpine' }
    const run = await imported(disk, {
      slug: 'alpine-3-22',
      checksum: hexOf(disk),
      arch: 'x86_64',
      ...facts,
      hasAgent: true,
      firmware: 'uefi',
      tpm: true,
    })
    expect(run).toMatchObject({ slug: 'alpine-3-22', url: server.url, status: 'COMPLETED', error: null, completedAt: expect.any(String) })
    expect(await templateOf('alpine-3-22')).toMatchObject({
      state: 'available',
      name: 'Alpine',
      version: '3.22',
      distribution: 'alpine',
      origin: server.url,
      virtualBytes: String(disk.length),
      canImport: true,
    })
    const row = await app.db.one(
      sql`select min_disk_gib, min_ram_mib, default_user, has_agent, firmware, tpm from os_templates where slug = 'alpine-3-22'`,
    )
    expect(row).toEqual({ min_disk_gib: 2, min_ram_mib: 256, default_user: 'alpine', has_agent: true, firmware: 'uefi', tpm: true })
    const customer = await app.given.customer({ credit: '100.00' })
    await app.given.vm(customer, { osTemplateId: (await templateOf('alpine-3-22')).id })
  })

  test('replaces the image of a template, and removes the one that nothing needs', async () => {
    await imported(disk, { slug: 'replaced', name: 'Replaced', checksum: `sha512:${hexOf(disk, 'sha512')}` })
    await imported(other, { slug: 'replaced', checksum: hexOf(other) })
    const [first, second] = [(await templateOf('alpine-3-22')).checksum, (await templateOf('replaced')).checksum]
    expect(files().toSorted()).toEqual([first, second].map((each: string) => `${each.slice(7)}.qcow2`).toSorted())
    await imported(disk, { slug: 'replaced', checksum: hexOf(disk) })
    expect(files()).toEqual([`${first.slice(7)}.qcow2`])
  })

  test('takes the checksum from the file of the distributor', async () => {
    server.answers((response, { path }) => response.writeHead(200).end(path === '/hook' ? `${hexOf(disk)}  disk.img\n` : disk))
    const [url, checksumsUrl] = [server.url.replace('/hook', '/disk.img'), server.url]
    await operator.post('/operator/template-imports', { slug: 'published', name: 'Published', url, checksumsUrl })
    await app.settle()
    expect(await templateOf('published')).toMatchObject({ state: 'available', origin: url })
  })

  test('says why it failed, and changes nothing', async () => {
    expect(await imported(other, { slug: 'failing', name: 'Failing', checksum: hexOf(disk) })).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/^The file has sha256 .* instead of .* it is damaged, modified or a newer version$/),
    })
    const text = Buffer.from('<html>not found</html>')
    expect(await imported(text, { slug: 'failing', name: 'Failing', checksum: hexOf(text) })).toMatchObject({ status: 'FAILED' })
    expect(await templateOf('failing')).toBeUndefined()
  })

  test('is refused where it cannot be done', async () => {
    const checksum = hexOf(disk)
    const refusal = async (body: object) => {
      const { status, body: answer } = await operator.post('/operator/template-imports', { url: server.url, checksum, ...body })
      return `${status} ${answer.error ?? ''}`
    }
    expect(await refusal({ slug: 'x' })).toMatch(/^400 .*not in the catalog/)
    expect(await refusal({ slug: 'x', name: 'X', arch: 'aarch64', firmware: 'secure-boot' })).toMatch(/^400 .*only guests of x86_64/)
    expect(await refusal({ slug: 'x', name: 'X', checksum: undefined })).toMatch(/^400 .*no checksum of this image is known/)
    expect(await refusal({ slug: 'x', name: 'X', url: undefined })).toMatch(/^400 .*no URL/)
    expect(await refusal({ slug: 'alpine-3-22', tpm: false })).toMatch(/^400 .*tpm is only for a new one/)
    expect(await refusal({ slug: 'x', name: 'X', url: 'ftp://example.com/x' })).toMatch(/^422 The URL may not be called/)
    expect(await refusal({ slug: 'twice', name: 'X' })).toBe('202 ')
    expect(await refusal({ slug: 'twice', name: 'X' })).toMatch(/^409 /)
    await app.settle()
  })

  test('is for operators who gave their password lately', async () => {
    const body = { slug: 'y', name: 'Y', url: server.url, checksum: hexOf(disk) }
    const user = await givenBrowser(app)
    expect((await user.post('/operator/template-imports', body)).status).toBe(403)
    expect((await user.get('/operator/template-imports')).status).toBe(403)
    app.clock.advance('16m')
    const { status, body: answer } = await operator.post('/operator/template-imports', body)
    expect([status, answer.error]).toEqual([403, expect.stringContaining('password again')])
  })
})
