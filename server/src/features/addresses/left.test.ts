// Addresses that a machine on an unreachable host may still answer at: OVN on a host that is cut off from its databases keeps the flows it has.
import { describe, expect, test } from 'vitest'
import { allowManyVms, givenSecondHost } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'

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
  const rest = async ({ id, address }: { id: string; address: string }) => {
    expect((await customer.delete(`/addresses/${id}`)).status).toBe(200)
    return (await app.db.one<{ until: Date }>(sql`select available_at as until from free_addresses where address = ${address}::inet`)).until
  }

  test('after a host has not confirmed that it is unassigned', async () => {
    const [confirmed, unconfirmed] = [await given(), await given()]
    await unassign(confirmed.id)
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent' })
    await unassign(unconfirmed.id)
    expect(await rest(confirmed)).toEqual(addDuration(app.clock.now(), '10m'))
    expect(await rest(unconfirmed)).toEqual(addDuration(app.clock.now(), '24h'))
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
    await app.simulated.faults.returnHost()
    await app.db.run(sql`update hosts set unreachable_since = null where id = ${app.host.id}`)
  })
})
