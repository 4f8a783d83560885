import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { getHost } from '../hosts/service.ts'
import { createPortState, desiredVersion, forgetPorts } from '../ports/service.ts'
import { bindFirewall, checkPacket, filtersOf, firewallsOf, requireFirewalls, unbindAll, unbindFirewall } from './service.ts'

// These tests use VM ids without VM rows.
const app = await testApp({ breaks: ['firewalls.owner', 'ports.tracked'] })
const { id: hostId } = await getHost(app.db, 'local')
const accept = (port: string) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port })

const given = async () => {
  const customer = await app.given.customer()
  const vmId = newId()
  await app.db.tx((tx) => createPortState(tx, vmId, hostId, customer.accountId))
  const firewall = async (name: string, ...ports: string[]): Promise<string> => {
    const { id } = (await customer.post('/firewalls', { name })).body.data
    for (const port of ports) await customer.post(`/firewalls/${id}/rules`, accept(port))
    return id
  }
  const bind = (firewallId: string, to = vmId) => app.db.tx((tx) => bindFirewall(tx, app.clock.now(), customer.accountId, firewallId, to))
  const unbind = (firewallId: string) => app.db.tx((tx) => unbindFirewall(tx, customer.accountId, firewallId, { id: vmId, name: 'db' }))
  const version = () => desiredVersion(app.db, vmId)
  return { customer, vmId, firewall, bind, unbind, version }
}

describe('binding a firewall', () => {
  test('is idempotent', async () => {
    const { customer, vmId, firewall, bind, version } = await given()
    const id = await firewall('web')
    const before = await version()
    expect(await bind(id)).toEqual({ binding: { firewallId: id, vmId }, isNew: true })
    expect(await bind(id)).toEqual({ binding: { firewallId: id, vmId }, isNew: false })
    expect(await version()).toBe(before + 1)
    expect((await customer.get(`/firewalls/${id}`)).body.data).toMatchObject({ bindingCount: 1, applied: false })
    expect((await customer.get(`/firewalls/${id}/bindings`)).body).toEqual({
      success: true,
      data: [{ firewallId: id, vmId, applied: false, state: 'PENDING', appliedAt: null, error: null, nextTryAt: null }],
    })
  })

  test('evaluates firewalls in the order they were bound', async () => {
    const { vmId, firewall, bind, unbind } = await given()
    const [first, second, third] = [await firewall('first', '1', '2'), await firewall('second', '3'), await firewall('third', '4')]
    for (const id of [third, first, second]) await bind(id)
    const ports = async () => (await filtersOf(app.db, vmId)).ofPublic.rules.map((rule) => rule.ports[0]!.from)
    expect(await ports()).toEqual([4, 1, 2, 3])
    expect((await firewallsOf(app.db, vmId)).map(({ id, name }) => [id, name])).toEqual([
      [third, 'third'],
      [first, 'first'],
      [second, 'second'],
    ])
    await unbind(third)
    await bind(third)
    expect(await ports()).toEqual([1, 2, 3, 4])
  })

  test('is refused where the firewalls of the VM expand to too many lines together, and so are more rules', async () => {
    const { customer, vmId, firewall, bind, unbind, version } = await given()
    const sourceIps = Array.from({ length: 50 }, (_, i) => `10.0.0.${i}`)
    const rulesOf = (count: number) => ({ rules: Array(count).fill({ ...accept('22'), sourceIps }) })
    const ids = [await firewall('a'), await firewall('b'), await firewall('c')]
    for (const id of ids) expect((await customer.put(`/firewalls/${id}/rules`, rulesOf(10))).status).toBe(200)
    await bind(ids[0]!)
    await bind(ids[1]!)
    const before = await version()
    await expect(bind(ids[2]!)).rejects.toMatchObject({ code: 'quota_exceeded', message: expect.stringContaining('1500') })
    expect(await firewallsOf(app.db, vmId)).toHaveLength(2)
    await customer.put(`/firewalls/${ids[1]}/rules`, rulesOf(0))
    await bind(ids[2]!)
    const added = await customer.post(`/firewalls/${ids[1]}/rules`, accept('22'))
    expect([added.status, added.headers['x-error-code'], added.body.error]).toEqual([
      422,
      'quota_exceeded',
      expect.stringContaining(`The firewalls of VM ${vmId} would expand to 1001`),
    ])
    expect((await customer.put(`/firewalls/${ids[0]}/rules`, rulesOf(9))).status).toBe(200)
    expect((await customer.post(`/firewalls/${ids[1]}/rules`, accept('22'))).status).toBe(201)
    await unbind(ids[2]!)
    expect(await version()).toBeGreaterThan(before)
  })

  test('leaves a VM that has more lines than it can get now its ways to fewer', async () => {
    const { customer, vmId, firewall, bind } = await given()
    const sourceIps = Array.from({ length: 50 }, (_, i) => `10.0.0.${i}`)
    const rule = { ...accept('22'), sourceIps }
    const ids = [await firewall('a'), await firewall('b'), await firewall('c')]
    for (const id of ids) await bind(id)
    for (const id of ids.slice(1)) await customer.put(`/firewalls/${id}/rules`, { rules: Array(10).fill(rule) })
    await app.db.run(sql`
      insert into firewall_rules (id, firewall_id, position, direction, action, protocol, port, source_ips, dest_ips, description, created_at, updated_at)
      select id || 'x', ${ids[0]!}, position, direction, action, protocol, port, source_ips, dest_ips, description, created_at, updated_at
      from firewall_rules where firewall_id = ${ids[1]!}`)
    expect((await filtersOf(app.db, vmId)).ofPublic.rules).toHaveLength(30)
    const [first] = (await customer.get(`/firewalls/${ids[1]}/rules`)).body.data
    expect((await customer.patch(`/firewalls/${ids[1]}/rules/${first.id}`, { description: 'the same lines' })).status).toBe(200)
    expect((await customer.delete(`/firewalls/${ids[1]}/rules/${first.id}`)).status).toBe(200)
    expect((await customer.put(`/firewalls/${ids[2]}/rules`, { rules: Array(9).fill(rule) })).status).toBe(200)
    expect((await customer.post(`/firewalls/${ids[2]}/rules`, accept('22'))).status).toBe(422)
  })

  test('is refused for the eleventh firewall of a VM', async () => {
    const { customer, firewall, bind } = await given()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'firewalls', 11n))
    for (let i = 0; i < 10; i++) await bind(await firewall(`fw${i}`))
    await expect(bind(await firewall('one more'))).rejects.toMatchObject({ code: 'quota_exceeded' })
  })

  test('assigns distinct positions to concurrent bindings', async () => {
    const { vmId, firewall, bind } = await given()
    const ids: string[] = []
    for (let i = 0; i < 8; i++) ids.push(await firewall(`fw${i}`))
    await Promise.all(ids.flatMap((id) => [bind(id), bind(id)]))
    expect(new Set((await firewallsOf(app.db, vmId)).map((bound) => bound.id))).toEqual(new Set(ids))
  })

  test("reports another account's firewall as not found", async () => {
    const { bind } = await given()
    const stranger = await given()
    await expect(bind(await stranger.firewall('theirs'))).rejects.toMatchObject({ code: 'not_found', message: 'Firewall not found' })
  })

  test('locks several firewalls in the given order without duplicates', async () => {
    const { customer, firewall } = await given()
    const [a, b] = [await firewall('a'), await firewall('b')]
    const rows = await app.db.tx((tx) => requireFirewalls(tx, customer.accountId, [b, a, b]))
    expect(rows.map((row) => row.id)).toEqual([b, a])
  })
})

describe('unbinding a firewall', () => {
  test('accepts all traffic again when it was the last', async () => {
    const { vmId, firewall, bind, unbind } = await given()
    const id = await firewall('web', '22')
    await bind(id)
    expect((await filtersOf(app.db, vmId)).ofPublic).toMatchObject({ defaultInbound: 'DROP', rules: [{ ports: [{ from: 22, to: 22 }] }] })
    await unbind(id)
    expect((await filtersOf(app.db, vmId)).ofPublic).toEqual({ defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT', rules: [] })
    await expect(unbind(id)).rejects.toMatchObject({ code: 'not_found', message: 'The firewall web is not bound to db' })
  })

  test('removes all bindings when the VM is deleted', async () => {
    const { customer, vmId, firewall, bind } = await given()
    const id = await firewall('web')
    await bind(id)
    await app.db.tx(async (tx) => {
      await unbindAll(tx, vmId)
      await forgetPorts(tx, vmId)
    })
    expect((await customer.get(`/firewalls/${id}/bindings`)).body.data).toEqual([])
    expect((await customer.delete(`/firewalls/${id}`)).status).toBe(200)
  })
})

test('a rule change increments the desired version of the bound VMs only', async () => {
  const { customer, firewall, bind, version } = await given()
  const [mine, other] = [await firewall('mine', '22'), await firewall('other')]
  await bind(mine)
  const path = `/firewalls/${mine}/rules`
  const { id: ruleId } = (await customer.get(path)).body.data[0]
  const start = await version()
  await customer.post(path, accept('80'))
  await customer.patch(`${path}/${ruleId}`, { port: '2222' })
  await customer.delete(`${path}/${ruleId}`)
  await customer.put(path, { rules: [] })
  expect(await version()).toBe(start + 4)
  await customer.post(`/firewalls/${other}/rules`, accept('80'))
  await customer.patch(`/firewalls/${mine}`, { name: 'renamed' })
  await customer.post(path, accept('nonsense'))
  expect(await version()).toBe(start + 4)
})

test('a binding concurrent with a rule change never misses the change', async () => {
  const { customer, vmId, firewall, bind } = await given()
  for (let round = 0; round < 10; round++) {
    const id = await firewall(`race${round}`)
    const bindAndRead = async () => {
      await bind(id)
      return { version: await desiredVersion(app.db, vmId), filter: (await filtersOf(app.db, vmId)).ofPublic }
    }
    const [seen] = await Promise.all([bindAndRead(), customer.post(`/firewalls/${id}/rules`, accept(`${1000 + round}`))])
    const isSeen = seen.filter.rules.some((rule) => rule.ports[0]!.from === 1000 + round)
    expect(isSeen || (await desiredVersion(app.db, vmId)) > seen.version).toBe(true)
  }
})

describe('a firewall that covers private interfaces', () => {
  test('filters them, after the others in the order of bindings and without those that do not cover them', async () => {
    const { customer, vmId, firewall, bind, unbind, version } = await given()
    const [first, second, third] = [await firewall('first', '1'), await firewall('second', '2'), await firewall('third', '3')]
    for (const id of [first, second, third]) await bind(id)
    const ports = async () => (await filtersOf(app.db, vmId)).ofPrivate?.rules.map((rule) => rule.ports[0]!.from)
    expect(await ports()).toBeUndefined()
    const before = await version()
    for (const id of [third, first]) {
      const { body } = await customer.patch(`/firewalls/${id}`, { coversPrivate: true })
      expect(body.data).toMatchObject({ coversPrivate: true, applied: false })
    }
    expect(await version()).toBe(before + 2)
    expect(await ports()).toEqual([1, 3])
    expect((await filtersOf(app.db, vmId)).ofPublic.rules).toHaveLength(3)
    await customer.patch(`/firewalls/${first}`, { coversPrivate: true, name: 'same' })
    expect(await version()).toBe(before + 2)
    await unbind(third)
    await customer.patch(`/firewalls/${first}`, { coversPrivate: false })
    expect(await version()).toBe(before + 4)
    expect((await filtersOf(app.db, vmId)).ofPrivate).toBeNull()
  })

  test('drops what comes in when it has no rules', async () => {
    const { customer, vmId, bind } = await given()
    const { body } = await customer.post('/firewalls', { name: 'all', coversPrivate: true })
    expect(body.data.coversPrivate).toBe(true)
    await bind(body.data.id)
    expect((await filtersOf(app.db, vmId)).ofPrivate).toEqual({ rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' })
  })
})

describe('checking a packet', () => {
  const ask = (direction: 'IN' | 'OUT', port: number, address = '198.51.100.1') => ({ direction, protocol: 'TCP' as const, port, address })

  test('names the deciding rule and its firewall', async () => {
    const { customer, vmId, firewall, bind } = await given()
    const [first, second] = [await firewall('first', '80'), await firewall('second', '22,80')]
    await bind(first)
    await bind(second)
    const vm = { vmId, networkId: null, addresses: ['10.77.0.9'] }
    const check = (input: ReturnType<typeof ask>) => checkPacket(app.db, customer.accountId, first, vm, input)
    expect(await check(ask('IN', 22))).toMatchObject({
      action: 'ACCEPT',
      decidedBy: 'RULE',
      firewallId: second,
      rule: { position: 1, port: '22,80' },
    })
    expect(await check(ask('IN', 80))).toMatchObject({ action: 'ACCEPT', firewallId: first, applied: false })
    expect(await check(ask('IN', 443))).toEqual({ action: 'DROP', decidedBy: 'DEFAULT', firewallId: null, rule: null, applied: false })
    expect(await check(ask('OUT', 443))).toMatchObject({ action: 'ACCEPT', decidedBy: 'DEFAULT' })
  })

  test("uses the peer as source and the VM's address as destination for inbound packets", async () => {
    const { customer, vmId, firewall, bind } = await given()
    const id = await firewall('web')
    await bind(id)
    const vm = { vmId, networkId: null, addresses: ['10.77.0.9'] }
    await customer.put(`/firewalls/${id}/rules`, {
      rules: [
        { ...accept('22'), sourceIps: ['198.51.100.0/24'], destIps: ['10.77.0.9'] },
        { ...accept('25'), direction: 'OUT', action: 'REJECT', destIps: ['198.51.100.0/24'] },
      ],
    })
    const actions = await Promise.all(
      [ask('IN', 22), ask('IN', 22, '203.0.113.1'), ask('OUT', 25), ask('OUT', 25, '203.0.113.1')].map(
        async (input) => (await checkPacket(app.db, customer.accountId, id, vm, input)).action,
      ),
    )
    expect(actions).toEqual(['ACCEPT', 'DROP', 'REJECT', 'ACCEPT'])
    const nowhere = await checkPacket(app.db, customer.accountId, id, { vmId, networkId: null, addresses: [] }, ask('IN', 22))
    expect(nowhere.decidedBy).toBe('DEFAULT')
  })

  test('requires a port for exactly the protocols that have one', async () => {
    const { customer, vmId, firewall, bind } = await given()
    const id = await firewall('web')
    await bind(id)
    const check = (protocol: 'TCP' | 'ICMP', port: number | null) =>
      checkPacket(
        app.db,
        customer.accountId,
        id,
        { vmId, networkId: null, addresses: [] },
        { direction: 'IN', protocol, port, address: '198.51.100.1' },
      )
    await expect(check('TCP', null)).rejects.toMatchObject({ code: 'validation_failed' })
    await expect(check('ICMP', 8)).rejects.toMatchObject({ code: 'validation_failed' })
    expect((await check('ICMP', null)).action).toBe('DROP')
  })

  test('asks the rules for private interfaces of one of them', async () => {
    const { customer, vmId, firewall, bind } = await given()
    const [open, covering] = [await firewall('open', '80'), await firewall('covering', '22')]
    for (const id of [open, covering]) await bind(id)
    const check = (port: number, networkId: string | null) =>
      checkPacket(app.db, customer.accountId, open, { vmId, networkId, addresses: ['10.0.0.2'] }, ask('IN', port, '10.0.0.3'))
    expect(await check(443, 'clan')).toMatchObject({ action: 'ACCEPT', decidedBy: 'NO_FIREWALL' })
    await customer.patch(`/firewalls/${covering}`, { coversPrivate: true })
    expect(await check(22, 'clan')).toMatchObject({ action: 'ACCEPT', firewallId: covering, rule: { position: 1 } })
    expect(await check(80, 'clan')).toMatchObject({ action: 'DROP', decidedBy: 'DEFAULT' })
    expect(await check(80, null)).toMatchObject({ action: 'ACCEPT', firewallId: open })
  })

  test('takes IPv6, with the address of that family of the interface', async () => {
    const { customer, vmId, firewall, bind } = await given()
    const id = await firewall('web')
    await bind(id)
    await customer.put(`/firewalls/${id}/rules`, {
      rules: [
        { ...accept('22'), sourceIps: ['2001:DB8::/32', '198.51.100.0/24'], destIps: ['2001:db8::9'] },
        { direction: 'IN', action: 'ACCEPT', protocol: 'ICMPV6' },
      ],
    })
    const vm = { vmId, networkId: null, addresses: ['10.77.0.9', '2001:db8::9'] }
    const check = (input: Partial<Parameters<typeof checkPacket>[4]>) =>
      checkPacket(app.db, customer.accountId, id, vm, { ...ask('IN', 22), ...input })
    expect(await check({ address: '2001:db8:1::1' })).toMatchObject({
      action: 'ACCEPT',
      rule: { sourceIps: ['2001:db8::/32', '198.51.100.0/24'] },
    })
    expect(await check({ address: '2001:db9::1' })).toMatchObject({ action: 'DROP' })
    expect(await check({ address: '198.51.100.1' })).toMatchObject({ action: 'DROP' })
    expect(await check({ address: '2001:db9::1', protocol: 'ICMPV6', port: null })).toMatchObject({ action: 'ACCEPT' })
    for (const refused of [
      { protocol: 'ICMP', port: null, address: '::1' },
      { protocol: 'ICMPV6', port: null },
      { address: '1::2::3' },
    ] as const)
      await expect(check(refused)).rejects.toMatchObject({ code: 'validation_failed' })
  })

  test('is refused for an unbound firewall', async () => {
    const { customer, vmId, firewall } = await given()
    const check = checkPacket(app.db, customer.accountId, await firewall('web'), { vmId, networkId: null, addresses: [] }, ask('IN', 22))
    await expect(check).rejects.toMatchObject({ code: 'invalid_state' })
  })
})
