// On LOCAL storage in `npm test`, on REPLICATED in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { comesBack, goesAway } from '../../../../test/away-host.ts'
import { testApp } from '../../../../test/harness.ts'
import { givenHost, placeOn } from '../../../../test/hosts.ts'
import { givenIso } from '../../../../test/iso-image.ts'
import { sellReplicated } from '../../../../test/replicated-storage.ts'
import { allowManyVms, diskOf } from '../../../../test/snapshot-backup-fixture.ts'
import type { Driver } from '../../../hypervisor/driver.ts'
import { sql } from '../../../kernel/database/db.ts'
import { listenForTriggers, startReconcilers } from '../../../workflow/reconciler-loop.ts'
import { sweepOrphanVolumes } from '../../backups/orphan-volumes.reconciler.ts'
import { evictImages, purgeImages } from '../../images/purge.reconciler.ts'
import { syncPowerStates } from '../reconcilers/power-sync.reconciler.ts'
import { startMigration } from '../service.ts'

type App = Awaited<ReturnType<typeof testApp>>
type Customer = Awaited<ReturnType<App['given']['customer']>>

export function using(app: App, customer: Customer) {
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const settled = async <T>(id: string, answer: Promise<T>): Promise<T> => {
    const got = await answer
    await app.settle({ subjectId: id })
    return got
  }
  return {
    vm,
    settled,
    post: (id: string, verb: string, body?: unknown) => settled(id, customer.post(`/vms/${id}/${verb}`, body)),
    attach: (id: string, imageId: string, more: object = {}) => settled(id, customer.put(`/vms/${id}/iso`, { imageId, ...more })),
    detach: (id: string) => settled(id, customer.delete(`/vms/${id}/iso`)),
    isoIn: async (id: string, hostId = app.host.id) =>
      (await (await app.deps.hypervisors.get(hostId)).findMachine(id, AbortSignal.timeout(5_000)))?.isoId,
    filesOn: async (hostId = app.host.id): Promise<string[]> =>
      (await app.db.many<{ id: string }>(sql`select id from simulated.volumes where host_id = ${hostId} and kind = 'iso' order by id`)).map(
        ({ id }) => id,
      ),
    eventsOf: async (id: string) =>
      app.db.many<{ type: string; reason: string | null }>(
        sql`select type, data ->> 'reason' as reason from events where subject_id = ${id} order by number`,
      ),
    refused: async (answer: Promise<{ status: number; headers: Record<string, unknown>; body: { error: string } }>) => {
      const { status, headers, body } = await answer
      return [status, headers['x-error-code'], body.error]
    },
  }
}

export function describeIso(storage: 'LOCAL' | 'REPLICATED'): void {
  describe(`PUT and DELETE /vms/{id}/iso, on ${storage} storage`, async () => {
    const app = await testApp()
    if (storage === 'REPLICATED') await sellReplicated(app)
    await allowManyVms(app)
    await app.db.run(sql`update catalog_values set value = 1000 where name in ('quota.images', 'quota.image_storage_gib')`)
    await app.db.run(sql`update address_pools set host_id = null`)
    const customer = await app.given.customer({ credit: '10000.00' })
    const { vm, post, attach, detach, isoIn, filesOn, eventsOf, refused, settled } = using(app, customer)
    const given = async (hostId = app.host.id) => (await placeOn(app, hostId, () => app.given.vm(customer))).id
    const iso = (name?: string) => givenIso(app, customer, name === undefined ? {} : { name })
    const booked = async (hostId = app.host.id) =>
      (await app.db.one<{ disk_used_gib: number }>(sql`select disk_used_gib from hosts where id = ${hostId}`)).disk_used_gib

    test('takes effect at the next restart of a running VM, which boots from it, until it is taken out', async () => {
      const [id, imageId] = [await given(), await iso('debian-netinst')]
      await diskOf(app, id).write('mine')
      const room = await booked()
      expect(await vm(id)).toMatchObject({ iso: null, allowedActions: expect.arrayContaining(['attachIso']) })
      const answer = await customer.put(`/vms/${id}/iso`, { imageId })
      expect(answer.status).toBe(202)
      expect(await vm(id)).toMatchObject({ iso: null, currentAction: { action: 'ATTACH_ISO' } })
      await app.settle({ subjectId: id })
      const since = app.clock.now().toISOString()
      expect(await vm(id)).toMatchObject({
        status: 'RUNNING',
        readiness: 'reachable',
        iso: { imageId, name: 'debian-netinst', since, active: false },
        allowedActions: expect.arrayContaining(['detachIso']),
      })
      expect([await isoIn(id), await booked(), await filesOn()]).toEqual([null, room + 1, [imageId]])

      await post(id, 'restart')
      expect(await vm(id)).toMatchObject({
        status: 'RUNNING',
        readiness: 'booting',
        statusReason: 'It starts from ISO image debian-netinst while that is attached: look at its console',
        iso: { active: true },
      })
      expect(await isoIn(id)).toBe(imageId)
      for (const verb of ['restart', 'stop', 'start']) {
        await post(id, verb)
        expect([verb, await isoIn(id), (await vm(id)).iso.active]).toEqual([verb, imageId, true])
      }
      await app.rest()
      await app.checkInvariants()

      expect((await detach(id)).status).toBe(202)
      expect([await vm(id), await isoIn(id)]).toMatchObject([{ status: 'RUNNING', iso: null }, null])
      expect((await vm(id)).statusReason).toBe(
        'It was started from ISO image debian-netinst, which is detached: restart it, and it starts from its own disk',
      )
      await post(id, 'restart')
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', statusReason: null })
      expect(await diskOf(app, id).read()).toBe('mine')
      const told = (await eventsOf(id)).filter(({ type }) => type.includes('iso'))
      expect(told.map(({ type }) => type)).toEqual(['vm.iso_attached', 'vm.iso_detached'])
      const { data } = await app.db.one<{ data: object }>(
        sql`select data from events where subject_id = ${id} and type = 'vm.iso_attached'`,
      )
      expect(data).toMatchObject({ iso: { imageId, name: 'debian-netinst' }, vm: { id } })

      await evictImages.runOnce(app.deps)
      expect([await booked(), await filesOn()]).toEqual([room, []])
      await app.rest()
      await app.checkInvariants()
    })

    test('takes effect at once with a restart, and of a VM that is off when it starts', async () => {
      const [id, imageId] = [await given(), await iso()]
      await attach(id, imageId, { restart: true })
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'booting', iso: { imageId, active: true } })
      expect((await eventsOf(id)).slice(-2).map(({ type }) => type)).toEqual(['vm.iso_attached', 'vm.restarted'])
      await detach(id)
      await attach(id, imageId) // its machine has a drive now
      expect([await vm(id), await isoIn(id)]).toMatchObject([{ iso: { active: true } }, imageId])
      await detach(id)

      await post(id, 'stop')
      await attach(id, imageId, { restart: true })
      expect(await vm(id)).toMatchObject({ status: 'STOPPED', iso: { active: false } })
      await post(id, 'start')
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', iso: { active: true } })
      await post(id, 'stop')
      await detach(id)
      expect([await vm(id), await isoIn(id)]).toMatchObject([{ status: 'STOPPED', iso: null }, null])
      await post(id, 'start')
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable' })
      await app.rest()
      await app.checkInvariants()
    })

    test('refuses a second one, what is no ISO image, and what cannot be used', async () => {
      const [id, imageId, other] = [await given(), await iso('first'), await iso('second')]
      expect(await refused(customer.delete(`/vms/${id}/iso`))).toEqual([409, 'invalid_state', 'VM has no ISO image attached'])
      const { image: disk } = (await customer.post('/images', { name: 'disk', vmId: id })).body.data
      expect((await refused(customer.put(`/vms/${id}/iso`, { imageId })))[0]).toBe(409) // it is busy
      await app.settle()
      const put = (chosen: string) => refused(customer.put(`/vms/${id}/iso`, { imageId: chosen }))
      const isDisk = 'Image disk is a disk, not an ISO image: make a VM from it, or rebuild one'
      expect(await put(disk.id)).toEqual([422, 'incompatible', isDisk])
      expect(await put('cnowhere12')).toEqual([404, 'not_found', 'Image not found'])
      await app.db.run(sql`update images set billing_status = 'SUSPENDED', past_due_at = ${app.clock.now()} where id = ${imageId}`)
      expect((await put(imageId)).slice(0, 2)).toEqual([409, 'invalid_state'])
      await app.db.run(sql`update images set billing_status = 'ACTIVE', past_due_at = null where id = ${imageId}`)
      await attach(id, imageId)
      for (const chosen of [imageId, other])
        expect(await put(chosen)).toEqual([409, 'invalid_state', 'VM has an ISO image attached: detach it first'])
      expect(await vm(id)).toMatchObject({ iso: { imageId } })
      const { body } = await customer.post('/vms', { ...(await app.given.vmInput()), osTemplateId: imageId })
      expect(body.error).toMatch(/^first is an ISO image, which is no disk: .* attach the ISO image with PUT/)
    })

    test('refuses what makes another disk or leaves its host, and says what to do', async () => {
      const id = await given()
      const { osTemplateId } = await app.given.vmInput()
      const { snapshot } = (await settled(id, customer.post(`/vms/${id}/snapshots`, { name: 'before' }))).body.data
      await attach(id, await iso())
      const because = [409, 'invalid_state', 'VM has an ISO image attached: detach it first']
      for (const [path, body] of Object.entries({
        rebuild: { osTemplateId },
        shelve: undefined,
        [`snapshots/${snapshot.id}/restore`]: undefined,
      }))
        expect([path, await refused(customer.post(`/vms/${id}/${path}`, body))]).toEqual([path, because])
      const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
      await post(id, 'upgrade', { planId: plans.find(({ slug }) => slug === 'large')!.id })
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', vcpu: 4, iso: { active: true } })
      await detach(id)
      expect((await post(id, `snapshots/${snapshot.id}/restore`)).status).toBe(202)
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable' })
    })

    test('finds neither VM nor image of another account, and needs the right to read images', async () => {
      const [id, imageId] = [await given(), await iso()]
      const stranger = await app.given.customer({ credit: '100.00' })
      const strange = await givenIso(app, stranger)
      expect((await stranger.put(`/vms/${id}/iso`, { imageId: strange })).status).toBe(404)
      expect((await stranger.delete(`/vms/${id}/iso`)).status).toBe(404)
      expect(await refused(customer.put(`/vms/${id}/iso`, { imageId: strange }))).toEqual([404, 'not_found', 'Image not found'])
      const limited = await app.given.token(customer.accountId, { scopes: ['vms:update', 'vms:read'] })
      expect((await refused(limited.put(`/vms/${id}/iso`, { imageId }))).slice(0, 2)).toEqual([403, 'missing_scope'])
      expect(await vm(id)).toMatchObject({ iso: null, currentAction: null })
      expect((await customer.get(`/images/${imageId}`)).status).toBe(200)
    })

    test('keeps its image from being deleted, until it is detached or the VM is gone', async () => {
      const [one, two, imageId] = [await given(), await given(), await iso('kept')]
      await attach(one, imageId)
      await attach(two, imageId)
      const names: string[] = [(await vm(one)).name, (await vm(two)).name].toSorted((a: string, b: string) => (a < b ? -1 : 1))
      const expected = [409, 'in_use', `Image kept is used by VM ${names[0]}, VM ${names[1]}: detach it from these first`]
      expect(await refused(customer.delete(`/images/${imageId}`))).toEqual(expected)
      await evictImages.runOnce(app.deps)
      expect(await filesOn()).toContain(imageId)
      for (let sweeps = 0; sweeps < 3; sweeps++) {
        await sweepOrphanVolumes.runOnce(app.deps)
        app.clock.advance('13h')
      }
      expect(await filesOn()).toContain(imageId)
      await detach(one)
      expect((await refused(customer.delete(`/images/${imageId}`)))[0]).toBe(409)
      await settled(two, customer.delete(`/vms/${two}`))
      expect((await customer.delete(`/images/${imageId}`)).status).toBe(200)
      await purgeImages.runOnce(app.deps)
      expect((await customer.get(`/images/${imageId}`)).status).toBe(404)
      expect(await filesOn()).not.toContain(imageId)
      await app.rest()
      await app.checkInvariants()
    })

    test('is attached once by a hundred requests at the same time, and never while its image is deleted', async () => {
      const [id, imageId] = [await given(), await iso()]
      const answers = await Promise.all(Array.from({ length: 100 }, () => customer.put(`/vms/${id}/iso`, { imageId })))
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 409]))
      await app.settle({ subjectId: id })
      await detach(id)
      for (let trial = 0; trial < 5; trial++) {
        const next = await iso()
        const [attached, deleted] = await Promise.all([
          customer.put(`/vms/${id}/iso`, { imageId: next }),
          customer.delete(`/images/${next}`),
        ])
        expect([
          [202, 409],
          [404, 200],
          [409, 200],
        ]).toContainEqual([attached.status, deleted.status])
        await app.settle()
        if (attached.status === 202) await detach(id)
      }
      await app.rest()
      await app.checkInvariants()
    })

    test('is attached to a few VMs of an account at a time', async () => {
      const imageId = await iso()
      const ids = await Promise.all(Array.from({ length: 6 }, () => given()))
      const answers = await Promise.all(ids.map((id) => customer.put(`/vms/${id}/iso`, { imageId })))
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 202, 202, 202, 409, 409])
      await app.settle()
      const last = ids[answers.findIndex(({ status }) => status === 409)]!
      expect((await attach(last, imageId)).status).toBe(202)
    })

    test('yields to a rescue, and is there again after it', async () => {
      const [id, imageId] = [await given(), await iso()]
      await attach(id, imageId, { restart: true })
      await post(id, 'rescue', { password: 'correct horse battery' })
      expect(await vm(id)).toMatchObject({ readiness: 'reachable', rescue: {}, iso: { imageId, active: false } })
      expect(await isoIn(id)).toBeNull()
      await post(id, 'restart')
      expect(await isoIn(id)).toBeNull()
      await settled(id, customer.delete(`/vms/${id}/rescue`))
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', rescue: null, iso: { active: true } })
      await post(id, 'rescue', { password: 'correct horse battery' })
      await detach(id)
      expect(await vm(id)).toMatchObject({ rescue: {}, iso: null })
      const because = [409, 'invalid_state', 'VM is in rescue: end that first']
      expect(await refused(customer.put(`/vms/${id}/iso`, { imageId }))).toEqual(because)
      await settled(id, customer.delete(`/vms/${id}/rescue`))
      expect([(await vm(id)).iso, await isoIn(id)]).toEqual([null, null])
      await app.rest()
      await app.checkInvariants()
    })

    test('is still there after its host has lost power', async () => {
      const [id, imageId] = [await given(), await iso()]
      await attach(id, imageId)
      await app.simulated.drift.stopMachine(id, 'host')
      for (let looks = 0; looks < 2; looks++) {
        await syncPowerStates.runOnce(app.deps)
        app.clock.advance('15s')
      }
      await app.settle({ subjectId: id })
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', iso: { active: true } })
    })

    test.each([
      ['running with it', { restart: true }, false],
      ['running without it yet', {}, false],
      ['off', {}, true],
    ])('follows a VM that is %s to another host, and back', async (_, more, isOff) => {
      const other = await givenHost(app, `other-${storage.toLowerCase()}-${Object.keys(more).length}-${isOff}`)
      const [id, imageId] = [await given(), await iso()]
      await attach(id, imageId, more)
      if (isOff) await post(id, 'stop')
      const { iso: before } = await vm(id)
      const room = await booked(other.id)
      await app.db.tx((tx) => startMigration(tx, app.deps, id, { to: other.id }))
      await evictImages.runOnce(app.deps)
      await app.settle({ subjectId: id })
      expect(await vm(id)).toMatchObject({ status: isOff ? 'STOPPED' : 'RUNNING', iso: before })
      expect(await filesOn(other.id)).toEqual([imageId])
      await evictImages.runOnce(app.deps)
      expect([await filesOn(other.id), (await filesOn()).includes(imageId)]).toEqual([[imageId], false])
      await post(id, isOff ? 'start' : 'restart')
      expect(await isoIn(id, other.id)).toBe(imageId)
      await app.db.tx((tx) => startMigration(tx, app.deps, id, { to: app.host.id }))
      await app.settle({ subjectId: id })
      expect([await vm(id), await isoIn(id)]).toMatchObject([{ status: 'RUNNING', iso: { active: true } }, imageId])
      await evictImages.runOnce(app.deps)
      expect([await filesOn(other.id), await booked(other.id)]).toEqual([[], room])
      await detach(id)
      await app.rest()
      await app.checkInvariants()
    })

    test('without room on its host it is refused, and nothing changes', async () => {
      const [id, imageId] = [await given(), await iso()]
      await app.db.run(sql`update hosts set disk_free_gib = 0 where id = ${app.host.id}`)
      expect((await refused(customer.put(`/vms/${id}/iso`, { imageId }))).slice(0, 2)).toEqual([503, 'no_capacity'])
      await app.db.run(sql`update hosts set disk_free_gib = null where id = ${app.host.id}`)
      expect(await vm(id)).toMatchObject({ iso: null, currentAction: null })
      expect(await app.db.many(sql`select from vm_isos where vm_id = ${id}`)).toEqual([])
      expect(await app.db.many(sql`select from image_rooms where image_id = ${imageId}`)).toEqual([])
    })

    test('a VM that cannot be started with it runs as before', async () => {
      const [id, imageId] = [await given(), await iso()]
      await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent' })
      await attach(id, imageId, { restart: true })
      expect(await vm(id)).toMatchObject({
        status: 'RUNNING',
        iso: null,
        statusReason: expect.stringMatching(/^It was restarted without the ISO image/),
      })
      expect(await isoIn(id)).toBeNull()
      expect((await eventsOf(id)).at(-1)).toEqual({ type: 'vm.restarted', reason: 'iso' })
      await app.rest()
      await app.checkInvariants()
    })

    test('leaves nothing on its host when the last VM there detaches it, at once', async () => {
      const [one, two, imageId] = [await given(), await given(), await iso()]
      const room = await booked()
      const loops = startReconcilers(app.deps, [evictImages])
      const deafen = await listenForTriggers(app.db, loops)
      await attach(one, imageId)
      await attach(two, imageId)
      expect(await booked()).toBe(room + 1)
      await detach(one)
      expect(await filesOn()).toContain(imageId)
      await detach(two)
      await expect.poll(async () => [await booked(), (await filesOn()).includes(imageId)]).toEqual([room, false])
      await deafen()
      await loops.stop()
    })

    test('is on its host whatever is removed there while it is attached', async () => {
      const [one, two] = [await given(), await given()]
      const [first, second] = [await iso('first'), await iso('second')]
      for (const [id, imageId] of [
        [one, first],
        [two, second],
      ] as const) {
        await attach(id, imageId)
        await detach(id)
      }
      const asked: string[] = []
      const meanwhile = async (imageId: string): Promise<void> => {
        asked.push(imageId)
        if (asked.length > 1) return
        await attach(one, first)
        await attach(two, second)
      }
      const get = async (hostId: string): Promise<Driver> => {
        const driver = await app.deps.hypervisors.get(hostId)
        return { ...driver, ensureNoIso: (imageId, signal) => meanwhile(imageId).then(() => driver.ensureNoIso(imageId, signal)) }
      }
      await evictImages.runOnce({ ...app.deps, hypervisors: { ...app.deps.hypervisors, get } })
      expect(asked).toHaveLength(1) // the other was needed when its turn came
      expect(await filesOn()).toEqual(expect.arrayContaining([first, second]))
      for (const id of [one, two]) {
        await post(id, 'restart')
        expect(await vm(id)).toMatchObject({ iso: { active: true } })
        await detach(id)
      }
      await evictImages.runOnce(app.deps)
      for (const imageId of [first, second]) expect(await filesOn()).not.toContain(imageId)
      await app.rest()
      await app.checkInvariants()
    })

    test('of a lost host is detached at once by its owner, and the machine is put right when the host returns', async () => {
      const host = await givenHost(app, `away-${storage.toLowerCase()}`)
      const [id, imageId] = [await given(host.id), await iso()]
      await attach(id, imageId, { restart: true })
      await goesAway(app, host.id)
      expect((await detach(id)).status).toBe(202)
      expect(await vm(id)).toMatchObject({ iso: null, currentAction: null })
      await comesBack(app, host.id, id)
      expect(await isoIn(id, host.id)).toBeNull()
      expect(await app.db.many(sql`select from stale_machines where vm_id = ${id}`)).toEqual([])
      expect((await customer.delete(`/images/${imageId}`)).status).toBe(200)
      await purgeImages.runOnce(app.deps)
      expect((await customer.get(`/images/${imageId}`)).status).toBe(404)
    })
  })
}
