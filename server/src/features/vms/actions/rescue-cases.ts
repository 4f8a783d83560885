// On LOCAL storage in `npm test`, on REPLICATED in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { comesBack, goesAway } from '../../../../test/away-host.ts'
import { testApp } from '../../../../test/harness.ts'
import { givenHost, placeOn } from '../../../../test/hosts.ts'
import { generateKey } from '../../../../test/openssh-keys.ts'
import { sellReplicated } from '../../../../test/replicated-storage.ts'
import { allowManyVms, diskOf, volumesOf } from '../../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../../kernel/database/db.ts'
import { sweepOrphanVolumes } from '../../backups/orphan-volumes.reconciler.ts'
import { publishImage } from '../../catalog/images.ts'
import { findTemplate } from '../../catalog/service.ts'
import { endRescues } from '../reconcilers/rescues.reconciler.ts'
import { syncPowerStates } from '../reconcilers/power-sync.reconciler.ts'
import { endRescueByOperator, startMigration, suspendByOperator, unsuspendByOperator } from '../service.ts'

export function describeRescue(storage: 'LOCAL' | 'REPLICATED'): void {
  describe(`POST and DELETE /vms/{id}/rescue, on ${storage} storage`, async () => {
    const app = await testApp()
    if (storage === 'REPLICATED') await sellReplicated(app)
    await allowManyVms(app)
    await app.db.run(sql`update address_pools set host_id = null`)
    const customer = await app.given.customer({ credit: '10000.00' })
    const { id: keyId, publicKey: key } = (await customer.post('/ssh-keys', { name: 'mine', publicKey: generateKey().line })).body.data
    const { id: otherKeyId, publicKey: otherKey } = (await customer.post('/ssh-keys', { name: 'other', publicKey: generateKey().line }))
      .body.data

    const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
    const settled = async <T>(id: string, answer: Promise<T>): Promise<T> => {
      const got = await answer
      await app.settle({ subjectId: id })
      return got
    }
    const post = (id: string, verb: string, body?: unknown) => settled(id, customer.post(`/vms/${id}/${verb}`, body))
    const rescue = (id: string, body: unknown = {}) => post(id, 'rescue', body)
    const unrescue = (id: string) => settled(id, customer.delete(`/vms/${id}/rescue`))
    const givenVm = (input = {}) => placeOn(app, app.host.id, () => app.given.vm(customer, input))
    const given = async () => (await givenVm({ sshKeyIds: [keyId] })).id
    const rescued = async () => {
      const id = await given()
      await diskOf(app, id).write('mine')
      expect(await rescue(id)).toMatchObject({ status: 202 })
      expect(await vm(id)).toMatchObject({ rescue: { user: 'root' } })
      return id
    }
    const own = (id: string) => app.simulated.drift.readOwnFile(id, 'moment')
    const used = () =>
      app.db.one(sql`
      select disk_used_gib, disk_restoring_gib, array(select array[used_gib, restoring_gib] from storage_backends) as pools from hosts where id = ${app.host.id}`)
    const eventsOf = async (id: string): Promise<string[]> =>
      (await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${id} order by number`)).map(({ type }) => type)
    const refused = async (answer: Promise<{ status: number; headers: Record<string, unknown>; body: { error: string } }>) => {
      const { status, headers, body } = await answer
      return [status, headers['x-error-code'], body.error]
    }

    test('starts the rescue system with the keys of the VM, keeps everything else, and leaves nothing behind', async () => {
      const id = await given()
      await diskOf(app, id).write('mine')
      const [before, room] = [await vm(id), await used()]
      expect(before).toMatchObject({ rescue: null, allowedActions: expect.arrayContaining(['rescue']) })
      expect(before.allowedActions).not.toContain('unrescue')
      const balance = (await customer.get('/wallet')).body.data

      const answer = await customer.post(`/vms/${id}/rescue`, {})
      expect(answer.status).toBe(202)
      expect(await vm(id)).toMatchObject({ rescue: null, currentAction: { action: 'RESCUE' }, allowedActions: [] })
      await app.settle({ subjectId: id })
      const now = app.clock.now()
      const inRescue = await vm(id)
      expect(inRescue).toMatchObject({
        status: 'RUNNING',
        readiness: 'reachable',
        rescue: { since: now.toISOString(), endsAt: new Date(now.getTime() + 86_400_000).toISOString(), user: 'root' },
      })
      expect(inRescue.allowedActions).toEqual([
        'stop',
        'restart',
        'delete',
        'snapshot',
        'backup',
        'attach',
        'detach',
        'grow',
        'console',
        'unrescue',
      ])
      for (const field of ['ipAddress', 'ipv6Address', 'plan', 'billing', 'osTemplate', 'sshKeys'])
        expect([field, inRescue[field]]).toEqual([field, before[field]])
      expect((await customer.get('/wallet')).body.data).toEqual(balance)
      expect(await app.simulated.drift.login(id)).toMatchObject({
        user: 'root',
        sshKeys: [key],
        passwordHash: null,
        hostname: before.hostname,
      })
      expect([await diskOf(app, id).read(), await own(id)]).toEqual([null, 'mine'])
      expect(await used()).not.toEqual(room)
      expect((await volumesOf(app, id)).length).toBe(4)
      await app.rest()
      await app.checkInvariants()

      expect((await unrescue(id)).status).toBe(202)
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', rescue: null, statusReason: null })
      expect(await diskOf(app, id).read()).toBe('mine')
      expect(await volumesOf(app, id)).toEqual(['disk 1', 'seed 1'])
      expect(await used()).toEqual(room)
      expect((await eventsOf(id)).slice(-2)).toEqual(['vm.rescue_started', 'vm.rescue_ended'])
      expect(await app.db.many(sql`select from vm_rescues`)).toEqual([])
      await app.rest()
      await app.checkInvariants()
    })

    test('lets in who is named, and nobody without a name', async () => {
      const id = await given()
      await rescue(id, { sshKeyIds: [otherKeyId], password: 'correct horse battery' })
      const { sshKeys, passwordHash } = await app.simulated.drift.login(id)
      expect([sshKeys, passwordHash]).toEqual([[otherKey], expect.stringMatching(/^\$6\$/)])
      await unrescue(id)
      expect((await app.simulated.drift.login(id)).sshKeys).toEqual([key])

      const { id: keyless } = await givenVm()
      const nobody = 'Validation failed: nobody could log in to the rescue system: give sshKeyIds, or a password'
      expect(await refused(customer.post(`/vms/${keyless}/rescue`, {}))).toEqual([400, 'validation_failed', nobody])
      expect(await refused(customer.post(`/vms/${id}/rescue`, { sshKeyIds: [] }))).toEqual([400, 'validation_failed', nobody])
      expect((await rescue(keyless, { password: 'correct horse battery' })).status).toBe(202)
      const told = JSON.stringify(await app.db.many(sql`select input, error from workflow_runs where subject_id = ${keyless}`))
      expect(told).not.toContain('correct horse')
      expect(told).not.toContain('$6$')
      await unrescue(keyless)
    })

    test('finds neither VM nor key of another account, and no key that does not exist', async () => {
      const id = await given()
      const stranger = await app.given.customer()
      const { id: strange } = (await stranger.post('/ssh-keys', { name: 'x', publicKey: generateKey().line })).body.data
      expect((await stranger.post(`/vms/${id}/rescue`, { sshKeyIds: [strange] })).status).toBe(404)
      expect((await stranger.delete(`/vms/${id}/rescue`)).status).toBe(404)
      expect(await refused(customer.post(`/vms/${id}/rescue`, { sshKeyIds: [strange] }))).toEqual([404, 'not_found', 'SSH key not found'])
      expect(await vm(id)).toMatchObject({ rescue: null, currentAction: null })
    })

    test('rescues a VM that is off, or protected, and leaves one off that was stopped in rescue', async () => {
      const id = await given()
      await post(id, 'stop')
      await customer.patch(`/vms/${id}`, { isProtected: true })
      await rescue(id)
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', rescue: {} })
      expect((await eventsOf(id)).slice(-2)).toEqual(['vm.rescue_started', 'vm.started'])
      await post(id, 'stop')
      expect(await vm(id)).toMatchObject({ status: 'STOPPED', rescue: {} })
      await unrescue(id)
      expect(await vm(id)).toMatchObject({ status: 'STOPPED', rescue: null })
      expect(await volumesOf(app, id)).toEqual(['disk 1', 'seed 1'])
      await post(id, 'start')
      expect(await diskOf(app, id).read()).toBeNull()
      expect((await app.simulated.drift.login(id)).sshKeys).toEqual([key])
    })

    test('stays in rescue when it is stopped, started, restarted, or loses power', async () => {
      const id = await rescued()
      await diskOf(app, id).write('in rescue')
      for (const verb of ['stop', 'start', 'restart']) await post(id, verb)
      expect([await diskOf(app, id).read(), await own(id)]).toEqual(['in rescue', 'mine'])
      await app.simulated.drift.stopMachine(id, 'host')
      for (let looks = 0; looks < 2; looks++) {
        await syncPowerStates.runOnce(app.deps)
        app.clock.advance('15s')
      }
      await app.settle({ subjectId: id })
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', rescue: {} })
      expect(await diskOf(app, id).read()).toBe('in rescue')
      await unrescue(id)
      expect(await diskOf(app, id).read()).toBe('mine')
    })

    test('refuses what is done to its own system or to the machine as a whole, and nothing of it happens', async () => {
      const id = await rescued()
      const { osTemplateId } = await app.given.vmInput()
      const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
      const planId = plans.find(({ slug }) => slug === 'large')!.id
      const because = [409, 'invalid_state', 'VM is in rescue: end that first']
      for (const [verb, body] of Object.entries({
        rescue: {},
        upgrade: { planId },
        resize: { planId },
        rebuild: { osTemplateId },
        password: { password: 'correct horse battery' },
        shelve: undefined,
      }))
        expect([verb, await refused(customer.post(`/vms/${id}/${verb}`, body))]).toEqual([verb, because])
      await givenHost(app, `other-${storage.toLowerCase()}`)
      await expect(app.db.tx((tx) => startMigration(tx, app.deps, id, {}))).rejects.toThrow('VM is in rescue')
      const { snapshot } = (await settled(id, customer.post(`/vms/${id}/snapshots`, { name: 'in rescue' }))).body.data
      expect(await refused(customer.post(`/vms/${id}/snapshots/${snapshot.id}/restore`))).toEqual(because)
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', rescue: {} })
      await unrescue(id)
      expect(await refused(customer.delete(`/vms/${id}/rescue`))).toEqual([409, 'invalid_state', 'VM is not in rescue'])
      await diskOf(app, id).write('changed')
      await settled(id, customer.post(`/vms/${id}/snapshots/${snapshot.id}/restore`))
      expect(await diskOf(app, id).read()).toBe('mine') // the snapshot is of its own disk
    })

    test('attaches and detaches networks in rescue, and keeps them', async () => {
      const network = (await customer.post('/networks', { name: 'inside', nodeId: app.host.id, cidr: '10.8.0.0/24' })).body.data
      const id = await rescued()
      await post(id, 'networks', { networkId: network.id })
      await unrescue(id)
      expect((await vm(id)).privateNetworks).toMatchObject([{ id: network.id }])
      await app.rest()
      await app.checkInvariants()
    })

    test('ends by itself after 24 hours, which is told once, also for a VM that is suspended', async () => {
      const [running, suspended] = [await rescued(), await rescued()]
      await suspendByOperator(app.deps, suspended)
      await app.settle()
      app.clock.advance('23h')
      await endRescues.runOnce(app.deps)
      expect(await vm(running)).toMatchObject({ currentAction: null, rescue: {} })
      app.clock.advance('61m')
      await endRescues.runOnce(app.deps)
      await endRescues.runOnce(app.deps)
      await app.settle()
      expect(await vm(running)).toMatchObject({ status: 'RUNNING', rescue: null })
      expect(await vm(suspended)).toMatchObject({ status: 'SUSPENDED', rescue: null })
      expect((await eventsOf(running)).slice(-3)).toEqual(['vm.rescue_started', 'vm.rescue_expired', 'vm.rescue_ended'])
      expect((await eventsOf(suspended)).slice(-2)).toEqual(['vm.rescue_expired', 'vm.rescue_ended'])
      expect(await volumesOf(app, suspended)).toEqual(['disk 1', 'seed 1'])
      await unsuspendByOperator(app.deps, suspended)
      await app.settle()
      expect(await vm(suspended)).toMatchObject({ status: 'RUNNING', rescue: null })
      expect(await diskOf(app, suspended).read()).toBe('mine')
    })

    test('is deleted from rescue with everything', async () => {
      const room = await used()
      const id = await rescued()
      await settled(id, customer.delete(`/vms/${id}`))
      expect((await customer.get(`/vms/${id}`)).status).toBe(404)
      expect(await volumesOf(app, id)).toEqual([])
      expect(await used()).toEqual(room)
      await app.rest()
      await app.checkInvariants()
    })

    test('is begun once by a hundred requests at the same time', async () => {
      const id = await given()
      const room = await used()
      const answers = await Promise.all(Array.from({ length: 100 }, () => customer.post(`/vms/${id}/rescue`, {})))
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 409]))
      await app.settle({ subjectId: id })
      await unrescue(id)
      expect(await used()).toEqual(room)
    })

    test('keeps its disk and that of the rescue system in the sweep of orphans', async () => {
      const id = await rescued()
      for (let sweeps = 0; sweeps < 3; sweeps++) {
        await sweepOrphanVolumes.runOnce(app.deps)
        app.clock.advance('2h')
      }
      expect(await volumesOf(app, id)).toHaveLength(4)
      await post(id, 'restart')
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', rescue: {} })
      await unrescue(id)
    })

    test('without room, system or enough RAM it is refused, and nothing changes', async () => {
      const id = await given()
      await app.db.run(sql`update os_templates set available = false where slug = 'tiny'`)
      expect((await refused(customer.post(`/vms/${id}/rescue`, {}))).slice(0, 2)).toEqual([422, 'unavailable'])
      await app.db.run(sql`update os_templates set available = true, min_ram_mib = 65536 where slug = 'tiny'`)
      expect((await refused(customer.post(`/vms/${id}/rescue`, {}))).slice(0, 2)).toEqual([422, 'incompatible'])
      await app.db.run(sql`update os_templates set min_ram_mib = 256 where slug = 'tiny'`)
      await app.db.run(sql`update hosts set disk_free_gib = 0 where id = ${app.host.id}`)
      await app.db.run(sql`update storage_backends set free_gib = 0, measured_at = now()`)
      expect((await refused(customer.post(`/vms/${id}/rescue`, {}))).slice(0, 2)).toEqual([503, 'no_capacity'])
      await app.db.run(sql`update hosts set disk_free_gib = null where id = ${app.host.id}`)
      await app.db.run(sql`update storage_backends set free_gib = capacity_gib`)
      expect(await vm(id)).toMatchObject({ rescue: null, currentAction: null })
      expect(await app.db.many(sql`select from vm_rescues where vm_id = ${id}`)).toEqual([])
    })

    test('keeps its template while the operator publishes another image of it', async () => {
      const id = await rescued()
      const image = { checksum: `sha256:${'7'.repeat(64)}`, fileBytes: 1, virtualBytes: 1, arch: 'x86_64', origin: 'test' }
      const publish = (checksum: string) =>
        app.db.tx(async (tx) => publishImage(tx, app.clock.now(), (await findTemplate(tx, 'tiny'))!, { ...image, checksum }))
      await publish(image.checksum)
      await publish(`sha256:${'8'.repeat(64)}`)
      await post(id, 'restart')
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', rescue: { user: 'root' } })
      await unrescue(id)
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', rescue: null })
    })

    test('of a lost host ends at once by its owner, and the machine is put right when the host returns', async () => {
      const host = await givenHost(app, `away-${storage.toLowerCase()}`)
      const { id } = await placeOn(app, host.id, () => app.given.vm(customer, { sshKeyIds: [keyId] }))
      await rescue(id)
      await goesAway(app, host.id)
      expect((await unrescue(id)).status).toBe(202)
      expect(await vm(id)).toMatchObject({ rescue: null, currentAction: null })
      await comesBack(app, host.id, id)
      const driver = await app.deps.hypervisors.get(host.id)
      expect(await driver.findMachine(id, AbortSignal.timeout(5_000))).toMatchObject({ power: 'running', rescueGeneration: null })
      await sweepOrphanVolumes.runOnce(app.deps)
      app.clock.advance('2h')
      await sweepOrphanVolumes.runOnce(app.deps)
      expect((await volumesOf(app, id)).length).toBe(2)
      expect(await app.db.many(sql`select from stale_machines where vm_id = ${id}`)).toEqual([])
    })

    test('is ended by the operator, with an entry in the audit log, and not begun on a host in maintenance', async () => {
      const id = await rescued()
      const end = () => app.db.tx((tx) => endRescueByOperator(tx, app.deps, id))
      await end()
      await expect(end()).rejects.toThrow('VM is busy: action UNRESCUE')
      await app.settle({ subjectId: id })
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', rescue: null })
      expect(await diskOf(app, id).read()).toBe('mine')
      const { data } = await app.db.one<{ data: object }>(
        sql`select data from events where subject_id = ${id} and type = 'vm.rescue_ended' order by number desc limit 1`,
      )
      expect(data).toMatchObject({ reason: 'operator' })
      const entries = sql`select from audit_log where action = 'vm unrescue' and ${id} = any(resource_ids)`
      expect(await app.db.many(entries)).toHaveLength(1)
      await expect(end()).rejects.toThrow('VM is not in rescue')
      await app.db.run(sql`update hosts set maintenance = true where id = ${app.host.id}`)
      expect(await refused(customer.post(`/vms/${id}/rescue`, {}))).toEqual([
        422,
        'unavailable',
        'The host of this VM is in maintenance, so no rescue is begun there: try again when that is over',
      ])
      await app.db.run(sql`update hosts set maintenance = false where id = ${app.host.id}`)
      expect(await app.db.many(sql`select from vm_rescues where vm_id = ${id}`)).toEqual([])
    })

    test.each([
      ['running', []],
      ['in ERROR', ['stop']],
    ])('of a VM that is %s ends although its disk is gone', async (what, verbs) => {
      const id = await rescued()
      const room = await used()
      for (const verb of verbs) await post(id, verb)
      if (what === 'in ERROR') await app.db.run(sql`update vms set status = 'ERROR' where id = ${id}`)
      await app.db.run(sql`delete from simulated.volumes where vm_id = ${id} and kind = 'disk' and generation = 1`)
      expect((await unrescue(id)).status).toBe(202)
      expect(await vm(id)).toMatchObject({
        status: 'ERROR',
        statusReason: 'Its host no longer has the disk of this VM: rebuild it, restore a backup, or delete it',
        rescue: null,
        allowedActions: expect.arrayContaining(['rebuild', 'delete']),
      })
      expect((await eventsOf(id)).slice(-2)).toContain('vm.rescue_ended')
      expect(await used()).not.toEqual(room)
      const { osTemplateId } = await app.given.vmInput()
      await post(id, 'rebuild', { osTemplateId })
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', rescue: null })
      await app.rest()
      await app.checkInvariants()
    })

    test('a guest that does not boot is advised to be rescued', async () => {
      const id = await given()
      await app.simulated.drift.hangGuest(id)
      await post(id, 'restart', { force: true })
      expect((await vm(id)).statusReason).toBe(
        'It runs, but its guest agent does not answer: look at its console, or start it in rescue to mend its disk',
      )
      expect((await vm(id)).allowedActions).toContain('rescue')
      await rescue(id)
      expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', rescue: {} })
      await unrescue(id)
    })
  })
}
