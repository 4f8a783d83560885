import { describe, expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { listHolders, recordAddressesOfVm } from './service.ts'
import { keepAddressHistory } from './upkeep.reconciler.ts'

type Customer = Awaited<ReturnType<TestApp['given']['customer']>>

const openHistory = async (app: TestApp) => {
  const operator = await givenBrowser(app, { isOperator: true })
  return async (address: string, at?: Date) => {
    const { status, body } = await operator.get(
      `/operator/addresses/${encodeURIComponent(address)}/history${at ? `?at=${at.toISOString()}` : ''}`,
    )
    return status === 200 ? body.data : { status, error: body.error }
  }
}
const addressOf = async (customer: Customer, id: string): Promise<string> => (await customer.get(`/vms/${id}`)).body.data.ipAddress

describe('the history of a public address', async () => {
  const app = await testApp()
  const history = await openHistory(app)
  const remove = async (customer: Customer, id: string): Promise<void> => {
    await customer.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
  }

  test('names the VM that had it, also when the VM and its account are gone', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const since = app.clock.now()
    const { id } = await app.given.vm(customer, { hostname: 'spammer' })
    const address = await addressOf(customer, id)
    app.clock.advance('1h')
    const during = app.clock.now()
    expect(await history(address, during)).toEqual([
      {
        address: `${address}/32`,
        vmId: id,
        vmName: 'spammer',
        vmExists: true,
        accountId: customer.accountId,
        email: customer.email,
        isFloating: false,
        since: expect.any(String),
        until: null,
      },
    ])
    app.clock.advance('1m')
    await remove(customer, id)
    const [ended] = await history(address, during)
    expect(ended).toMatchObject({ vmId: id, vmName: 'spammer', vmExists: false, email: customer.email, until: expect.any(String) })
    expect(Date.parse(ended.since)).toBeGreaterThanOrEqual(since.getTime())
    app.clock.advance('1h')
    expect(await history(address, app.clock.now())).toEqual([])
    expect(await history(address, new Date(since.getTime() - 1_000))).toEqual([])
    expect(await history(address)).toHaveLength(1)
  })

  test('follows a floating address from VM to VM without a gap that another has, and ends with its release', async () => {
    await app.db.run(sql`update address_pools set host_id = null`)
    const customer = await app.given.customer({ credit: '100.00' })
    const [one, other] = [(await app.given.vm(customer)).id, (await app.given.vm(customer)).id]
    const { id, address } = (await customer.post('/addresses', { regionId: (await app.given.vmInput()).regionId })).body.data
    expect(await history(address)).toEqual([])
    for (const vmId of [one, other]) {
      await customer.post(`/addresses/${id}/assignment`, { vmId })
      await app.rest()
      app.clock.advance('1h')
    }
    await customer.delete(`/addresses/${id}/assignment`)
    await app.rest()
    const found = await history(address)
    expect(found).toMatchObject([
      { vmId: other, isFloating: true },
      { vmId: one, isFloating: true },
    ])
    expect(Date.parse(found[1].until)).toBeLessThanOrEqual(Date.parse(found[0].since))
    expect(found[0].until).not.toBeNull()
    await customer.delete(`/addresses/${id}`)
    expect(await history(address)).toHaveLength(2)
  })

  test('finds who had the prefix around an IPv6 address, and refuses what is no address', async () => {
    const { region_id } = app.host
    await app.db.run(sql`
      insert into address_pools (id, region_id, cidr, gateway, dns, created_at) values ('pool6', ${region_id}, '2001:db8:5::/48', '2001:db8:5::1', '{}', now())`)
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    const { ipv6Prefix } = (await customer.get(`/vms/${id}`)).body.data
    expect(await history(ipv6Prefix.replace('::/64', '::beef'))).toMatchObject([{ vmId: id, address: ipv6Prefix }])
    expect(await history('spam')).toMatchObject({ status: 404 })
    await app.db.run(sql`update address_pools set host_id = ${app.host.id} where family(cidr) = 4`)
  })

  test('is only for operators', async () => {
    expect((await (await givenBrowser(app)).get('/operator/addresses/10.77.0.2/history')).status).toBe(403)
  })

  test('has no overlapping intervals when VMs are made and deleted at once for the same few addresses', async () => {
    const customer = await app.given.customer({ credit: '1000.00' })
    await app.db.run(sql`
      update free_addresses set available_at = 'infinity' where address not in (select address from free_addresses order by available_at, address limit 3)`)
    for (let round = 0; round < 4; round++) {
      const input = await app.given.vmInput()
      const made = await Promise.all(Array.from({ length: 5 }, () => customer.post('/vms', input)))
      expect(made.filter(({ status }) => status === 202).length).toBeLessThanOrEqual(3)
      await app.settle()
      await Promise.all(made.map(({ body }) => body.data && customer.delete(`/vms/${body.data.vm.id}`)))
      await app.settle()
      app.clock.advance('11m')
    }
    const overlaps = await app.db.many(sql`
      select a.address from address_history a join address_history b on b.id > a.id and b.address && a.address
        and tstzrange(a.since, a.until) && tstzrange(b.since, b.until)`)
    expect(overlaps).toEqual([])
    const twice = await app.db.one<{ count: number }>(
      sql`select count(*)::int as count from (select from address_history group by address having count(*) > 1) reused`,
    )
    expect(twice.count).toBeGreaterThan(0)
  })

  test('refuses an interval that overlaps another, and begins after the one before where clocks differ', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    app.clock.advance('11m')
    const { id } = await app.given.vm(customer)
    const again = app.db.run(sql`
      insert into address_history (address, vm_id, vm_name, account_id, email, since)
      select address, 'other', '', 'other', '', since from address_history where vm_id = ${id} limit 1`)
    await expect(again).rejects.toThrow(/address_history_once/)
  })

  test('ends what a process of an older version left open when the address goes to another VM', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await app.db.run(sql`update address_history set vm_id = ${'gone'} where vm_id = ${id} and until is null`)
    await app.db.tx((tx) => recordAddressesOfVm(tx, app.clock.now(), id))
    const [now, before] = (await history(await addressOf(customer, id))) as { vmId: string; until: string | null }[]
    expect([now, before]).toMatchObject([
      { vmId: id, until: null },
      { vmId: 'gone', until: expect.any(String) },
    ])
  })

  test('records what a process of an older version left out, and is kept for the days of the catalog', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    app.clock.advance('11m')
    const { id } = await app.given.vm(customer)
    const address = await addressOf(customer, id)
    await app.db.run(sql`delete from address_history where vm_id = ${id}`)
    await keepAddressHistory.runOnce(app.deps)
    expect(await history(address, app.clock.now())).toMatchObject([{ vmId: id }])
    await remove(customer, id)
    app.clock.advance('179d')
    await keepAddressHistory.runOnce(app.deps)
    expect((await listHolders(app.db, address, null)).map(({ vm_id }) => vm_id)).toContain(id)
    app.clock.advance('2d')
    await keepAddressHistory.runOnce(app.deps)
    expect((await listHolders(app.db, address, null)).map(({ vm_id }) => vm_id)).not.toContain(id)
  })
})
