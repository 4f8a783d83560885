// Images of an account: from VMs, snapshots and backups, VMs from them, quota, money, deletion.
import { existsSync } from 'node:fs'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { allowManyVms, diskOf, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { startMigration } from '../vms/service.ts'
import { evictImages, purgeImages, sweepImageFiles } from './purge.reconciler.ts'
import { renewImages } from './renew.reconciler.ts'

describe('images', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '1000.00' })
  const other = await app.given.customer({ credit: '1000.00' })
  const { osTemplateId, ...input } = await app.given.vmInput()
  const { id: vmId } = await app.given.vm(customer, { hostname: 'golden' })
  const folder = join(app.config.imagesDir, 'accounts')

  const make = async (source: object, more: object = {}) => {
    const { status, body } = await customer.post('/images', { name: 'golden', ...source, ...more })
    expect([status, body.error]).toEqual([202, undefined])
    await app.settle()
    return (await customer.get(`/images/${body.data.image.id}`)).body.data
  }
  const refusal = async (path: string, body: object, as: Pick<typeof customer, 'post'> = customer) => {
    const { status, headers, body: answer } = await as.post(path, body)
    return [status, headers['x-error-code'], answer.error as string] as const
  }
  const balance = async () => Number((await customer.get('/wallet')).body.data.balance)
  const quota = async (name: string) =>
    (await customer.get('/account/limits')).body.data.find((each: { name: string }) => each.name === name).used as number
  const diskUsed = async () =>
    (await app.db.one<{ gib: number }>(sql`select disk_used_gib as gib from hosts where id = ${app.host.id}`)).gib
  const remove = async (id: string) => {
    const answer = await customer.delete(`/images/${id}`)
    expect([answer.status, answer.body.error]).toEqual([200, undefined])
    await purgeImages.runOnce(app.deps)
    return answer.body.data
  }
  const events = async (id: string) =>
    ((await customer.get('/events?limit=100')).body.data as { type: string; data: { image?: { id: string } } }[])
      .filter(({ data }) => data.image?.id === id)
      .map(({ type }) => type)

  test('a VM from the image of another is a guest of its own, with the files', async () => {
    await diskOf(app, vmId).write('as in the image')
    const before = await diskUsed()
    const image = await make({ vmId }, { labels: { role: 'web' } })
    expect(image).toMatchObject({
      status: 'AVAILABLE',
      kind: 'DISK',
      disk: 25,
      labels: { role: 'web' },
      source: { type: 'VM', id: vmId, url: null, vmId },
      consistency: 'FILESYSTEM',
      defaultUser: 'root',
      error: null,
      checksum: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      billing: { status: 'ACTIVE', priceMonthly: '0.05' },
    })
    expect(await diskUsed()).toBe(before)
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    await diskOf(app, vmId).write('later')

    const vm = await app.given.vm(customer, { hostname: 'copy', osTemplateId: image.id, password: 'a new password' })
    const shown = (await customer.get(`/vms/${vm.id}`)).body.data
    expect(shown).toMatchObject({ status: 'RUNNING', hostname: 'copy', osTemplate: { slug: `image-${image.id}`, name: 'golden' } })
    expect(await diskOf(app, vm.id).read()).toBe('as in the image')
    expect(await app.simulated.drift.login(vm.id)).toMatchObject({ hostname: 'copy', passwordHash: expect.stringMatching(/^\$6\$/) })
    expect(await events(image.id)).toEqual(['image.creating', 'image.created'])

    await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId })
    await app.settle()
    expect(await diskOf(app, vm.id).read()).toBeNull()
    const quoted = await customer.post(`/vms/${vm.id}/rebuild?dryRun=true`, { osTemplateId: image.id })
    expect([quoted.status, quoted.body.data.charge]).toEqual([200, '0.00'])
    await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId: image.id })
    await app.settle()
    expect(await diskOf(app, vm.id).read()).toBe('as in the image')

    const second = await make({ vmId: vm.id })
    expect(second).toMatchObject({ status: 'AVAILABLE', defaultUser: 'root' })
    expect((await customer.post('/vms?dryRun=true', { ...input, osTemplateId: second.id })).body.data).toMatchObject({ charge: '6.00' })
  })

  test('an image of another account is not there', async () => {
    const image = await make({ vmId })
    const unknown = `c${'0'.repeat(24)}`
    for (const id of [image.id, unknown]) {
      expect((await other.get(`/images/${id}`)).status).toBe(404)
      expect((await other.patch(`/images/${id}`, { name: 'mine' })).status).toBe(404)
      expect((await other.delete(`/images/${id}`)).status).toBe(404)
      expect((await other.get(`/os-templates/${id}`)).status).toBe(404)
      expect(await refusal('/vms', { ...input, osTemplateId: id }, other)).toEqual([404, 'not_found', 'OS template not found'])
    }
    expect((await other.get('/images')).body.data).toEqual([])
    for (const each of [customer, other])
      expect((await each.get('/os-templates')).body.data.some(({ slug }: { slug: string }) => slug.startsWith('image-'))).toBe(false)
    const source = { name: 'x', vmId }
    expect(await refusal('/images', source, other)).toEqual([404, 'not_found', 'VM not found'])
    const { id: theirs } = await app.given.vm(other)
    expect((await refusal(`/vms/${theirs}/rebuild`, { osTemplateId: image.id }, other)).slice(0, 2)).toEqual([404, 'not_found'])
    await remove(image.id)
  })

  test('snapshots and backups become images as they were', async () => {
    await diskOf(app, vmId).write('of the snapshot')
    const { snapshot } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 's' })).body.data
    await app.settle()
    await diskOf(app, vmId).write('of the backup')
    const { backup } = (await customer.post(`/vms/${vmId}/backups`, { name: 'b' })).body.data
    await app.settle()
    await diskOf(app, vmId).write('later')
    for (const [source, moment] of [
      [{ snapshotId: snapshot.id }, 'of the snapshot'],
      [{ backupId: backup.id }, 'of the backup'],
    ] as const) {
      const image = await make(source)
      expect(image).toMatchObject({ status: 'AVAILABLE', consistency: null, source: { vmId } })
      const vm = await app.given.vm(customer, { osTemplateId: image.id })
      expect(await diskOf(app, vm.id).read()).toBe(moment)
    }
    const deploying = await app.given.token(customer.accountId, { scopes: ['images:*', 'vms:create', 'vms:read'] })
    expect((await refusal('/images', { name: 'x', vmId }, deploying)).slice(0, 2)).toEqual([403, 'missing_scope'])
    const narrow = await app.given.token(customer.accountId, { scopes: ['images:*', 'vms:*'] })
    for (const source of [{ snapshotId: snapshot.id }, { backupId: backup.id }])
      expect((await refusal('/images', { name: 'x', ...source }, narrow)).slice(0, 2)).toEqual([403, 'missing_scope'])
  })

  test('it is not deleted while VMs or copies of them need it, nor while it is protected', async () => {
    const image = await make({ vmId })
    const vm = await app.given.vm(customer, { osTemplateId: image.id })
    const inUse = await customer.delete(`/images/${image.id}`)
    expect([inUse.status, inUse.headers['x-error-code'], inUse.body.error]).toEqual([
      409,
      'in_use',
      `Image golden is used by VM ${(await customer.get(`/vms/${vm.id}`)).body.data.name}: rebuild or delete these first`,
    ])
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    const used = await diskUsed()
    const updated = await customer.patch(`/images/${image.id}`, { name: 'renamed', labels: { a: 'b' }, isProtected: true })
    expect(updated.body.data).toMatchObject({ name: 'renamed', labels: { a: 'b' }, isProtected: true })
    expect((await customer.delete(`/images/${image.id}`)).headers['x-error-code']).toBe('protected')
    await customer.patch(`/images/${image.id}`, { isProtected: false })

    await app.simulated.faults.loseHost()
    expect(await remove(image.id)).toMatchObject({ status: 'DELETING' })
    expect(existsSync(join(folder, `${image.id}.qcow2`))).toBe(false)
    expect((await customer.get(`/images/${image.id}`)).body.data.status).toBe('DELETING')
    expect((await refusal('/vms', { ...input, osTemplateId: image.id })).slice(0, 2)).toEqual([404, 'not_found'])
    await app.simulated.faults.returnHost()
    app.clock.advance('2m')
    await purgeImages.runOnce(app.deps)
    expect((await customer.get(`/images/${image.id}`)).status).toBe(404)
    expect(await diskUsed()).toBe(used - 1)
    const driver = await app.deps.hypervisors.get(app.host.id)
    for await (const volume of driver.listVolumes(AbortSignal.timeout(5_000))) expect(volume.id).not.toBe(image.id)
    expect(await events(image.id)).toEqual(['image.creating', 'image.created', 'image.updated', 'image.updated', 'image.deleted'])
  })

  test('nor while a VM is being rebuilt from it', async () => {
    const image = await make({ vmId })
    const vm = await app.given.vm(customer)
    expect((await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId: image.id })).status).toBe(202)
    const refused = await customer.delete(`/images/${image.id}`)
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'in_use'])
    await app.settle()
    expect((await customer.get(`/vms/${vm.id}`)).body.data).toMatchObject({ status: 'RUNNING', osTemplate: { slug: `image-${image.id}` } })
    await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId })
    await app.settle()
    await remove(image.id)
  })

  test('it takes room of a host for as long as VMs there were made from it, and comes back with the next', async () => {
    const image = await make({ vmId })
    const isOnHost = async () => {
      const driver = await app.deps.hypervisors.get(app.host.id)
      for await (const { kind, id } of driver.listVolumes(AbortSignal.timeout(5_000)))
        if (kind === 'template' && id === image.id) return true
      return false
    }
    const evict = () => evictImages.runOnce(app.deps)
    const room = await diskUsed()
    const vm = await app.given.vm(customer, { osTemplateId: image.id })
    await evict()
    expect([await diskUsed(), await isOnHost()]).toEqual([room + 26, true])
    await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId })
    await app.settle()
    await app.simulated.faults.plant({ verb: 'ensureNoTemplate', kind: 'permanent' })
    await evict()
    expect([await diskUsed(), await isOnHost()]).toEqual([room + 26, true])
    await evict()
    expect([await diskUsed(), await isOnHost()]).toEqual([room + 25, false])
    await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId: image.id })
    await evict()
    expect(await diskUsed()).toBe(room + 26)
    await app.settle()
    expect(await isOnHost()).toBe(true)
    await app.checkInvariants()
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    await evict()
    expect([await diskUsed(), await isOnHost()]).toEqual([room, false])
    await remove(image.id)
  })

  test('it keeps its room on a host that a VM from it is about to be moved to', async () => {
    const image = await make({ vmId })
    const vm = await app.given.vm(customer, { osTemplateId: image.id })
    await app.db.run(sql`update address_pools set host_id = null`)
    const { id: hostId } = await givenHost(app, 'next')
    await app.db.tx((tx) => startMigration(tx, app.deps, vm.id, { to: 'next' }))
    await evictImages.runOnce(app.deps)
    const rooms = () => app.db.many(sql`select host_id from image_rooms where image_id = ${image.id} order by host_id = ${hostId}`)
    expect(await rooms()).toEqual([{ host_id: app.host.id }, { host_id: hostId }])
    await app.settle()
    await evictImages.runOnce(app.deps)
    expect(await rooms()).toEqual([{ host_id: hostId }])
    await app.checkInvariants()
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    await app.db.run(sql`update hosts set maintenance = true where id = ${hostId}`)
    await remove(image.id)
  })

  test('a create and a delete of its image at the same time end with one of them', async () => {
    for (let i = 0; i < 4; i++) {
      const image = await make({ vmId })
      const [created, deleted] = await Promise.all([
        customer.post('/vms', { ...input, osTemplateId: image.id }),
        customer.delete(`/images/${image.id}`),
      ])
      expect([
        [202, 409],
        [404, 200],
      ]).toContainEqual([created.status, deleted.status])
      await app.settle()
      await purgeImages.runOnce(app.deps)
      const status = created.status === 202 ? (await customer.get(`/vms/${created.body.data.vm.id}`)).body.data.status : 'RUNNING'
      expect(status).toBe('RUNNING')
    }
  })

  test('it takes quota and money for its size, and gives both back', async () => {
    const price = (cents: bigint) => app.db.run(sql`update catalog_values set value = ${cents} where name = 'price.image_gib'`)
    await price(100n)
    const [count, storage] = [await quota('images'), await quota('imageStorage')]
    const before = await balance()
    const quoted = await customer.post('/images?dryRun=true', { name: 'x', vmId })
    expect([quoted.status, quoted.body.data]).toMatchObject([200, { charge: '25.00', monthly: '25.00' }])
    expect(await quota('images')).toBe(count)
    const begun = await customer.post('/images', { name: 'x', vmId })
    expect([await quota('images'), await quota('imageStorage')]).toEqual([count + 1, storage + 25])
    expect(await balance()).toBe(before)
    await app.settle()
    expect([await quota('images'), await quota('imageStorage'), await balance()]).toEqual([count + 1, storage + 1, before - 1])
    const { id } = begun.body.data.image
    expect((await customer.delete(`/images/${id}?dryRun=true`)).body.data.charge).toBe('-1.00')
    await remove(id)
    expect([await quota('images'), await quota('imageStorage')]).toEqual([count, storage])
    expect(await balance()).toBeCloseTo(before, 1)

    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'image_storage_gib', BigInt(storage + 24)))
    expect(await refusal('/images', { name: 'x', vmId })).toEqual([
      422,
      'quota_exceeded',
      `Quota exceeded: ${storage} of ${storage + 24} GiB of image storage are in use, and this needs 25 more. Delete some, or ask support for more`,
    ])
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'image_storage_gib', null))
    const poor = await app.given.customer({ credit: '6.00' })
    const { id: theirs } = await app.given.vm(poor)
    expect((await refusal('/images', { name: 'x', vmId: theirs }, poor)).slice(0, 2)).toEqual([402, 'insufficient_funds'])
    await price(5n)
  })

  test('it is renewed monthly; unpaid it cannot be used, and is deleted once no VM needs it', async () => {
    const owner = await app.given.customer({ credit: '12.10' })
    const { id: ownVm } = await app.given.vm(owner)
    await owner.post('/images', { name: 'mine', vmId: ownVm })
    await app.settle()
    const { id } = (await owner.get('/images')).body.data[0]
    const image = async () => (await owner.get(`/images/${id}`)).body.data
    await owner.post('/vms', { ...input, osTemplateId: id })
    await app.settle()
    const use = async () => (await owner.post('/vms?dryRun=true', { ...input, osTemplateId: id })).body.error as string
    app.clock.advance('31d')
    await renewImages.runOnce(app.deps)
    expect((await image()).billing.status).toBe('ACTIVE')
    app.clock.advance('31d')
    await renewImages.runOnce(app.deps)
    expect((await image()).billing.status).toBe('PAST_DUE')
    app.clock.advance('25h')
    await renewImages.runOnce(app.deps)
    expect((await image()).billing.status).toBe('SUSPENDED')
    expect(await use()).toMatch(/^The renewal of image mine is not paid/)
    app.clock.advance('8d')
    await renewImages.runOnce(app.deps)
    expect((await image()).status).toBe('AVAILABLE')
    for (const { id: each } of (await owner.get('/vms')).body.data) await owner.delete(`/vms/${each}`)
    await app.settle()
    await renewImages.runOnce(app.deps)
    await purgeImages.runOnce(app.deps)
    expect((await owner.get(`/images/${id}`)).status).toBe(404)
    const types = ((await owner.get('/wallet/transactions')).body.data as { type: string; amount: string }[]).flatMap(({ type, amount }) =>
      type.startsWith('IMAGE') ? `${type} ${amount}` : [],
    )
    expect(types).toEqual(['IMAGE_RENEWAL -0.05', 'IMAGE_CHARGE -0.05'])
  })

  test('deleting one that is being made stops it, and it costs nothing', async () => {
    const before = [await quota('images'), await quota('imageStorage'), await diskUsed(), await balance()]
    const { image } = (await customer.post('/images', { name: 'x', vmId })).body.data
    expect((await customer.post(`/vms/${vmId}/restart`)).headers['x-error-code']).toBe('busy')
    expect((await customer.delete(`/images/${image.id}`)).body.data.status).toBe('DELETING')
    await app.settle()
    await purgeImages.runOnce(app.deps)
    expect((await customer.get(`/images/${image.id}`)).status).toBe(404)
    expect([await quota('images'), await quota('imageStorage'), await diskUsed(), await balance()]).toEqual(before)
    expect(await volumesOf(app, vmId)).toEqual(expect.not.arrayContaining(['backup half made']))
  })

  test('bad requests change nothing', async () => {
    const code = async (body: object) => (await refusal('/images', { name: 'x', ...body })).slice(0, 2)
    expect(await code({})).toEqual([400, 'validation_failed'])
    expect(await code({ vmId, url: 'https://example.com/x' })).toEqual([400, 'validation_failed'])
    expect(await code({ url: 'https://example.com/x' })).toEqual([400, 'validation_failed'])
    expect(await code({ vmId, checksum: `sha256:${'0'.repeat(64)}` })).toEqual([400, 'validation_failed'])
    expect(await code({ vmId, labels: { 'bad key': 'x' } })).toEqual([400, 'validation_failed'])
    expect(await code({ vmId, labels: { ok: 'line\nbreak' } })).toEqual([400, 'validation_failed'])
    expect(await code({ url: 'https://10.0.0.1/x', checksum: `sha256:${'0'.repeat(64)}` })).toEqual([422, 'url_not_allowed'])
    expect(await code({ url: 'http://example.com/x', checksum: `sha256:${'0'.repeat(64)}` })).toEqual([422, 'url_not_allowed'])
    expect(await code({ snapshotId: `c${'0'.repeat(24)}` })).toEqual([404, 'not_found'])
    expect(await code({ backupId: `c${'0'.repeat(24)}` })).toEqual([404, 'not_found'])
    await customer.post(`/vms/${vmId}/stop`)
    expect(await code({ vmId })).toEqual([409, 'busy'])
    await app.settle()
    expect(await make({ vmId })).toMatchObject({ consistency: 'FILESYSTEM' })
  })

  test('files that a dead worker left are removed after a day', async () => {
    const [known, unknown] = [await readdir(folder), [`c${'9'.repeat(24)}.qcow2`, `work-c${'8'.repeat(24)}`]]
    for (const name of unknown) await writeFile(join(folder, name), 'x')
    const age = async (hours: number) => {
      const then = new Date(app.clock.now().getTime() - hours * 3_600_000)
      for (const name of await readdir(folder)) await utimes(join(folder, name), then, then)
      await sweepImageFiles.runOnce(app.deps)
      return (await readdir(folder)).toSorted()
    }
    expect(await age(23)).toEqual([...known, ...unknown].toSorted())
    expect(await age(25)).toEqual(known.toSorted())
  })

  test('a VM on replicated storage is made from an image, and images of it and its copies', async () => {
    const image = await make({ vmId })
    await sellReplicated(app)
    const vm = await app.given.vm(customer, { osTemplateId: image.id })
    expect(await diskOf(app, vm.id).read()).toBe('later')
    await diskOf(app, vm.id).write('of a replicated disk')
    const copies = []
    for (const kind of ['snapshot', 'backup']) {
      copies.push({ [`${kind}Id`]: (await customer.post(`/vms/${vm.id}/${kind}s`, { name: 'x' })).body.data[kind].id })
      await app.settle()
    }
    const before = await app.db.many(sql`select name from simulated.volumes where vm_id = ${vm.id} order by name`)
    for (const source of [{ vmId: vm.id }, ...copies]) {
      const made = await make(source)
      const copy = await app.given.vm(customer, { osTemplateId: made.id })
      expect(await diskOf(app, copy.id).read()).toBe('of a replicated disk')
    }
    expect(await app.db.many(sql`select name from simulated.volumes where vm_id = ${vm.id} order by name`)).toEqual(before)
  })
})
