import { describe, expect, test } from 'vitest'
import type { Customer } from '../../../../test/endpoint-table.ts'
import { testApp } from '../../../../test/harness.ts'
import { sql } from '../../../kernel/database/db.ts'
import { addPool } from '../../hosts/service.ts'
import { tellRoutes } from '../reconcilers/guest-routes.reconciler.ts'
import type { Reach } from '../schema.ts'

const app = await testApp()
const accept = (port: string, more: object = {}) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port, ...more })

let ranges = 0
const given = async () => {
  const customer = await app.given.customer({ credit: '1000.00' })
  const cidr = `10.20.${ranges++}`
  const network = async (name = 'lan', range = `${cidr}.0/24`): Promise<string> =>
    (await customer.post('/networks', { name, nodeId: app.host.id, cidr: range })).body.data.id
  const vm = async (name: string, more: object = {}): Promise<string> => (await app.given.vm(customer, { name, ...more })).id
  const firewall = async (vmId: string, rules: object[], more: object = {}): Promise<string> => {
    const { id } = (await customer.post('/firewalls', { name: 'guard', ...more })).body.data
    await customer.put(`/firewalls/${id}/rules`, { rules })
    await customer.post(`/firewalls/${id}/bindings`, { vmId })
    return id
  }
  return { customer, cidr, network, vm, firewall, reach: reachOf(customer) }
}
const reachOf =
  (customer: Customer) =>
  async (from: string, to: string, packet: object = { protocol: 'TCP', port: 22 }): Promise<Reach> => {
    const { status, body } = await customer.post(`/vms/${from}/reach`, { to, ...packet })
    expect([status, body.error]).toEqual([200, undefined])
    return body.data
  }
const addressOf = async (customer: Customer, vmId: string): Promise<string> => (await customer.get(`/vms/${vmId}`)).body.data.ipAddress
const last = ({ steps }: Reach) => steps.at(-1)!

describe('POST /vms/{id}/reach', () => {
  test('takes the network of both VMs first, and shows every step', async () => {
    const { customer, cidr, network, vm, reach } = await given()
    const networkId = await network()
    const [web, db] = [await vm('web', { privateNetworkIds: [networkId] }), await vm('db', { privateNetworkIds: [networkId] })]
    expect(await reach(web, db)).toEqual({
      verdict: 'REACHABLE',
      source: { vmId: web, networkId, address: `${cidr}.2` },
      destination: { vmId: db, address: `${cidr}.3` },
      applied: true,
      steps: [
        {
          step: 'SENDER',
          passes: true,
          action: null,
          firewallId: null,
          rule: null,
          detail: 'web is RUNNING',
          remedy: null,
          missingPeering: null,
        },
        expect.objectContaining({
          step: 'OUTBOUND_FILTER',
          action: 'ACCEPT',
          detail: `No firewall filters what goes out of web by the network lan (${cidr}.0/24)`,
        }),
        expect.objectContaining({ step: 'ROUTE', passes: true, detail: `By the network lan (${cidr}.0/24)` }),
        expect.objectContaining({ step: 'INBOUND_FILTER', passes: true }),
        expect.objectContaining({ step: 'RECEIVER', passes: true, detail: 'db is RUNNING' }),
      ],
    })
    const byPublic = await reach(web, await addressOf(customer, db))
    expect([byPublic.source.networkId, byPublic.destination.vmId, byPublic.verdict]).toEqual([null, db, 'REACHABLE'])
  })

  test('names the firewall and the rule that decide, on the interface that is used', async () => {
    const { customer, network, vm, firewall, reach } = await given()
    const networkId = await network()
    const [web, db] = [await vm('web', { privateNetworkIds: [networkId] }), await vm('db', { privateNetworkIds: [networkId] })]
    const firewallId = await firewall(db, [accept('5432'), accept('22', { action: 'REJECT' })])
    expect((await reach(web, db)).verdict).toBe('REACHABLE') // the firewall does not cover the network
    const address = await addressOf(customer, db)
    expect(last(await reach(web, address))).toMatchObject({
      step: 'INBOUND_FILTER',
      passes: false,
      action: 'REJECT',
      firewallId,
      rule: { position: 2 },
      detail: 'Rule 2 of the firewall guard rejects TCP port 22 into db',
      remedy: 'Change the rule, or put one before it that accepts TCP port 22',
    })
    await customer.patch(`/firewalls/${firewallId}`, { coversPrivate: true })
    const blocked = await reach(web, db)
    expect([blocked.verdict, blocked.source.networkId, blocked.applied]).toEqual(['BLOCKED', networkId, false])
    expect(last(await reach(web, db, { protocol: 'ICMP' }))).toMatchObject({
      action: 'DROP',
      rule: null,
      detail: 'No rule matches, and the default drops what goes into db',
      remedy: 'Add a rule that accepts ICMP to the firewall guard',
    })
    expect(last(await reach(web, address, { protocol: 'ICMP' })).remedy).toBe('Add a rule that accepts ICMP to the firewall guard')
    await firewall(db, [], { name: 'outer' })
    expect(last(await reach(web, db, { protocol: 'ICMP' })).remedy).toBe('Add a rule that accepts ICMP to the firewall guard')
    expect(last(await reach(web, address, { protocol: 'ICMP' })).remedy).toBe(
      'Add a rule that accepts ICMP to one of the firewalls guard, outer',
    )
    expect((await reach(web, db, { protocol: 'TCP', port: 5432 })).verdict).toBe('REACHABLE')
    await firewall(web, [accept('any', { direction: 'OUT', action: 'DROP', destIps: [address] })])
    expect(last(await reach(web, address, { protocol: 'TCP', port: 5432 }))).toMatchObject({ step: 'OUTBOUND_FILTER', action: 'DROP' })
  })

  test('falls back to the public address of a VM where its private one is closed', async () => {
    const { network, vm, firewall, reach } = await given()
    const networkId = await network()
    const [web, db] = [await vm('web', { privateNetworkIds: [networkId] }), await vm('db', { privateNetworkIds: [networkId] })]
    await firewall(db, [accept('any', { destIps: ['10.77.0.0/16'] })], { coversPrivate: true })
    const { verdict, source } = await reach(web, db)
    expect([verdict, source.networkId]).toEqual(['REACHABLE', null])
  })

  test('says which network is missing', async () => {
    const { cidr, network, vm, reach } = await given()
    const networkId = await network('back')
    const [web, db] = [await vm('web'), await vm('db', { privateNetworkIds: [networkId] })]
    expect((await reach(web, db)).destination.address).toMatch(/^10\.77\./)
    expect(last(await reach(web, `${cidr}.2`))).toMatchObject({
      step: 'CLOSED_RANGE',
      passes: false,
      remedy: 'Attach web to the network back, or to a peer of it',
    })
    expect(last(await reach(db, `${cidr}.77`))).toMatchObject({
      step: 'DESTINATION',
      passes: false,
      detail: expect.stringContaining('Nobody in'),
      remedy: 'Use the address of a VM that is attached',
    })
    const ping = await reach(db, `${cidr}.1`, { protocol: 'ICMP' })
    expect([ping.verdict, last(ping).step]).toEqual(['REACHABLE', 'DESTINATION'])
    expect(last(await reach(db, `${cidr}.1`))).toMatchObject({ step: 'DESTINATION', detail: expect.stringContaining('answers pings only') })
  })

  test('says which peering is missing, or where there can be none', async () => {
    const { customer, cidr, network, vm, reach } = await given()
    const [other, alone] = ['10.21.', '10.22.'].map((start) => cidr.replace('10.20.', start)) as [string, string]
    const [lan, back] = [await network(), await network('back', `${other}.0/24`)]
    const closed = { name: 'alone', nodeId: app.host.id, cidr: `${alone}.0/24`, enableSnat: false, enableDhcp: false }
    const { id: aloneId, gateway } = (await customer.post('/networks', closed)).body.data
    expect(gateway).toBeNull()
    const [web, free] = [await vm('web', { privateNetworkIds: [lan] }), await vm('free')]
    await vm('db', { privateNetworkIds: [back, aloneId] })
    expect(last(await reach(web, `${other}.2`))).toMatchObject({
      step: 'CLOSED_RANGE',
      remedy: 'Connect the networks lan and back by a peering',
      missingPeering: [
        { id: lan, name: 'lan' },
        { id: back, name: 'back' },
      ],
    })
    expect(last(await reach(free, `${other}.2`))).toMatchObject({
      remedy: 'Attach free to the network back, or to a peer of it',
      missingPeering: null,
    })
    expect(last(await reach(web, `${alone}.1`))).toMatchObject({ remedy: 'Attach web to the network alone', missingPeering: null })
  })

  test('follows peerings, and routes to their next hop', async () => {
    const { customer, cidr, network, vm, reach } = await given()
    const other = cidr.replace('10.20.', '10.21.')
    const [lan, back] = [await network(), await network('back', `${other}.0/24`)]
    const [web, db] = [await vm('web', { privateNetworkIds: [lan] }), await vm('db', { privateNetworkIds: [back] })]
    expect((await reach(web, db)).source.networkId).toBeNull()
    expect((await customer.post(`/networks/${lan}/peerings`, { networkId: back })).status).toBe(201)
    const { verdict, source, destination, steps } = await reach(web, db)
    expect([verdict, source.networkId, destination.address]).toEqual(['REACHABLE', lan, `${other}.2`])
    const [inWeb, inDb] = [`"ip route add ${other}.0/24 via ${cidr}.1" in web`, `"ip route add ${cidr}.0/24 via ${other}.1" in db`]
    const remedy = 'The guest agent has not configured the way yet, or there is none: unless the guest asks DHCP, run'
    expect(steps.find(({ step }) => step === 'ROUTE')).toMatchObject({
      detail: `By the network lan (${cidr}.0/24) and its peering with the network of ${other}.2`,
      remedy: `${remedy} ${inWeb} and ${inDb}`,
    })
    expect(steps.find(({ step }) => step === 'INBOUND_FILTER')!.detail).toBe(
      `No firewall filters what goes into db by the network back (${other}.0/24)`,
    )
    const toGateway = await reach(web, `${other}.1`, { protocol: 'ICMP' })
    expect([toGateway.verdict, toGateway.steps[2]!.remedy]).toEqual(['REACHABLE', expect.stringMatching(/in web$/)])
    expect((await reach(web, `${other}.2`)).destination.vmId).toBe(db)
    expect(last(await reach(web, `${other}.9`))).toMatchObject({ step: 'DESTINATION', passes: false })
    const hop = await vm('hop', { privateNetworkIds: [lan] })
    const route = { destination: '192.168.50.0/24', nextHop: `${cidr}.3` }
    expect((await customer.post(`/networks/${lan}/routes`, route)).status).toBe(201)
    const behind = await reach(web, '192.168.50.7')
    expect([behind.verdict, behind.destination.vmId]).toEqual(['FORWARDED', hop])
    expect((await customer.post(`/networks/${lan}/routes`, { destination: '192.168.51.0/24', nextHop: `${cidr}.77` })).status).toBe(201)
    expect(last(await reach(web, '192.168.51.7'))).toMatchObject({
      step: 'DESTINATION',
      passes: false,
      detail: `No VM in ${cidr}.0/24 has ${cidr}.77, the next hop of the route`,
      remedy: 'Let the route lead to the address of a VM that is attached',
    })
    expect(behind.steps[2]!.remedy).toMatch(`run "ip route add 192.168.50.0/24 via ${cidr}.1" in web`)

    // Once its agent has configured it, a guest needs no remedy: the other one has none, and does not know the way back.
    await app.db.run(sql`update simulated.machines set has_agent = false where name = ${db}`)
    await tellRoutes.runOnce(app.deps)
    expect((await reach(web, '192.168.50.7')).steps[2]!.remedy).toBeNull()
    expect((await reach(web, db)).steps.find(({ step }) => step === 'ROUTE')!.remedy).toBe(`${remedy} ${inDb}`)
    expect((await reach(web, hop)).steps.every((each) => each.remedy === null)).toBe(true)
  })

  test('says that a port is kept for hosts, outside of networks', async () => {
    const { network, vm, reach } = await given()
    const networkId = await network()
    const [web, db] = [await vm('web', { privateNetworkIds: [networkId] }), await vm('db', { privateNetworkIds: [networkId] })]
    const packet = { protocol: 'TCP', port: 16514 }
    expect((await reach(web, db, packet)).verdict).toBe('REACHABLE')
    expect(last(await reach(web, '198.51.100.7', packet))).toMatchObject({
      step: 'CLOSED_RANGE',
      passes: false,
      detail: 'TCP port 16514 is kept for the hosts of the service, and closed to VMs outside of their networks',
    })
  })

  test('says what is missing of a family', async () => {
    const { vm, reach } = await given()
    const [web, db] = [await vm('web'), await vm('db')]
    expect(last(await reach(web, '2001:db8::7'))).toMatchObject({
      step: 'ROUTE',
      passes: false,
      detail: 'web has no IPv6 address that leads there',
      remedy: 'Use IPv4, or VMs with a public IPv6 address: private networks have none',
    })
    const { destination, steps } = await reach(web, db, { protocol: 'ICMPV6' })
    expect([destination.address, steps.at(-1)!.detail]).toEqual([null, 'db has no IPv6 address'])
  })

  test('says that a VM does not run', async () => {
    const { customer, vm, reach } = await given()
    const [web, db] = [await vm('web'), await vm('db')]
    await customer.post(`/vms/${db}/stop`, {})
    await app.settle({ subjectId: db })
    expect(last(await reach(web, db))).toMatchObject({ step: 'RECEIVER', passes: false, detail: 'db is STOPPED', remedy: 'Start it' })
    const { verdict, steps } = await reach(db, web)
    expect([verdict, steps.length, steps[0]!.step]).toEqual(['BLOCKED', 1, 'SENDER'])
  })

  test('says the same of an address that is free and of one that another account has', async () => {
    const [mine, theirs] = [await given(), await given()]
    const [web, other] = [await mine.vm('web'), await theirs.vm('other')]
    await theirs.firewall(other, [])
    const [taken, free] = [await addressOf(theirs.customer, other), '10.77.15.254']
    const [one, two] = [await mine.reach(web, taken), await mine.reach(web, free)]
    expect(one.verdict).toBe('FORWARDED')
    expect(JSON.stringify(one).replaceAll(taken, 'x')).toBe(JSON.stringify(two).replaceAll(free, 'x'))
    // A network of another account with the same range is not theirs to see either.
    const networkId = await theirs.network('theirs', '10.99.0.0/24')
    await theirs.vm('inside', { privateNetworkIds: [networkId] })
    const remedyTo = async (address: string) => last(await mine.reach(web, address)).remedy?.replaceAll(address, 'x')
    const remedy = 'No VM of this account has x: use the address of one in a network of web'
    expect([await remedyTo('10.99.0.2'), await remedyTo('10.99.0.77')]).toEqual([remedy, remedy])
  })

  test.each([
    ['no destination', { protocol: 'TCP', port: 22 }, 400, 'to'],
    ['text', { to: 'web 1', protocol: 'TCP', port: 22 }, 400, 'to'],
    ['an IPv4 range', { to: '10.0.0.0/8', protocol: 'TCP', port: 22 }, 400, 'to'],
    ['a multicast address', { to: '224.0.0.1', protocol: 'TCP', port: 22 }, 400, 'to'],
    ['loopback', { to: '::1', protocol: 'TCP', port: 22 }, 400, 'to'],
    ['a mapped address', { to: '::ffff:10.0.0.1', protocol: 'TCP', port: 22 }, 400, 'to'],
    ['TCP without a port', { to: '1.1.1.1', protocol: 'TCP' }, 400, 'port'],
    ['ICMP with a port', { to: '1.1.1.1', protocol: 'ICMP', port: 8 }, 400, 'port'],
    ['ICMPv6 to IPv4', { to: '1.1.1.1', protocol: 'ICMPV6' }, 400, 'ICMPV6'],
    ['another protocol', { to: '1.1.1.1', protocol: 'ANY' }, 400, 'protocol'],
    ['a name', { to: 'banana', protocol: 'ICMP' }, 400, 'to must be an IP address or the id of a VM'],
    ['an address with a number over 255', { to: '10.0.0.300', protocol: 'ICMP' }, 400, 'to must be an IP address or the id of a VM'],
    ['a VM that does not exist', { to: 'cnothing00000000000000000', protocol: 'ICMP' }, 404, 'VM not found'],
  ])('refuses %s', async (_, body, status, words) => {
    const { customer, vm } = await given()
    const answer = await customer.post(`/vms/${await vm('web')}/reach`, body)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(words)])
  })

  test("refuses another account's VM at either end, and the VM itself", async () => {
    const [mine, theirs] = [await given(), await given()]
    const [web, other] = [await mine.vm('web'), await theirs.vm('other')]
    const ask = (from: string, to: string) => mine.customer.post(`/vms/${from}/reach`, { to, protocol: 'ICMP' })
    const answers = [await ask(web, other), await ask(other, web), await ask(web, web), await ask(web, await addressOf(mine.customer, web))]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 400, 400])
  })

  // The last one: VMs that follow have an IPv6 address.
  test('advises what connects two VMs of different families', async () => {
    const { customer, cidr, network, vm, reach } = await given()
    const back = await network('back', `${cidr.replace('10.20.', '10.21.')}.0/24`)
    const four = await vm('four', { privateNetworkIds: [back] })
    const pool = { regionId: app.host.region_id, hostId: null, cidr: '2001:db8:7::/64', gateway: '2001:db8:7::1' }
    await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
    const [six, both] = [await vm('six', { publicIpv4: false }), await vm('both')]
    const remedy = async (from: string, to: string, packet?: object) => last(await reach(from, to, packet)).remedy
    expect(await remedy(six, four)).toBe('Attach both VMs to one private network')
    expect(await remedy(six, await addressOf(customer, four))).toBe('Attach both VMs to one private network')
    expect(await remedy(four, six)).toBe('Attach both VMs to one private network')
    expect(await remedy(six, await addressOf(customer, both))).toBe('Use IPv6, or attach both VMs to one private network')
    expect(await remedy(six, '1.1.1.1')).toBe('Use IPv6, or attach six to a network whose gateway leads to the internet (SNAT)')
    expect(await remedy(six, '192.168.1.1')).toBe('No VM of this account has 192.168.1.1: use the address of one in a network of six')
    expect(await remedy(four, six, { protocol: 'ICMPV6' })).toBe('Use VMs with a public IPv6 address: private networks have none')
    expect(await remedy(both, four, { protocol: 'ICMPV6' })).toBe('Use IPv4, or VMs with a public IPv6 address: private networks have none')
    const lan = await network()
    const db = await vm('db', { privateNetworkIds: [lan], publicIpv4: false })
    expect(await remedy(six, `${cidr}.2`)).toBe('Attach six to the network lan, or to a peer of it')
    expect(last(await reach(four, db))).toMatchObject({
      step: 'ROUTE',
      remedy: 'Connect the networks back and lan by a peering',
      missingPeering: [{ name: 'back' }, { name: 'lan' }],
    })
  })
})
