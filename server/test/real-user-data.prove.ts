// User data of real guests: carried out, and where it fails what broke is said. Debian has cloud-init; the smallest guest runs scripts by itself.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { debianImage } from './debian-image.ts'
import { berthdJson, eventually } from './processes.ts'
import { missingForRealHost, realProduct, type RealProduct } from './real-product.ts'

/** Generous, for emulated Debian on a loaded machine. */
const TIMEOUT_MS = 1_200_000

interface Initialization {
  status: string
  seconds: number | null
  errors: string[]
  output?: string | null
}

const SCRIPT = '#!/bin/sh\nset -e\nhostname > /root/proof\necho all is well\n'
const BROKEN = '#!/bin/sh\nset -e\necho installing\ncat /etc/no-such-file\ntouch /root/not-reached\n'

const multipart = (...parts: [type: string, text: string][]): string =>
  [
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="=="',
    '',
    ...parts.map(([type, text]) => `--==\nContent-Type: ${type}\n\n${text}`),
    '--==--',
    '',
  ].join('\n')

const guests = ({ customer, db, ssh }: RealProduct) => {
  const done = async (vmId: string, actionId: string): Promise<void> => {
    const ended = await eventually(async () => {
      const found = await customer.get(`/vms/${vmId}/actions/${actionId}?wait=5`)
      return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(found.status) && found
    }, TIMEOUT_MS)
    expect(ended).toMatchObject({ status: 'COMPLETED', error: null })
  }
  let keyId: string | undefined
  /** Resolves when its guest has said how it went. */
  const create = async (os: string, hostname: string, userData: string) => {
    keyId ??= (await customer.send('POST', '/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })).data.id as unknown as string
    const { id: osTemplateId } = await db.one<{ id: string }>(sql`select id from os_templates where slug = ${os}`)
    const order = { ...(await customer.tiny()), osTemplateId, planId: await customer.plan('nano'), hostname, sshKeyIds: [keyId], userData }
    const { data } = await customer.send('POST', '/vms', order)
    const { id } = data.vm
    await done(id, data.actionId)
    expect(await customer.get(`/vms/${id}`)).toMatchObject({ status: 'RUNNING', readiness: 'reachable' })
    const vm = await eventually(async () => {
      const found = await customer.get<{ ipAddress: string; initialization: Initialization }>(`/vms/${id}`)
      return !['PENDING', 'RUNNING'].includes(found.initialization.status) && found
    }, TIMEOUT_MS)
    const { initialization } = await customer.get<{ initialization: Initialization }>(`/vms/${id}/actions/${data.actionId}`)
    const told = await db.many<{ type: string }>(sql`select type from events where subject_id = ${id} and type like 'vm.initiali%'`)
    const inside = (command: string) => ssh.reached(vm.ipAddress, command, TIMEOUT_MS)
    return { id, vm, output: initialization.output, told: told.map(({ type }) => type), inside }
  }
  const remove = async (id: string): Promise<void> => done(id, (await customer.send('DELETE', `/vms/${id}`)).data.actionId)
  return { create, remove }
}

describeIf(missingForRealHost())('user data of a real guest', { timeout: 3 * TIMEOUT_MS }, async () => {
  const product = await realProduct()
  const { create, remove } = guests(product)

  test('of the smallest image is a script that runs, with the keys of the VM', async () => {
    const made = await create('tiny', 'tiny-1', SCRIPT)
    expect(made.vm.initialization).toMatchObject({ status: 'COMPLETED', errors: [] })
    expect([made.output, made.told]).toEqual(['all is well\n', ['vm.initialized']])
    expect(await made.inside('cat /root/proof')).toBe('tiny-1')
    await remove(made.id)
  })

  test('of the smallest image says what broke, and that it has no cloud configuration', async () => {
    const made = await create('tiny', 'tiny-2', multipart(['text/cloud-config', '#cloud-config\n{}\n'], ['text/x-shellscript', BROKEN]))
    expect(made.vm.initialization).toMatchObject({
      status: 'FAILED',
      errors: ['a part of type text/cloud-config was left out: this system runs scripts only', 'part-001 exited with code 1'],
    })
    expect(made.output).toMatch(/^installing\ncat: .*no-such-file/)
    expect(made.told).toEqual(['vm.initialization_failed'])
    expect(await made.inside('ls /root/not-reached 2>/dev/null; cat /etc/hostname')).toBe('tiny-2')
    await remove(made.id)
  })

  test('of Debian is carried out by cloud-init, and leaves the settings of the VM alone', async () => {
    const image = await debianImage()
    await berthdJson(product.settings, 'template', 'import', 'debian-12', '--file', image.path)
    const config =
      '#cloud-config\nhostname: other\nusers: [{ name: deploy, shell: /bin/bash }]\nwrite_files: [{ path: /root/written, content: yes it is }]\n'
    const made = await create('debian-12', 'deb-1', multipart(['text/cloud-config', config], ['text/x-shellscript', SCRIPT]))
    expect(made.vm.initialization).toMatchObject({ status: 'COMPLETED', errors: [], seconds: expect.any(Number) })
    expect([made.output, made.told]).toEqual([expect.stringContaining('all is well'), ['vm.initialized']])
    expect(await made.inside('cat /root/proof /root/written; id -un deploy')).toBe('deb-1\nyes it isdeploy')
    await remove(made.id)
  })

  test('of Debian says which script broke and where, and which configuration cannot be read', async () => {
    const broken = '#cloud-config\nusers: [\n'
    const made = await create('debian-12', 'deb-2', multipart(['text/cloud-config', broken], ['text/x-shellscript', BROKEN]))
    const { status, errors } = made.vm.initialization
    expect([status, made.told]).toEqual(['FAILED', ['vm.initialization_failed']])
    expect(errors.join('\n')).toMatch(/Runparts: 1 failures \(part-\d+\)/)
    expect(errors.join('\n')).toMatch(/Failed loading yaml|Failed at merging in cloud config/)
    expect(made.output).toMatch(/installing\ncat: \/etc\/no-such-file: No such file/)
    expect(await made.inside('hostname')).toBe('deb-2')
    await remove(made.id)
    expect(await product.broken()).toBe('')
  })
})
