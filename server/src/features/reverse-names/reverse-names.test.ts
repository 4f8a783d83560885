import { afterAll, describe, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { testApp } from '../../../test/harness.ts'
import { missingForPowerDns, openPowerDns } from '../../../test/powerdns-server.ts'
import { sql } from '../../kernel/database/db.ts'
import { addPool } from '../hosts/service.ts'
import { applyReverseNames } from './apply.reconciler.ts'
import { arpaName } from './powerdns.ts'
import { claimPending } from './service.ts'

test.each([
  ['198.51.100.7', '7.100.51.198.in-addr.arpa.'],
  ['2001:db8::567:89ab', 'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.'],
])('%s is %s in the reverse tree', (address, name) => {
  expect(arpaName(address)).toBe(name)
})

describe('without a name server', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '100.00' })

  test('a reverse name is refused with the reason', async () => {
    const { id } = await app.given.vm(customer)
    const { status, headers, body } = await customer.patch(`/vms/${id}`, { reverseName: 'mail.example.com' })
    expect([status, headers['x-error-code'], body.error]).toEqual([422, 'unavailable', expect.stringContaining('no reverse DNS')])
  })
})

describe('with a name server', async () => {
  const app = await testApp({ environment: { BERTH_PDNS_URL: 'http://127.0.0.1:1', BERTH_PDNS_KEY: 'key' } })
  await app.db.run(sql`update address_pools set host_id = null`)
  const { regionId } = await app.given.vmInput()
  const given = async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id, address } = (await customer.post('/addresses', { regionId })).body.data
    const named = (reverseName: string | null) => {
      app.clock.advance('1s')
      return customer.patch(`/addresses/${id}`, { reverseName })
    }
    return { customer, address, named }
  }

  test('who changes a name again and again keeps nobody else waiting', async () => {
    const all = [await given(), await given()]
    for (const [first, second] of [all, all.toReversed()]) {
      await first!.named('first.example.com')
      await second!.named('second.example.com')
      const now = app.clock.now()
      expect((await claimPending(app.db, now, now))?.address).toBe(first!.address)
    }
  })

  test('a suspended account changes no name', async () => {
    const { customer, named } = await given()
    const { id: vmId } = await app.given.vm(customer)
    await app.db.run(sql`update accounts set suspended_at = ${app.clock.now()} where id = ${customer.accountId}`)
    for (const { status, headers } of [await named('a.example.com'), await customer.patch(`/vms/${vmId}`, { reverseName: null })])
      expect([status, headers['x-error-code']]).toEqual([409, 'invalid_state'])
    await app.db.run(sql`update accounts set suspended_at = null where id = ${customer.accountId}`)
  })
})

describeIf(missingForPowerDns())('with PowerDNS', async () => {
  const server = await openPowerDns()
  afterAll(() => server.close())
  const app = await testApp({ environment: { BERTH_PDNS_URL: server.url, BERTH_PDNS_KEY: server.key } })
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '1000.00' })
  const { regionId } = await app.given.vmInput()
  const apply = async (): Promise<void> => {
    app.clock.advance('61s')
    await applyReverseNames.runOnce(app.deps)
  }

  test('a name waits for a zone, then it is set, changed and removed', async () => {
    const { id, address } = (await customer.post('/addresses', { regionId })).body.data
    const named = async (reverseName: string | null) => (await customer.patch(`/addresses/${id}`, { reverseName })).body.data
    expect(await named('mail.example.com')).toMatchObject({ reverseName: 'mail.example.com', reverseNameState: 'PENDING' })
    await apply()
    expect((await customer.get(`/addresses/${id}`)).body.data).toMatchObject({
      reverseNameState: 'FAILED',
      reverseNameReason: expect.stringContaining('no zone'),
    })
    await server.addZone('10.in-addr.arpa.')
    await server.addZone('77.10.in-addr.arpa.')
    await apply()
    expect((await customer.get(`/addresses/${id}`)).body.data).toMatchObject({ reverseNameState: 'SET', reverseNameReason: null })
    expect(await server.lookUp(address)).toEqual(['mail.example.com'])
    const zone = await fetch(`${server.url}/api/v1/servers/localhost/zones/77.10.in-addr.arpa.`, { headers: { 'x-api-key': server.key } })
    const { rrsets } = (await zone.json()) as { rrsets: { type: string; ttl: number }[] }
    // In seconds: nobody has it cached any more when the next customer gets the address, 10 minutes after its release.
    expect(rrsets.filter(({ type }) => type === 'PTR')).toMatchObject([{ ttl: 300 }])
    await named('www.example.com')
    await apply()
    expect(await server.lookUp(address)).toEqual(['www.example.com'])
    await named(null)
    await apply()
    expect([await server.lookUp(address), (await customer.get(`/addresses/${id}`)).body.data.reverseName]).toEqual([[], null])
  })

  test('a VM’s own address has one too, and loses it with the VM', async () => {
    const { id } = await app.given.vm(customer)
    const { body } = await customer.patch(`/vms/${id}`, { reverseName: 'vm.example.com' })
    await apply()
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ reverseName: 'vm.example.com', reverseNameState: 'SET' })
    expect(await server.lookUp(body.data.ipAddress)).toEqual(['vm.example.com'])
    await customer.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    await apply()
    expect(await server.lookUp(body.data.ipAddress)).toEqual([])
  })

  test('the IPv6 address of a VM has one of its own, and loses it with the VM', async () => {
    expect((await customer.patch(`/vms/${(await app.given.vm(customer)).id}`, { ipv6ReverseName: 'six.example.com' })).status).toBe(409)
    const pool = { regionId, hostId: null, cidr: '2001:db8:53::/48', gateway: '2001:db8:53::1' }
    await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
    await server.addZone('8.b.d.0.1.0.0.2.ip6.arpa.')
    await server.addZone('3.5.0.0.8.b.d.0.1.0.0.2.ip6.arpa.')
    const { id } = await app.given.vm(customer)
    const { body } = await customer.patch(`/vms/${id}`, { reverseName: 'four.example.com', ipv6ReverseName: 'six.example.com' })
    const { ipAddress, ipv6Address } = body.data
    expect(body.data).toMatchObject({ ipv6ReverseName: 'six.example.com', ipv6ReverseNameState: 'PENDING', ipv6ReverseNameReason: null })
    await apply()
    const states = { reverseNameState: 'SET', ipv6ReverseName: 'six.example.com', ipv6ReverseNameState: 'SET' }
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject(states)
    expect([await server.lookUp(ipAddress), await server.lookUp(ipv6Address)]).toEqual([['four.example.com'], ['six.example.com']])
    await customer.patch(`/vms/${id}`, { ipv6ReverseName: 'mail.example.com' })
    await apply()
    expect(await server.lookUp(ipv6Address)).toEqual(['mail.example.com'])
    await customer.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    await apply()
    expect([await server.lookUp(ipAddress), await server.lookUp(ipv6Address)]).toEqual([[], []])
  })

  test('a name server that is down gets the newest name when it is back', async () => {
    const { id, address } = (await customer.post('/addresses', { regionId })).body.data
    await server.stop()
    await customer.patch(`/addresses/${id}`, { reverseName: 'first.example.com' })
    await apply()
    const failed = (await customer.patch(`/addresses/${id}`, { name: 'mail' })).body.data
    expect(failed).toMatchObject({ reverseNameState: 'FAILED', reverseNameReason: expect.stringContaining('does not answer') })
    await customer.patch(`/addresses/${id}`, { reverseName: 'second.example.com' })
    await server.start()
    await apply()
    expect(await server.lookUp(address)).toEqual(['second.example.com'])
    await customer.delete(`/addresses/${id}`)
    await apply()
    expect(await server.lookUp(address)).toEqual([])
  })

  test('a name that is none is refused', async () => {
    const { id } = (await customer.post('/addresses', { regionId })).body.data
    for (const reverseName of [
      '',
      'localhost',
      'a b.example.com',
      '-a.example.com',
      'a..example.com',
      'Mail.example.com',
      'mail.example.com.',
      `${'a'.repeat(64)}.example.com`,
    ])
      expect([reverseName, (await customer.patch(`/addresses/${id}`, { reverseName })).status]).toEqual([reverseName, 400])
  })
})
