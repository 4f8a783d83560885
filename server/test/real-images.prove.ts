// Images of a real guest on a real host: a VM from one has its files and an identity of its own.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { run } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { GuestShell } from './guest-shell.ts'
import { eventually } from './processes.ts'
import { guestFiles } from './real-copies.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'
import { receiver } from './receiver.ts'
import { scratchFolder } from './scratch-folder.ts'
import { tinyImage } from './tiny-image.ts'

interface Image {
  id: string
  status: string
  error: string | null
  consistency: string | null
}

describeIf(missingForRealHost())('images of a real VM', { timeout: 4 * TIMEOUT_MS }, async () => {
  const { customer, host, sandbox, ssh, broken } = await realProduct(undefined, { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' })
  const shell = new GuestShell(host.sandboxes.unix(sandbox), TIMEOUT_MS)
  afterAll(() => shell.close())
  const { osTemplateId, regionId } = await customer.tiny()
  const size = { regionId, planId: await customer.plan('nano') }
  const key = await customer.make('/ssh-keys', { name: 'key', publicKey: ssh.publicKey })
  const vmId = await customer.order('POST', '/vms', { ...size, osTemplateId, hostname: 'golden' })
  const files = guestFiles(shell, vmId)
  const inside = async (id: string, script: string): Promise<string> => (await shell.run(id, script)).output.trim()

  const filesOf = async (imageId: string): Promise<string> =>
    (await sandbox.inside('find', '/var/lib/libvirt/images/berth', '-name', `*${imageId}*`)).trim()

  const make = async (body: object): Promise<Image> => {
    const { status, error, data } = await customer.send('POST', '/images', { name: 'image', ...body })
    expect([status, error]).toEqual([202, undefined])
    const { id } = (data as unknown as { image: Image }).image
    return eventually(async () => {
      const image = await customer.get<Image>(`/images/${id}`)
      return image.status !== 'CREATING' && image
    }, 2 * TIMEOUT_MS)
  }

  test('a VM from the image of a running one has the file, and its own hostname, keys and machine identity', async () => {
    const kept = await files.write('in the image')
    const image = await make({ vmId })
    expect(image).toMatchObject({ status: 'AVAILABLE', error: null, consistency: 'FILESYSTEM' })
    const later = await files.write('later')
    const copyId = await customer.order('POST', '/vms', { ...size, osTemplateId: image.id, hostname: 'copied', sshKeyIds: [key['id']] })
    expect(await guestFiles(shell, copyId).list()).toEqual([kept])
    expect(await inside(copyId, 'hostname')).toBe('copied')
    const { ipAddress } = await customer.get(`/vms/${copyId}`)
    expect(await ssh.reached(ipAddress, 'hostname')).toBe('copied')
    expect((await files.list()).toSorted()).toEqual([kept, later].toSorted())
    expect(await broken()).toBe('')

    const refused = await customer.send('DELETE', `/images/${image.id}`)
    expect(refused.status).toBe(409)
    expect(await filesOf(image.id)).not.toBe('')
    await customer.order('POST', `/vms/${copyId}/rebuild`, { osTemplateId })
    expect(await guestFiles(shell, copyId).list()).toEqual([])
    await customer.order('POST', `/vms/${copyId}/rebuild`, { osTemplateId: image.id })
    expect(await guestFiles(shell, copyId).list()).toEqual([kept])
    await customer.order('DELETE', `/vms/${copyId}`)
    expect((await customer.send('DELETE', `/images/${image.id}`)).status).toBe(200)
    await eventually(async () => (await customer.send('GET', `/images/${image.id}`)).status === 404, TIMEOUT_MS)
    expect(await filesOf(image.id)).toBe('')
    expect(await broken()).toBe('')
  })

  test('a snapshot and a stopped VM become images too', async () => {
    await customer.order('POST', `/vms/${vmId}/snapshots`, { name: 's' })
    const [snapshot] = await customer.get<{ id: string }[]>(`/vms/${vmId}/snapshots`)
    const before = (await files.list()).toSorted()
    const extra = await files.write('after the snapshot')
    await customer.order('POST', `/vms/${vmId}/stop`)
    for (const [source, expected] of [
      [{ snapshotId: snapshot!.id }, before],
      [{ vmId }, [...before, extra].toSorted()],
    ] as const) {
      const image = await make(source)
      expect(image).toMatchObject({ status: 'AVAILABLE', error: null })
      const copyId = await customer.order('POST', '/vms', { ...size, osTemplateId: image.id, hostname: 'copied' })
      expect((await guestFiles(shell, copyId).list()).toSorted()).toEqual(expected)
      await customer.order('DELETE', `/vms/${copyId}`)
    }
    expect(await broken()).toBe('')
  })

  test('an image is imported from a URL and boots; one with a backing file is refused', async () => {
    const bytes = await readFile((await tinyImage()).path)
    const server = await receiver((response, { path }) => response.writeHead(200).end(path === '/bad' ? bad : bytes))
    const { path: folder, remove } = await scratchFolder()
    await run('qemu-img', 'create', '-f', 'qcow2', '-F', 'raw', '-b', '/etc/hostname', `${folder}/bad.qcow2`, '64M')
    const bad = await readFile(`${folder}/bad.qcow2`)
    await remove()
    const sum = (of: Buffer): string => `sha256:${createHash('sha256').update(of).digest('hex')}`
    const image = await make({ url: server.url, checksum: sum(bytes), guestAgent: true })
    expect(image).toMatchObject({ status: 'AVAILABLE', error: null })
    const id = await customer.order('POST', '/vms', { ...size, osTemplateId: image.id, hostname: 'imported' })
    expect(await inside(id, 'hostname')).toBe('imported')
    const refused = await make({ url: server.url.replace('/hook', '/bad'), checksum: sum(bad) })
    expect(refused).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/only the changes to another file/) })
    expect(await broken()).toBe('')
  })
})
