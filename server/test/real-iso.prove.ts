// A real guest starts from an ISO image that its owner has imported, until it is taken out of the drive, which it is while the guest runs; then the guest
// boots its own disk, with all that was on it. Whichever process is killed meanwhile, the machine has what its VM says, and nothing is left behind.
import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { nativeArch } from '../src/kernel/arch.ts'
import { sql } from '../src/kernel/database/db.ts'
import { bootableIso, STARTED_FROM_ISO } from './bootable-iso.ts'
import { connectTo } from './console-client.ts'
import { berthdJson, eventually } from './processes.ts'
import { KILLS, sshGuests } from './ssh-guests.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'
import { receiver } from './receiver.ts'

interface Seen {
  status: string
  ipAddress: string
  readiness: string
  iso: { imageId: string; name: string; active: boolean } | null
}

const missing = () => missingForRealHost() ?? (nativeArch() === 'x86_64' ? undefined : 'a PC, whose BIOS runs the program on the image')

describeIf(missing())('an ISO image in the drive of a real guest', { timeout: 12 * TIMEOUT_MS }, async () => {
  const product = await realProduct(undefined, { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' })
  const { customer, db, sandbox, settings, broken, ended } = product
  const { vm, create, shell } = await sshGuests<Seen>(product)
  const FILL = 'dd if=/dev/urandom of=/root/data bs=64k count=16 2> /dev/null; sync; sha256sum < /root/data'
  /** On its console, from now on. */
  const seen = async (vmId: string, text: string) => {
    const { data } = await customer.send('POST', `/vms/${vmId}/console`, { type: 'serial' })
    const terminal = connectTo((data as unknown as { url: string }).url)
    expect(await terminal.opened).toBe(true)
    await eventually(async () => terminal.text().includes(text), TIMEOUT_MS)
    terminal.socket.close()
    await terminal.closed
  }
  const bytes = bootableIso()
  const server = await receiver((response) => response.writeHead(200).end(bytes))
  const checksum = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  const { data } = await customer.send('POST', '/images', { name: 'installer', kind: 'ISO', url: server.url, checksum })
  const imageId = (data as unknown as { image: { id: string } }).image.id
  await eventually(async () => (await customer.get(`/images/${imageId}`)).status === 'AVAILABLE', TIMEOUT_MS)
  const filesOf = async () => [...(await sandbox.virsh('vol-list', 'berth')).matchAll(/^ *(iso-\S+)/gm)].map(([, name]) => name!)
  const driveOf = async (vmId: string, ...of: string[]) =>
    / file='([^']*\/iso-[^']*)'/.exec(await sandbox.virsh('dumpxml', `berth-${vmId}`, ...of))?.[1]

  /** As QEMU has it. */
  const limitOf = async (vmId: string) => {
    const answer = await sandbox.virsh('qemu-monitor-command', `berth-${vmId}`, '{"execute": "query-block"}')
    const { return: drives } = JSON.parse(answer) as { return: { inserted?: { file: string; iops: number; group?: string } }[] }
    const { iops, group } = drives.find(({ inserted }) => inserted?.file.includes('/iso-'))!.inserted!
    return { iops, group }
  }

  test('starts it, and its own disk again as soon as it is out', async () => {
    await berthdJson(settings, 'plan', 'set', 'nano', '--disk-iops', '5000')
    const limit = { iops: 5000, group: 'machine' }
    const { vmId, address } = await create('installed-1')
    const before = await shell(address, FILL)

    await customer.order('PUT', `/vms/${vmId}/iso`, { imageId })
    expect((await vm(vmId)).iso).toMatchObject({ imageId, name: 'installer', active: false })
    expect(await shell(address, 'sha256sum < /root/data')).toBe(before) // it runs on
    expect(await filesOf()).toEqual([`iso-${imageId}.iso`, `iso-${imageId}.iso.whole`])

    await customer.order('POST', `/vms/${vmId}/restart`)
    expect(await vm(vmId)).toMatchObject({ status: 'RUNNING', readiness: 'booting', iso: { active: true } })
    await seen(vmId, STARTED_FROM_ISO)
    expect(await limitOf(vmId)).toEqual(limit)
    expect((await customer.send('DELETE', `/images/${imageId}`)).status).toBe(409)
    await customer.order('POST', `/vms/${vmId}/stop`, { force: true })
    await customer.order('POST', `/vms/${vmId}/start`)
    await seen(vmId, STARTED_FROM_ISO)

    await customer.order('DELETE', `/vms/${vmId}/iso`)
    expect(await vm(vmId)).toMatchObject({ status: 'RUNNING', iso: null })
    expect([await driveOf(vmId), await driveOf(vmId, '--inactive')]).toEqual([undefined, undefined])
    // Not started anew: the same machine is reset, and finds its drive empty.
    await customer.order('POST', `/vms/${vmId}/restart`, { force: true })
    expect(await shell(address, 'sha256sum < /root/data; hostname')).toBe(`${before}\ninstalled-1`)
    expect(await vm(vmId)).toMatchObject({ status: 'RUNNING', readiness: 'reachable' })

    await customer.order('PUT', `/vms/${vmId}/iso`, { imageId }) // into the drive that the machine has now
    expect((await vm(vmId)).iso).toMatchObject({ active: true })
    expect(await limitOf(vmId)).toEqual(limit)
    expect(await shell(address, 'sha256sum < /root/data')).toBe(before)
    await customer.order('POST', `/vms/${vmId}/restart`, { force: true })
    await seen(vmId, STARTED_FROM_ISO)
    await customer.order('DELETE', `/vms/${vmId}`)
    expect(await broken()).toBe('')
  })

  const inStep = (actionId: string, step: string) =>
    eventually(
      () => db.maybe(sql`select 1 from workflow_steps where run_id = ${actionId} and name = ${step} and status <> 'PENDING'`),
      TIMEOUT_MS,
    )
  const STEPS = { PUT: ['file', 'stop', 'boot', 'ready'], DELETE: ['eject'] }

  test.each(Object.keys(KILLS))('when %s is killed in any step, the machine has what its VM says', async (victim) => {
    const { vmId, address } = await create(`killed-${victim}`)
    const before = await shell(address, FILL)
    for (const method of ['PUT', 'DELETE'] as const)
      for (const step of STEPS[method]) {
        const isAttached = (await vm(vmId)).iso !== null
        const body = { imageId, restart: true }
        if (isAttached !== (method === 'DELETE'))
          await customer.order(isAttached ? 'DELETE' : 'PUT', `/vms/${vmId}/iso`, isAttached ? undefined : body)
        const { data: begun } = await customer.send(method, `/vms/${vmId}/iso`, method === 'PUT' ? body : undefined)
        await inStep(begun.actionId, step)
        await KILLS[victim]!(product)
        await ended(TIMEOUT_MS)
        const { status, iso } = await vm(vmId)
        const action = await customer.get(`/vms/${vmId}/actions/${begun.actionId}`)
        expect([step, status, iso !== null]).toEqual([step, 'RUNNING', (action.status === 'COMPLETED') === (method === 'PUT')])
        expect([step, (await driveOf(vmId)) !== undefined]).toEqual([step, iso !== null])
        expect([step, await broken()]).toEqual([step, ''])
      }
    if ((await vm(vmId)).iso) await customer.order('DELETE', `/vms/${vmId}/iso`)
    expect((await customer.send('POST', `/vms/${vmId}/restart`, { force: true })).status).toBe(202)
    expect(await shell(address, 'sha256sum < /root/data')).toBe(before)
    await ended(3 * TIMEOUT_MS)
    await customer.order('DELETE', `/vms/${vmId}`)
  })

  test('whose file is gone keeps its VM from starting, which says so, until it is detached', async () => {
    const { vmId, address } = await create('without-file')
    const before = await shell(address, FILL)
    await customer.order('PUT', `/vms/${vmId}/iso`, { imageId })
    await customer.order('POST', `/vms/${vmId}/stop`, { force: true })
    for (const name of await filesOf()) await sandbox.virsh('vol-delete', '--pool', 'berth', name)
    const folder = settings['BERTH_DATA_DIR']!
    const own = (await readdir(folder, { recursive: true })).filter((path) => path.includes(imageId))
    expect(own).not.toEqual([])
    for (const path of own) await rm(join(folder, path), { recursive: true, force: true })
    await expect(customer.order('POST', `/vms/${vmId}/start`)).rejects.toThrow('The file of the ISO image is gone: detach it from the VM')
    await customer.order('DELETE', `/vms/${vmId}/iso`)
    await customer.order('POST', `/vms/${vmId}/start`)
    expect(await shell(address, 'sha256sum < /root/data')).toBe(before)
    await customer.order('DELETE', `/vms/${vmId}`)
  })
})
