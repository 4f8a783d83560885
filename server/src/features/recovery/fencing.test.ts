// What keeps a lost host from its storage, whom it must not hit, and what does not keep it.
import { randomUUID } from 'node:crypto'
import { follow, givenLostHosts, leaveOpen, look, lose, placeOf, powerOn, SILENCE, stateOf } from '../../../test/lost-hosts.ts'
import { describe, expect, test } from 'vitest'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { redfishServer } from '../../../test/redfish-server.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { heartbeat } from '../hosts/heartbeat.reconciler.ts'
import { changePower, clientsOf, getHost, recordClients } from '../hosts/service.ts'
import { suspendByOperator } from '../vms/service.ts'
import { followLostHosts } from './lost-hosts.reconciler.ts'
import { findFence } from './service.ts'

describe('the fence of a lost host', async () => {
  const { app, customer, hostToLose, vmOn, vmOf, storageId } = await givenLostHosts()
  const storage = controlOf(app, storageId)

  test('that cannot be fenced keeps its VMs, says why, and is tried again', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await lose(app, host)
    await look(app) // asks for the fence
    await storage.faults.loseHost()
    await app.settle()
    for (let pass = 0; pass < 3; pass++) {
      await followLostHosts.runOnce(app.deps)
      await app.settle()
      app.clock.advance('31s')
    }
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: { error: expect.stringContaining('is gone') } })
    expect([await placeOf(app, id), await powerOn(app, app.host.id, id)]).toMatchObject([{ host_id: host.id }, undefined])
    await followLostHosts.runOnce(app.deps)
    expect(await app.deps.metrics.registry.metrics()).toContain(`berth_host_fence{host="${host.name}",state="failed"} 1`)
    await storage.faults.returnHost()
    app.clock.advance('31s')
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true })
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    await app.rest()
    await app.checkInvariants()
  })

  test('is switched off where its storage cannot be asked, and is believed off only when that was read back', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    const card = await redfishServer(() => controlOf(app, host.id).faults.cutPower())
    const { url, user, password, uuid: systemUuid } = card
    await app.db.tx((tx) => changePower(tx, app.deps.vault, host, { url, user, password, ca: null, systemUuid }))
    expect((await getHost(app.db, host.id)).sealed_power_password!.includes(password)).toBe(false)
    await lose(app, host)
    await look(app)
    await storage.faults.loseHost()
    card.isStuck = true
    const run = await app.db.one<{ id: string }>(sql`select id from workflow_runs where subject_id = ${host.id}`)
    const stopping = AbortSignal.timeout(3_000)
    await resumeRun({ ...testRunner(app.deps), stopping }, run.id).catch(() => undefined)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: { means: [] } })
    card.isStuck = false
    app.clock.advance('31s')
    await app.settle()
    expect(card.power).toBe('Off')
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true, fence: { means: ['POWER'] } })
    await follow(app)
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    await storage.faults.returnHost()
    await app.rest()
    await app.checkInvariants()
  })

  test('switches nothing off by a card that is that of another machine now', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    const card = await redfishServer(() => controlOf(app, host.id).faults.cutPower())
    const { url, user, password, uuid: systemUuid } = card
    await app.db.tx((tx) => changePower(tx, app.deps.vault, host, { url, user, password, ca: null, systemUuid }))
    await lose(app, host)
    await look(app)
    await storage.faults.loseHost()
    card.uuid = randomUUID()
    await app.settle()
    expect(await stateOf(app, host)).toMatchObject({
      isFenced: false,
      fence: { error: expect.stringContaining(`is another machine now: its system is ${card.uuid}, it was ${systemUuid}`) },
    })
    expect([card.power, (await placeOf(app, id)).host_id]).toEqual(['On', host.id])
    card.uuid = systemUuid
    await app.db.run(sql`update hosts set power_system_uuid = null where id = ${host.id}`)
    app.clock.advance('31s')
    await followLostHosts.runOnce(app.deps)
    await app.settle()
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: { error: expect.stringContaining('was never compared') } })
    await app.db.run(sql`update hosts set power_system_uuid = ${systemUuid} where id = ${host.id}`)
    app.clock.advance('31s')
    await followLostHosts.runOnce(app.deps)
    await app.settle()
    expect([card.power, await stateOf(app, host)]).toMatchObject(['Off', { isFenced: true, fence: { means: ['POWER'] } }])
    await follow(app)
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    await storage.faults.returnHost()
    await app.rest()
    await app.checkInvariants()
  })

  test('that the storage backend has never seen is not fenced by blocking it', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await controlOf(app, host.id).faults.cutPower()
    await app.db.run(sql`delete from host_storage_clients where host_id = ${host.id}`)
    await leaveOpen(app, app.host)
    await controlOf(app, host.id).faults.loseHost()
    await look(app)
    app.clock.advance(SILENCE)
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: { error: expect.stringContaining('as which client') } })
    expect((await placeOf(app, id)).host_id).toBe(host.id)
    await app.rest()
    await app.checkInvariants()
  })

  test('whose blocks were removed by somebody is fenced again before more is started', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await lose(app, host)
    await leaveOpen(app, host)
    await follow(app)
    expect(await vmOf(id)).toMatchObject({ status: 'ERROR' })
    await app.db.run(sql`delete from simulated.blocklist`)
    await app.db.run(sql`update hosts set maintenance = false`)
    await follow(app)
    await follow(app)
    expect(await app.db.many(sql`select client from simulated.blocklist where client = ${`${host.id}:0/0`}`)).toHaveLength(1)
    expect((await vmOf(id)).status).toBe('RUNNING')
    expect((await placeOf(app, id)).host_id).not.toBe(host.id)
    await app.rest()
    await app.checkInvariants()
  })

  test('at an address of workers has only the processes blocked that have disks open', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await app.db.run(sql`insert into worker_addresses (address, seen_at) values (${host.id}, ${app.clock.now()})`)
    await lose(app, host)
    await follow(app)
    expect(await app.db.many(sql`select client from host_blocks where host_id = ${host.id}`)).toEqual([{ client: `${host.id}:0/1` }])
    expect((await vmOf(id)).status).toBe('RUNNING')
    await app.db.run(sql`delete from worker_addresses where address = ${host.id}`)
    await app.rest()
    await app.checkInvariants()
  })

  test('has no client blocked of a VM that has left it', async () => {
    const [host, other] = [await hostToLose(), await hostToLose()]
    const [here, there] = [await vmOn(host), await vmOn(other)]
    const left = { storage_id: storageId, owner_id: there.id, is_running: true, is_busy: false }
    const client = { ownerId: there.id, address: other.id, nonce: 1, isWatching: true }
    await app.db.tx((tx) => recordClients(tx, app.clock.now(), host.id, [left], [client]))
    expect((await clientsOf(app.db, host.id)).filter(({ owner_id }) => owner_id === there.id)).toEqual([])
    await lose(app, host)
    await app.db.run(sql`
      insert into host_storage_clients (host_id, storage_id, owner_id, address, nonce, is_certain, seen_at)
      values (${host.id}, ${storageId}, ${there.id}, ${other.id}, 1, true, ${app.clock.now()})`)
    await follow(app)
    expect(await app.db.many(sql`select client from host_blocks where host_id = ${host.id}`)).toEqual([{ client: `${host.id}:0/0` }])
    expect([(await placeOf(app, here.id)).host_id, (await vmOf(there.id)).status]).toEqual([app.host.id, 'RUNNING'])
    await app.rest()
    await app.checkInvariants()
  })

  test('at an address that workers or removed hosts had long ago is blocked as a whole', async () => {
    const [host, removed] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(host)
    await app.db.run(sql`insert into worker_addresses (address, seen_at) values (${host.id}, ${subtractDuration(app.clock.now(), '8d')})`)
    await app.db.run(sql`
      insert into host_storage_clients (host_id, storage_id, owner_id, address, nonce, is_certain, seen_at)
      values (${removed.id}, ${storageId}, ${id}, ${host.id}, 1, true, ${app.clock.now()})`)
    await app.db.run(sql`update hosts set removed_at = ${app.clock.now()} where id = ${removed.id}`)
    await lose(app, host)
    await follow(app)
    expect(await app.db.many(sql`select client from host_blocks where host_id = ${host.id}`)).toEqual([{ client: `${host.id}:0/0` }])
    await app.rest()
    await app.checkInvariants()
  })

  test('at an address of workers is fenced although a suspended VM on it has no disk open', async () => {
    const host = await hostToLose()
    const [{ id }, held] = [await vmOn(host), await vmOn(host)]
    await suspendByOperator(app.deps, held.id)
    await app.settle()
    await app.db.run(sql`insert into worker_addresses (address, seen_at) values (${host.id}, ${app.clock.now()})`)
    await app.db.run(sql`delete from host_storage_clients where owner_id = ${held.id}`)
    await lose(app, host)
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true, fence: { means: ['BLOCKLIST'] } })
    expect([(await vmOf(id)).status, (await vmOf(held.id)).status]).toEqual(['RUNNING', 'SUSPENDED'])
    await app.db.run(sql`delete from worker_addresses where address = ${host.id}`)
    await app.rest()
    await app.checkInvariants()
  })

  test('is not switched off where its clients are blocked: its guests on local storage go on', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    const card = await redfishServer(() => controlOf(app, host.id).faults.cutPower())
    const { url, user, password, uuid: systemUuid } = card
    await app.db.tx((tx) => changePower(tx, app.deps.vault, host, { url, user, password, ca: null, systemUuid }))
    await lose(app, host)
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true, fence: { means: ['BLOCKLIST'] } })
    expect([card.power, (await placeOf(app, id)).host_id]).toEqual(['On', app.host.id])
    await app.rest()
    await app.checkInvariants()
  })

  test('is not fenced before all its paths were asked, nor for VMs that are off', async () => {
    const [host, idle] = [await hostToLose(), await hostToLose()]
    await vmOn(host)
    const off = await vmOn(idle)
    await app.db.run(sql`update plans set storage = 'LOCAL'`)
    const local = await vmOn(idle)
    await app.db.run(sql`update plans set storage = 'REPLICATED'`)
    await customer.post('/volumes', { name: 'beside', sizeGiB: 10, vmId: local.id, regionId: idle.region_id, storage: 'REPLICATED' })
    await customer.post(`/vms/${off.id}/stop`, { force: true })
    await app.settle()
    for (const { id } of [host, idle]) await controlOf(app, id).faults.loseHost()
    await heartbeat.runOnce(app.deps)
    app.clock.advance(SILENCE)
    await followLostHosts.runOnce(app.deps)
    expect(await findFence(app.db, host.id)).toBeUndefined()
    await leaveOpen(app, app.host)
    await look(app)
    app.clock.advance(SILENCE)
    await follow(app)
    expect([await stateOf(app, host), await findFence(app.db, idle.id)]).toMatchObject([{ isFenced: true }, undefined])
    await controlOf(app, idle.id).faults.returnHost()
    await app.rest()
    await app.checkInvariants()
  })
})
