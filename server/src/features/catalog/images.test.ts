import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql, type Tx } from '../../kernel/database/db.ts'
import { getTemplate, publishImage, withdrawTemplate, type NewImage } from './service.ts'

const GIB = 1024 ** 3
const imageOf = (letter: string, change: Partial<NewImage> = {}): NewImage => ({
  checksum: `sha256:${letter.repeat(64)}`,
  fileBytes: 1_000,
  virtualBytes: GIB,
  arch: 'x86_64',
  origin: 'built here',
  ...change,
})

describe('the image of a template', async () => {
  const app = await testApp()
  const now = app.clock.now()
  const customer = await app.given.customer({ credit: '1000.00' })
  const publish = (slug: string, image: NewImage) => app.db.tx(async (tx) => publishImage(tx, now, await getTemplate(tx, slug), image))
  const withdraw = (slug: string) => app.db.tx(async (tx) => withdrawTemplate(tx, now, await getTemplate(tx, slug)))
  const shown = async (slug: string) => (await customer.get(`/os-templates/${slug}`)).body.data

  /** Simulates an installation with real hosts, which boot from images; the transaction is rolled back. */
  async function withRealHosts<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const undone = new Error('undone')
    let result: T | undefined
    await app.db
      .tx(async (tx) => {
        await tx.run(sql`update hosts set driver = 'libvirt'`)
        result = await work(tx)
        throw undone
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error
      })
    return result as T
  }

  test('is required on real hosts and not on simulated ones', async () => {
    expect(await shown('debian-13')).toMatchObject({ available: true, sizeBytes: '0', checksum: '' })
    const row = await withRealHosts((tx) => getTemplate(tx, 'debian-13'))
    expect(row).toMatchObject({ available: false, lacks_image: true })
  })

  test('makes its template available with size, checksum and a minimum disk size', async () => {
    await publish('rocky-9', imageOf('a', { virtualBytes: 11.5 * GIB }))
    expect(await shown('rocky-9')).toMatchObject({ available: true, sizeBytes: '1000', checksum: imageOf('a').checksum, minDisk: 12 })
    expect(await withRealHosts((tx) => getTemplate(tx, 'rocky-9'))).toMatchObject({ available: true, lacks_image: false })
  })

  test('gets a new template id when replaced, and is removed when unused', async () => {
    const before = await shown('rocky-9')
    expect(await publish('rocky-9', imageOf('b'))).toBe(imageOf('a').checksum)
    const after = await shown('rocky-9')
    expect(after).toMatchObject({ checksum: imageOf('b').checksum, name: before.name })
    expect(after.id).not.toBe(before.id)
    expect(await publish('rocky-9', imageOf('b'))).toBeNull()
    expect((await shown('rocky-9')).id).toBe(after.id)
  })

  test('is kept under another slug while VMs use it', async () => {
    await publish('debian-12', imageOf('c'))
    const old = await shown('debian-12')
    const vm = await app.given.vm(customer)
    await expect(withdraw('debian-12')).rejects.toThrow('OS template debian-12 is used by 1 VM')
    expect(await publish('debian-12', imageOf('d'))).toBeNull()
    expect(await shown('debian-12-cccccccc')).toMatchObject({ id: old.id, available: false, checksum: imageOf('c').checksum })
    expect((await customer.get(`/vms/${vm.id}`)).body.data.osTemplate.slug).toBe('debian-12-cccccccc')
    const refused = await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId: old.id })
    expect([refused.status, refused.body.error]).toEqual([422, 'OS template debian-12-cccccccc is not available'])
  })

  test('can be withdrawn, which leaves the template without an image', async () => {
    expect(await withdraw('rocky-9')).toBe(imageOf('b').checksum)
    expect(await shown('rocky-9')).toMatchObject({ sizeBytes: '0', checksum: '' })
    await expect(withdraw('rocky-9')).rejects.toThrow('OS template rocky-9 has no image')
  })

  test('is not removed while another template has the same checksum', async () => {
    await publish('ubuntu-22.04', imageOf('e'))
    await publish('ubuntu-24.04', imageOf('e'))
    expect(await withdraw('ubuntu-22.04')).toBeNull()
    expect(await withdraw('ubuntu-24.04')).toBe(imageOf('e').checksum)
  })
})
