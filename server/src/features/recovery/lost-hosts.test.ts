// A host is lost whose VMs have their disks in a storage backend: nothing starts elsewhere before it is fenced, then everything does.
import { follow, givenLostHosts, leaveOpen, look, lose, placeOf, powerOn, SILENCE, stateOf } from '../../../test/lost-hosts.ts'
import { describe, expect, test } from 'vitest'
import { controlOf } from '../../../test/hosts.ts'
import { recoverFenced } from '../../commands/admin/host-recover.ts'
import { sql } from '../../kernel/database/db.ts'
import { changeRecovery } from '../catalog/service.ts'
import { heartbeat } from '../hosts/heartbeat.reconciler.ts'
import { getHost, lostSince, pathsOf, removeHost } from '../hosts/service.ts'
import { suspendByOperator } from '../vms/service.ts'
import { findFence, listWaitingRecoveries, planRecovery, requestFence, requestRecovery, startRecoveries } from './service.ts'

describe('a lost host', async () => {
  const { app, customer, hostToLose, vmOn, vmOf } = await givenLostHosts()

  test('is fenced, and its VMs are elsewhere with their disks, addresses, networks and volumes', async () => {
    const host = await hostToLose()
    const { id: networkId } = (await customer.post('/networks', { name: 'inside', nodeId: host.id, cidr: '10.9.0.0/24' })).body.data
    await app.rest()
    const { id } = await vmOn(host, { privateNetworkIds: [networkId] })
    const [off, held] = [await vmOn(host), await vmOn(host)]
    const volume = (
      await customer.post('/volumes', { name: 'data', sizeGiB: 10, vmId: id, regionId: host.region_id, storage: 'REPLICATED' })
    ).body.data
    await customer.post(`/vms/${off.id}/stop`, { force: true })
    await app.settle()
    await suspendByOperator(app.deps, held.id)
    await app.settle()
    await controlOf(app, host.id).drift.writeFile(id, 'moment', 'last')
    const [before, balance] = [await placeOf(app, id), (await customer.get('/wallet')).body.data.balance]
    await lose(app, host)
    await follow(app)

    expect(await stateOf(app, host)).toMatchObject({ isFenced: true, maintenance: true, fence: { means: ['BLOCKLIST'], error: null } })
    expect(await app.db.many(sql`select client from simulated.blocklist`)).toEqual([{ client: `${host.id}:0/0` }])
    const after = await placeOf(app, id)
    expect(after).toEqual({ ...before, host_id: app.host.id })
    expect(await vmOf(id)).toMatchObject({ status: 'RUNNING', statusReason: 'Its host failed, and it was started on another' })
    expect([(await vmOf(off.id)).status, (await vmOf(held.id)).status]).toEqual(['STOPPED', 'SUSPENDED'])
    for (const each of [off.id, held.id]) expect((await placeOf(app, each)).host_id).toBe(app.host.id)
    expect([await powerOn(app, app.host.id, id), await powerOn(app, app.host.id, off.id)]).toEqual(['running', 'stopped'])
    expect(await app.simulated.drift.readFile(id, 'moment')).toBe('last')
    expect((await customer.get(`/volumes/${volume.id}`)).body.data).toMatchObject({ status: 'ATTACHED', vmId: id })
    expect(await app.db.many(sql`select distinct host from simulated.ports where vm_id = ${id}`)).toEqual([{ host: app.host.hostname }])
    expect((await customer.get('/wallet')).body.data.balance).toBe(balance)
    expect((await customer.get(`/vms/${id}/actions`)).body.data[0]).toMatchObject({ action: 'RECOVER', status: 'COMPLETED' })
    expect(await app.db.one(sql`select vcpu_used, ram_used_mib from hosts where id = ${host.id}`)).toEqual({
      vcpu_used: 0,
      ram_used_mib: 0,
    })
    await customer.post(`/vms/${off.id}/start`)
    await app.settle()
    expect((await vmOf(off.id)).status).toBe('RUNNING')
    await expect(app.db.tx((tx) => removeHost(tx, app.clock.now(), { ...host, fenced_at: app.clock.now() }))).rejects.toMatchObject({
      code: 'in_use',
    })

    await controlOf(app, host.id).faults.returnHost()
    await follow(app)
    expect(await stateOf(app, host)).toEqual({ isFenced: false, maintenance: true, fence: undefined })
    expect(await app.db.many(sql`select from simulated.machines where host_id = ${host.id}`)).toEqual([])
    expect(await app.db.many(sql`select from simulated.blocklist`)).toEqual([])
    expect(await app.simulated.drift.readFile(id, 'moment')).toBe('last')
    await app.rest()
    await app.checkInvariants()
  })

  test('keeps what finds no room, which starts when there is some, or on the host when that returns', async () => {
    const host = await hostToLose()
    const [first, second, third] = [await vmOn(host), await vmOn(host), await vmOn(host)]
    const { ram_mib } = await app.db.one<{ ram_mib: number }>(sql`select ram_mib from vms where id = ${first.id}`)
    const limit = (vms: number) =>
      app.db.run(sql`update hosts set ram_total_mib = ram_used_mib + ${vms * ram_mib} where id = ${app.host.id}`)
    const { ram_total_mib } = await getHost(app.db, app.host.id)
    await limit(1)
    await lose(app, host)
    await follow(app)
    expect([(await placeOf(app, first.id)).host_id, (await vmOf(first.id)).status]).toEqual([app.host.id, 'RUNNING'])
    for (const { id } of [second, third]) {
      expect((await placeOf(app, id)).host_id).toBe(host.id)
      expect(await vmOf(id)).toMatchObject({ status: 'ERROR', statusReason: expect.stringContaining('as soon as there is room') })
    }
    const waits = (vmId: string) => ({ vm_id: vmId, source: host.name, host_name: null, problem: expect.stringContaining('there is room') })
    expect(await listWaitingRecoveries(app.db)).toMatchObject(
      [second, third].map(({ id }) => ({ ...waits(id), next_attempt_at: expect.any(Date) })),
    )
    await limit(1)
    await follow(app)
    expect([(await placeOf(app, second.id)).host_id, (await vmOf(second.id)).status]).toEqual([app.host.id, 'RUNNING'])
    await app.checkInvariants()
    await controlOf(app, host.id).faults.returnHost()
    await follow(app)
    expect([(await placeOf(app, third.id)).host_id, (await vmOf(third.id)).status]).toEqual([host.id, 'RUNNING'])
    expect(await app.db.many(sql`select vm_id from simulated.machines where host_id = ${host.id}`)).toEqual([{ vm_id: third.id }])
    await app.db.run(sql`update hosts set ram_total_mib = ${ram_total_mib} where id = ${app.host.id}`)
    await app.db.run(sql`update hosts set maintenance = false`)
    await app.rest()
    await app.checkInvariants()
  })

  test('ends what was under way on it, and loses its VMs once more where the next host is lost too', async () => {
    const [host, next] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(host)
    await vmOn(next) // by which the storage backend knows it
    await lose(app, host)
    await customer.post(`/vms/${id}/restart`)
    await leaveOpen(app, next)
    await look(app)
    for (let pass = 0; pass < 10 && (await placeOf(app, id)).host_id === host.id; pass++) {
      await app.settle({ rounds: 3 }).catch(() => undefined)
      app.clock.advance('11s')
      await look(app)
    }
    expect((await placeOf(app, id)).host_id).toBe(next.id)
    await leaveOpen(app, app.host)
    await controlOf(app, next.id).faults.loseHost()
    await look(app)
    app.clock.advance(SILENCE)
    await look(app)
    await expect(app.settle({ subjectId: id, rounds: 2 })).rejects.toThrow('still open runs')
    await follow(app)
    await follow(app)
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    await app.rest()
    await app.checkInvariants()
  })

  test('is recovered by an operator while a worker does so too: what that one has moved counts', async () => {
    const host = await hostToLose()
    const [{ id }, other] = [await vmOn(host), await vmOn(host)]
    await lose(app, host)
    const { actionId } = (await customer.post(`/vms/${id}/snapshots`, { name: 'before' })).body.data
    await app.db.tx((tx) => changeRecovery(tx, 'fra1', { autoRecovery: false }))
    await requestFence(app.deps, await getHost(app.db, host.id))
    await app.settle({ subjectId: host.id })
    let pauses = 0
    const pause = async () => {
      pauses++
      await app.settle({ rounds: 3 }).catch(() => undefined)
      await look(app)
    }
    const { started, runs } = await recoverFenced(app.deps, await getHost(app.db, host.id), undefined, { isShown: false, pause })
    expect(started.map(({ vmId, outcome }) => [vmId, outcome])).toEqual([[other.id, 'STARTED']])
    expect(new Map(runs.map((run) => [run.vm_id, run.status]))).toEqual(
      new Map([
        [id, 'COMPLETED'],
        [other.id, 'COMPLETED'],
      ]),
    )
    expect(pauses).toBeLessThan(10)
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data.status).not.toBe('RUNNING')
    await app.db.tx((tx) => changeRecovery(tx, 'fra1', { autoRecovery: true }))
    await controlOf(app, host.id).faults.returnHost()
    await follow(app)
    await app.db.run(sql`update hosts set maintenance = false`)
    await app.rest()
    await app.checkInvariants()
  })

  test('does not wait for what is being undone on it', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    const { actionId } = (await customer.post(`/vms/${id}/snapshots`, { name: 'before' })).body.data
    await controlOf(app, host.id).faults.loseHost()
    const run = () => app.db.one<{ compensating: boolean }>(sql`select compensating from workflow_runs where id = ${actionId}`)
    for (let pass = 0; pass < 20 && !(await run()).compensating; pass++) {
      await app.settle({ rounds: 1 }).catch(() => undefined)
      app.clock.advance('5s')
    }
    expect(await run()).toEqual({ compensating: true })
    await lose(app, host)
    for (let pass = 0; pass < 6; pass++) {
      await look(app)
      await app.settle({ rounds: 5 }).catch(() => undefined)
      app.clock.advance('11s')
    }
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    expect(await run()).toEqual({ compensating: false })
    await app.rest()
    await app.checkInvariants()
  })

  test('keeps the rule of a placement group', async () => {
    const [host, other] = [await hostToLose(), await hostToLose()]
    const group = (await customer.post('/placement-groups', { name: 'apart', policy: 'STRICT_SPREAD' })).body.data
    const [here, there] = [await vmOn(host, { placementGroupId: group.id }), await vmOn(other, { placementGroupId: group.id })]
    await lose(app, host)
    await leaveOpen(app, other)
    await follow(app)
    expect((await placeOf(app, here.id)).host_id).toBe(host.id)
    await leaveOpen(app, other, app.host)
    await follow(app)
    expect([(await placeOf(app, here.id)).host_id, (await placeOf(app, there.id)).host_id]).toEqual([app.host.id, other.id])
    await app.db.run(sql`update hosts set maintenance = false`)
    await app.rest()
    await app.checkInvariants()
  })
})

describe('without automatic recovery a lost host', async () => {
  const { app, customer, hostToLose, vmOn, vmOf } = await givenLostHosts({ isAutomatic: false })

  test('is reported, and fenced and recovered by an operator', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await app.db.run(sql`update plans set storage = 'LOCAL'`)
    const local = await vmOn(host)
    await app.db.run(sql`update plans set storage = 'REPLICATED'`)
    await expect(requestFence(app.deps, host)).rejects.toMatchObject({ code: 'in_use', message: expect.stringContaining('answers') })
    await lose(app, host)
    await follow(app)
    const since = (await getHost(app.db, host.id)).unreachable_since!.toISOString()
    const shown = await vmOf(id)
    expect(shown).toMatchObject({ status: 'RUNNING', hostUnreachableSince: since })
    expect(shown.statusReason).toContain(`Its host has not answered since ${since}`)
    const listed = (await customer.get('/vms')).body.data as { id: string; hostUnreachableSince: string | null }[]
    expect(listed.find((vm) => vm.id === id)).toMatchObject({ status: 'RUNNING', hostUnreachableSince: since })
    expect(await findFence(app.db, host.id)).toBeUndefined()
    expect(await app.deps.metrics.registry.metrics()).toContain(`berth_host_lost{host="${host.name}"} 1`)
    const paths = (await pathsOf(app.db, [await getHost(app.db, host.id)])).get(host.id)!
    expect(paths).toMatchObject([
      { path: 'LIBVIRT', silentSince: expect.any(Date) },
      { path: 'CHASSIS', silentSince: expect.any(Date), problem: null },
      { path: 'STORAGE', silentSince: expect.any(Date), seenAt: null, problem: null },
    ])
    expect(lostSince(paths)).not.toBeNull()
    await expect(startRecoveries(app.deps, host.id, undefined)).rejects.toThrow('neither fenced nor')
    const plan = await planRecovery(app.deps, host, undefined)
    expect(plan.vms).toMatchObject([
      { id, outcome: 'WAITS', problem: expect.stringContaining('host fence') },
      { id: local.id, outcome: 'LOST' },
    ])

    await requestFence(app.deps, await getHost(app.db, host.id))
    await app.settle()
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true, fence: { recovers: false } })
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([host.id, 'RUNNING'])
    const refused = await customer.post(`/vms/${id}/restart`)
    expect([refused.status, refused.body.error]).toEqual([503, expect.stringContaining('does not answer: the VM goes on by itself')])
    expect((await planRecovery(app.deps, host, undefined)).vms[0]).toMatchObject({ id, outcome: 'RESTARTED', host: 'local' })
    expect(await planRecovery(app.deps, host, undefined, false)).toMatchObject({
      vms: [
        { id, outcome: 'RESTARTED', host: 'local' },
        { id: local.id, outcome: 'STAYS', problem: expect.stringMatching(/^Its disk is on rack1\..*it has no backup elsewhere/) },
      ],
      backups: 0,
    })
    await requestRecovery(app.deps, host)
    const started = await startRecoveries(app.deps, host.id, undefined)
    expect(started).toEqual([
      { vmId: id, name: 'web-1', outcome: 'STARTED', runId: expect.any(String) },
      {
        vmId: local.id,
        name: 'web-1',
        outcome: 'WAITS',
        reason: expect.stringMatching(/^Its disk is on rack1\..*it has no backup elsewhere/),
      },
    ])
    await app.settle()
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    expect(await vmOf(local.id)).toMatchObject({ status: 'RUNNING' })
    await app.rest()
    await app.checkInvariants()
    expect([(await placeOf(app, local.id)).host_id, (await vmOf(local.id)).status]).toEqual([host.id, 'RUNNING'])
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('RUNNING')
  })

  test('is recovered only while it is silent and its fence holds', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await lose(app, host)
    await requestFence(app.deps, await getHost(app.db, host.id))
    await app.settle()
    app.clock.advance('5s')
    await controlOf(app, host.id).faults.returnHost()
    await expect(requestRecovery(app.deps, host)).rejects.toMatchObject({ code: 'in_use', message: expect.stringContaining('answers') })
    await heartbeat.runOnce(app.deps)
    await expect(startRecoveries(app.deps, host.id, undefined)).rejects.toMatchObject({ message: expect.stringContaining('answers') })
    app.clock.advance('5s')
    await controlOf(app, host.id).faults.loseHost()
    await heartbeat.runOnce(app.deps)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true })
    await expect(startRecoveries(app.deps, host.id, undefined)).rejects.toMatchObject({
      message: expect.stringContaining('fences it again'),
    })
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: { means: [], recovers: false } })
    await follow(app)
    await app.db.run(sql`delete from simulated.blocklist`)
    await expect(startRecoveries(app.deps, host.id, undefined)).rejects.toMatchObject({
      message: expect.stringContaining('fences it again'),
    })
    await follow(app)
    expect(await startRecoveries(app.deps, host.id, undefined)).toMatchObject([{ vmId: id, outcome: 'STARTED' }])
    await app.settle()
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    await app.rest()
    await app.checkInvariants()
  })

  test('whose network controller or storage cannot be asked is not called lost', async () => {
    const host = await hostToLose()
    await vmOn(host)
    await lose(app, host)
    await controlOf(app, host.region_id).faults.loseHost()
    await look(app)
    const paths = (await pathsOf(app.db, [await getHost(app.db, host.id)])).get(host.id)!
    expect([lostSince(paths), paths[1]]).toMatchObject([null, { path: 'CHASSIS', silentSince: null, problem: expect.any(String) }])
    await app.rest()
    await app.checkInvariants()
  })
})
