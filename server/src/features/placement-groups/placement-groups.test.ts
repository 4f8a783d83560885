import { describe, expect, test } from 'vitest'
import { sql } from '../../kernel/database/db.ts'
import { givenHost, placeOn } from '../../../test/hosts.ts'
import { startMigration } from '../vms/service.ts'
import { testApp } from '../../../test/harness.ts'

describe('placement groups', async () => {
  const app = await testApp()
  await app.db.run(sql`update address_pools set host_id = null`)
  await app.db.run(sql`update catalog_values set value = value * 100 where name like 'quota.%'`)
  await givenHost(app, 'second')
  const third = await givenHost(app, 'third')
  const customer = await app.given.customer({ credit: '10000.00' })
  const group = async (policy: string): Promise<string> =>
    (await customer.post('/placement-groups', { name: policy.toLowerCase(), policy })).body.data.id
  const create = async (placementGroupId: string, query = '') =>
    customer.post(`/vms${query}`, { ...(await app.given.vmInput()), placementGroupId })
  const hostsOf = async (groupId: string): Promise<string[]> =>
    (
      await app.db.many<{ host_id: string }>(
        sql`select host_id from vms v join placement_group_members m on m.vm_id = v.id where m.group_id = ${groupId} order by v.id`,
      )
    ).map((row) => row.host_id)

  test('SPREAD puts VMs on different hosts, and on used ones when there are no more', async () => {
    const id = await group('SPREAD')
    for (let count = 0; count < 4; count++) expect((await create(id)).status).toBe(202)
    const hosts = await hostsOf(id)
    expect([new Set(hosts.slice(0, 3)).size, hosts.length]).toEqual([3, 4])
    expect((await customer.get(`/placement-groups/${id}`)).body.data).toMatchObject({ policy: 'SPREAD', hostCount: 3, vms: { length: 4 } })
  })

  test('TOGETHER puts them on the same host while it has room', async () => {
    const id = await group('TOGETHER')
    for (let count = 0; count < 3; count++) await create(id)
    expect(new Set(await hostsOf(id)).size).toBe(1)
  })

  test('STRICT_SPREAD never puts two on one host, however many are created at the same time', async () => {
    const id = await group('STRICT_SPREAD')
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(id)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 202, 202, 503, 503, 503])
    expect(answers.find(({ status }) => status === 503)!.body.error).toMatch(
      /3 hosts checked, 3 with a VM of its placement group\. A STRICT_SPREAD group has one VM on a host at most, a SPREAD group more where it must$/,
    )
    expect(new Set(await hostsOf(id)).size).toBe(3)
    expect((await create(id, '?dryRun=true')).status).toBe(503)
  })

  test('a VM joins and leaves a group where it is', async () => {
    const [spread, strict] = [await group('SPREAD'), await group('STRICT_SPREAD')]
    const [first, second] = await placeOn(app, app.host.id, async () => [await app.given.vm(customer), await app.given.vm(customer)])
    const elsewhere = await placeOn(app, third.id, () => app.given.vm(customer))
    const change = ({ id }: { id: string }, placementGroupId: string | null) => customer.patch(`/vms/${id}`, { placementGroupId })
    expect((await change(first!, spread)).body.data.placementGroup).toEqual({ id: spread, name: 'spread' })
    expect((await change(first!, strict)).body.data.placementGroup).toEqual({ id: strict, name: 'strict_spread' })
    const refused = await change(second!, strict)
    expect([refused.status, refused.body.error]).toEqual([
      422,
      'A VM of placement group strict_spread is on the host of this one: create a new VM in the group instead',
    ])
    expect((await change(elsewhere, strict)).status).toBe(200)
    expect((await change(first!, null)).body.data.placementGroup).toBeNull()
    expect((await change(second!, strict)).status).toBe(200)
    expect((await customer.get(`/placement-groups/${spread}`)).body.data.vms).toEqual([])
  })

  test('a VM that is being moved counts on both hosts', async () => {
    const strict = await group('STRICT_SPREAD')
    const join = ({ id }: { id: string }) => customer.patch(`/vms/${id}`, { placementGroupId: strict })
    const moving = await placeOn(app, app.host.id, () => app.given.vm(customer))
    const [beside, there] = [
      await placeOn(app, app.host.id, () => app.given.vm(customer)),
      await placeOn(app, third.id, () => app.given.vm(customer)),
    ]
    await app.db.tx((tx) => startMigration(tx, app.deps, moving.id, { to: 'third' }))
    expect((await join(moving)).status).toBe(200)
    expect([(await join(beside)).status, (await join(there)).status]).toEqual([422, 422])
    await customer.patch(`/vms/${moving.id}`, { placementGroupId: null })
    expect((await join(there)).status).toBe(200)
    expect((await join(moving)).status).toBe(422)
    await app.settle()
  })

  test('a group with VMs is not deleted; one whose VMs are gone is', async () => {
    const id = await group('SPREAD')
    const { vm } = (await create(id)).body.data
    const refused = await customer.delete(`/placement-groups/${id}`)
    expect([refused.status, refused.body.error]).toEqual([409, `Placement group spread has VMs: take ${vm.name} out of it first`])
    await app.settle()
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    expect((await customer.delete(`/placement-groups/${id}`)).status).toBe(200)
  })

  test('a group of somebody else is unknown', async () => {
    const other = await app.given.customer({ credit: '100.00' })
    const { id } = (await other.post('/placement-groups', { name: 'theirs', policy: 'SPREAD' })).body.data
    expect((await create(id)).status).toBe(404)
    const vm = await app.given.vm(customer)
    expect((await customer.patch(`/vms/${vm.id}`, { placementGroupId: id })).status).toBe(404)
  })
})
