// Addresses that a machine on an unreachable host may still answer at: OVN on a host that is cut off from its databases keeps the flows it has.
import { describe, expect, test } from 'vitest'
import { allowManyVms, givenSecondHost } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { addPool, removePool } from '../hosts/public-addresses.ts'
import { endAddressRests } from './rests.reconciler.ts'

describe('an address rests for a day when it is released', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await givenSecondHost(app)
  await app.db.run(sql`update address_pools set host_id = null where host_id is not null`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const { regionId } = await app.given.vmInput()

  const given = async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id, address } = (await customer.post('/addresses', { regionId })).body.data
    await customer.post(`/addresses/${id}/assignment`, { vmId })
    await app.settle({ subjectId: id })
    return { vmId, id, address }
  }
  const unassign = async (id: string) => {
    await customer.delete(`/addresses/${id}/assignment`)
    await app.settle({ subjectId: id })
  }
  const restOf = async (address: string) =>
    (await app.db.one<{ until: Date }>(sql`select available_at as until from free_addresses where address = ${address}::inet`)).until
  const rest = async ({ id, address }: { id: string; address: string }) => {
    expect((await customer.delete(`/addresses/${id}`)).status).toBe(200)
    return restOf(address)
  }

  test('after a host has not confirmed that it is unassigned', async () => {
    const [confirmed, unconfirmed] = [await given(), await given()]
    await unassign(confirmed.id)
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent' })
    await unassign(unconfirmed.id)
    expect(await rest(confirmed)).toEqual(addDuration(app.clock.now(), '10m'))
    expect(await rest(unconfirmed)).toEqual(addDuration(app.clock.now(), '24h'))
  })

  test('and no longer than usual once every host that may have it has confirmed that it has not', async () => {
    const [early, late] = [await given(), await given()]
    for (const { id } of [early, late]) {
      await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent' })
      await unassign(id)
    }
    expect(await rest(early)).toEqual(addDuration(app.clock.now(), '24h'))
    const releasedAt = app.clock.now()
    await endAddressRests.runOnce(app.deps)
    expect(await restOf(early.address)).toEqual(addDuration(releasedAt, '24h'))
    app.clock.advance('1m')
    await app.reconcile()
    await endAddressRests.runOnce(app.deps)
    expect(await restOf(early.address)).toEqual(addDuration(releasedAt, '10m'))
    // It was confirmed before it was released.
    expect(await rest(late)).toEqual(addDuration(app.clock.now(), '10m'))
    await endAddressRests.runOnce(app.deps)
    expect(await restOf(late.address)).toEqual(addDuration(app.clock.now(), '10m'))
  })

  test('after its VM was restored elsewhere', async () => {
    const held = await given()
    const { id: backupId } = (await customer.post(`/vms/${held.vmId}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    await app.simulated.faults.loseHost()
    await app.db.run(sql`update hosts set unreachable_since = ${subtractDuration(app.clock.now(), '10m')} where id = ${app.host.id}`)
    expect((await customer.post(`/vms/${held.vmId}/backups/${backupId}/restore`)).status).toBe(202)
    await app.settle()
    await unassign(held.id)
    expect(await rest(held)).toEqual(addDuration(app.clock.now(), '24h'))
    const releasedAt = app.clock.now()
    await app.reconcile()
    await endAddressRests.runOnce(app.deps)
    expect(await restOf(held.address)).toEqual(addDuration(releasedAt, '24h'))
    await app.simulated.faults.returnHost()
    await app.db.run(sql`update hosts set unreachable_since = null where id = ${app.host.id}`)
    // The machine that it left is removed when the host has been back for a while.
    for (let i = 0; i < 3; i++) {
      app.clock.advance('2m')
      await app.reconcile()
    }
    await endAddressRests.runOnce(app.deps)
    expect(await restOf(held.address)).toEqual(addDuration(releasedAt, '10m'))
  })
})

describe('an address counts against the quota of its account until it has rested', async () => {
  const app = await testApp()
  await app.db.run(sql`update address_pools set host_id = null where host_id is not null`)
  const { regionId } = await app.given.vmInput()
  const given = async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'addresses', 3n))
    const reserve = () => customer.post('/addresses', { regionId })
    const cycle = async () => customer.delete(`/addresses/${(await reserve()).body.data.id}`)
    const used = async () =>
      (await customer.get('/account/limits')).body.data.find((each: { name: string }) => each.name === 'addresses').used as number
    return { reserve, cycle, used }
  }

  test('so nobody has a pool rest by reserving and releasing again and again', async () => {
    const { reserve, cycle, used } = await given()
    await cycle()
    app.clock.advance('1m')
    for (let i = 0; i < 2; i++) await cycle()
    const { status, headers, body } = await reserve()
    const until = addDuration(app.clock.now(), '9m').toISOString()
    expect([status, headers['x-error-code'], body.error]).toEqual([
      422,
      'quota_exceeded',
      `Quota exceeded: 3 of 3 addresses are in use. Delete some, or ask support for more. Released ones count until they have rested: 3 of them, the first until ${until}`,
    ])
    expect(await used()).toBe(3)
    app.clock.advance('9m')
    expect([(await reserve()).status, (await reserve()).status, await used()]).toEqual([201, 422, 3])
    app.clock.advance('1m')
    await endAddressRests.runOnce(app.deps)
    expect(await used()).toBe(1)
  })

  test('or its range is removed', async () => {
    const { reserve, cycle, used } = await given()
    await app.db.run(sql`update free_addresses set available_at = 'infinity' where available_at <= ${app.clock.now()}`)
    const pool = { regionId, hostId: null, cidr: '198.51.100.0/29', gateway: '198.51.100.1' }
    await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
    await cycle()
    await cycle()
    expect(await used()).toBe(2)
    await app.db.tx((tx) => removePool(tx, pool.cidr))
    expect(await used()).toBe(0)
    expect((await reserve()).status).toBe(503)
  })
})
