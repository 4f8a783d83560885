// Private networks with real guests: connectivity, internet access, and what guests reach on the host.
import { describe, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sleep } from '../src/kernel/clock.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS, type Customer } from './real-product.ts'
import { realGuests, type Guest } from './real-guests.ts'

interface Shown {
  privateNetworks: { id: string; ipAddress: string }[]
}

const COMBINATIONS = [
  { enableSnat: true, enableDhcp: true },
  { enableSnat: true, enableDhcp: false },
  { enableSnat: false, enableDhcp: true },
  { enableSnat: false, enableDhcp: false },
]

describeIf(missingForRealHost())('real private networks', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { customer, newCustomer, sandbox, outside, boot, inside, succeeds, pings, connect, answerOnHost, host, broken } = await realGuests()
  const stranger = await newCustomer('eve@example.com')
  const { regionId } = await customer.tiny()
  const network = async (cidr: string, settings: object, owner: Customer = customer): Promise<string> =>
    (await owner.make('/networks', { name: `net ${cidr}`, nodeId: regionId, cidr, ...settings })).id
  const addressIn = async (networkId: string, { vmId }: Guest, owner: Customer = customer): Promise<string> =>
    (await owner.get<Shown>(`/vms/${vmId}`)).privateNetworks.find(({ id }) => id === networkId)!.ipAddress

  const routes = (): Promise<string> => sandbox.inside('ip', 'route')
  const routesBefore = await routes()
  const switches = (): Promise<string> => sandbox.inside('ovn-nbctl', 'ls-list')
  const lan = await network('10.201.0.0/24', COMBINATIONS[0]!)
  const theirs = await network('10.201.0.0/24', COMBINATIONS[0]!, stranger)
  const [ada, bob, eve] = await Promise.all([
    boot('ada', { privateNetworkIds: [lan] }),
    boot('bob'),
    boot('eve', { privateNetworkIds: [theirs] }, stranger),
  ])

  const attach = (guest: Guest, networkId: string): Promise<string> => customer.order('POST', `/vms/${guest.vmId}/networks`, { networkId })
  const detach = (guest: Guest, networkId: string): Promise<string> => customer.order('DELETE', `/vms/${guest.vmId}/networks/${networkId}`)
  /** The guest's name of the interface with that address, or nothing. */
  const interfaceWith = (guest: Guest, address: string): Promise<string> =>
    inside(guest, `ip -o -4 addr | awk -v address="$0" 'index($4, address "/") == 1 { print $2 }'`, address)
  /** Routes outside traffic through that gateway, and returns whether it works. */
  const getsOut = async (guest: Guest, gateway: string): Promise<boolean> => {
    await inside(guest, 'ip route replace "$0" via "$1"', outside.address, gateway)
    const out = await pings(guest, outside.address)
    await inside(guest, 'ip route del "$0"', outside.address)
    return out
  }

  test('two VMs reach each other, one attached at creation and one while running', async () => {
    await attach(bob, lan)
    const [here, there] = [await addressIn(lan, ada), await addressIn(lan, bob)]
    expect([await interfaceWith(ada, here), await interfaceWith(bob, there)]).toEqual(['eth1', 'eth1'])
    expect([await pings(ada, there), await pings(bob, here)]).toEqual([true, true])
    expect(await customer.get(`/networks/${lan}`)).toMatchObject({ attachmentCount: 2 })
  })

  test('a firewall filters the network exactly while it covers private interfaces, and POST /vms/{id}/reach says so', async () => {
    const there = await addressIn(lan, bob)
    const { id } = await customer.make('/firewalls', { name: 'guard' })
    await customer.make(`/firewalls/${id}/bindings`, { vmId: bob.vmId })
    const change = async (path: string, body: object, method?: string): Promise<void> => {
      await customer.make(`/firewalls/${id}${path}`, body, method)
      await eventually(async () => (await customer.get<{ applied: boolean }>(`/firewalls/${id}`)).applied, TIMEOUT_MS)
    }
    const fate = async (address: string): Promise<[boolean, string]> => {
      const answer = await customer.make(`/vms/${ada.vmId}/reach`, { to: address, protocol: 'ICMP' })
      return [await pings(ada, address), (answer as unknown as { verdict: string }).verdict]
    }
    expect(await fate('10.201.0.1')).toEqual([true, 'REACHABLE'])
    expect(await fate('10.201.0.99')).toEqual([false, 'BLOCKED'])
    expect(await fate(there)).toEqual([true, 'REACHABLE'])
    await change('', { coversPrivate: true }, 'PATCH')
    expect(await fate(there)).toEqual([false, 'BLOCKED'])
    await change('/rules', { direction: 'IN', action: 'ACCEPT', protocol: 'ICMP', sourceIps: [await addressIn(lan, ada)] })
    expect(await fate(there)).toEqual([true, 'REACHABLE'])
    await change('', { coversPrivate: false }, 'PATCH')
    expect(await fate(there)).toEqual([true, 'REACHABLE'])
    expect((await customer.send('DELETE', `/firewalls/${id}/bindings/${bob.vmId}`)).status).toBe(200)
    expect((await customer.send('DELETE', `/firewalls/${id}`)).status).toBe(200)
  })

  test('a VM of another account reaches neither, although its network has the same range', async () => {
    expect((await stranger.send('POST', `/vms/${eve.vmId}/networks`, { networkId: lan })).status).toBe(404)
    const [target, own] = [await addressIn(lan, bob), await addressIn(theirs, eve, stranger)]
    expect([own, await interfaceWith(eve, own)]).toEqual([await addressIn(lan, ada), 'eth1'])
    expect([await getsOut(eve, '10.201.0.1'), await pings(eve, target)]).toEqual([true, false])
    // Through its own gateway, and through its neighbour's public address.
    for (const way of ['10.201.0.1', ada.address]) {
      await inside(eve, 'ip route replace "$0" via "$1"', target, way)
      expect(await pings(eve, target)).toBe(false)
    }
    await inside(eve, 'ip route del "$0"', target)
    const twice = { name: 'twice', nodeId: regionId, cidr: '10.201.0.0/25' }
    expect((await stranger.send('POST', '/networks', twice)).status).toBe(409)
  })

  test('no host has a route of a network', async () => {
    expect(await switches()).toContain(lan)
    expect(await routes()).toBe(routesBefore)
  })

  describe.each(COMBINATIONS)('with SNAT $enableSnat and DHCP $enableDhcp', (settings) => {
    const { enableSnat, enableDhcp } = settings
    const third = 10 + COMBINATIONS.indexOf(settings)
    const gateway = `10.201.${third}.1`

    test('VMs reach each other, and have internet access and DHCP as configured', async () => {
      const networkId = await network(`10.201.${third}.0/24`, settings)
      await Promise.all([attach(ada, networkId), attach(bob, networkId)])
      const [here, there] = [await addressIn(networkId, ada), await addressIn(networkId, bob)]
      const device = await interfaceWith(ada, here)
      expect(device).toMatch(/^eth\d$/)
      expect(await pings(ada, there)).toBe(true)
      expect(await getsOut(ada, gateway)).toBe(enableSnat)
      const asked = await inside(ada, 'udhcpc -i "$0" -n -q -f -t 3 -T 2 -s /bin/true 2>&1', device)
      expect(/lease of (\S+) obtained/.exec(asked)?.[1]).toBe(enableDhcp ? here : undefined)

      const refused = await customer.send('DELETE', `/networks/${networkId}`)
      expect([refused.status, refused.error]).toEqual([409, expect.stringContaining('is in use by ')])
      await Promise.all([detach(ada, networkId), detach(bob, networkId)])
      expect([await interfaceWith(ada, here), await succeeds(ada, '[ -e "/sys/class/net/$0" ]', device)]).toEqual(['', false])
      await customer.make(`/networks/${networkId}`, {}, 'DELETE')
      await expect.poll(switches).not.toContain(networkId)
    })
  })

  test('an address without DHCP survives a restart', async () => {
    const networkId = await network('10.201.20.0/24', COMBINATIONS[3]!)
    await attach(bob, networkId)
    await customer.order('POST', `/vms/${bob.vmId}/restart`)
    expect(await interfaceWith(bob, await addressIn(networkId, bob))).toMatch(/^eth\d$/)
    expect(await pings(bob, await addressIn(lan, ada))).toBe(true)
  })

  test('guests reach nothing on their host, nor private machines beside it', async () => {
    await answerOnHost(7000)
    const beside = sandbox.address.replace(/\d+$/, '1')
    const addresses = [sandbox.address, outside.hostAddress, host.gateway, '100.64.0.1']
    await expect.poll(() => connect.fromHost(sandbox.address, 7000)).toBe('open')
    expect(await connect.fromOutside(outside.hostAddress, 7000)).toBe('open')
    const heard = (): Promise<string[]> => Promise.all(addresses.map((address) => connect.fromGuest(ada, address, 7000)))
    expect([await heard(), await pings(ada, beside)]).toEqual([addresses.map(() => 'silence'), false])
    for (const address of [...addresses, beside]) await inside(ada, 'ip route replace "$0" via 10.201.0.1', address)
    expect([await heard(), await pings(ada, beside)]).toEqual([addresses.map(() => 'silence'), false])
    expect(await connect.fromGuest(ada, '10.201.0.1', 7000)).not.toBe('open')
  })

  /** Routes to the range in the guest: those that its agent configured have a metric of their own, after those of its owner. */
  const routesTo = async (guest: Guest, range: string): Promise<string[]> =>
    (await inside(guest, 'ip route | grep -F "$0 "', range))
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [line.trim().replaceAll(/ +/g, ' ')]))
  const OF_AGENT = 'metric 2147483647'

  test('guests are told the routes of their network by their agents, and a client of DHCP has its own beside them', async () => {
    const [range, target, nextHop] = ['192.168.77.0/24', '192.168.77.1', await addressIn(lan, bob)]
    await inside(bob, 'ip addr add "$0/32" dev lo; echo 1 > /proc/sys/net/ipv4/ip_forward', target)
    const { id } = await customer.make(`/networks/${lan}/routes`, { destination: range, nextHop })
    await expect.poll(() => pings(ada, target), { timeout: 20_000 }).toBe(true)
    const device = await interfaceWith(ada, await addressIn(lan, ada))
    const way = `${range} via 10.201.0.1 dev ${device}`
    expect([await routesTo(ada, range), await routesTo(bob, range)]).toEqual([[`${way} ${OF_AGENT}`], []])
    // Option 121 as pairs of range and gateway; the default route stays that of the public interface.
    const take = `printf '%s\\n' '#!/bin/sh' 'set -- $staticroutes' 'while [ "$2" ]; do [ "$1" = 0.0.0.0/0 ] || ip route replace $1 via $2; shift 2; done' > /tmp/take
      chmod +x /tmp/take; udhcpc -i "$0" -n -q -f -t 3 -T 2 -O staticroutes -s /tmp/take`
    await inside(ada, take, device)
    expect(await routesTo(ada, range)).toEqual([way, `${way} ${OF_AGENT}`])
    await customer.make(`/networks/${lan}/routes/${id}`, {}, 'DELETE')
    await expect.poll(() => routesTo(ada, range), { timeout: 20_000 }).toEqual([way])
    await inside(ada, 'ip route del "$0"', range)
  })

  test('VMs of two networks reach each other as long as these are peers, also after reboots, and keep routes of their owner', async () => {
    const rebootsItself = async (guest: Guest): Promise<void> => {
      await inside(guest, 'touch /run/before; (sleep 1; reboot) > /dev/null 2>&1 &')
      // A command that the reboot interrupts is waited for in vain.
      const hasBooted = (): Promise<boolean> =>
        Promise.race([succeeds(guest, '[ ! -e /run/before ]').catch(() => false), sleep(5_000).then(() => false)])
      await eventually(hasBooted, TIMEOUT_MS)
    }
    await detach(bob, lan)
    // Without DHCP, so that after a reboot of its own the guest has to be told its address, too.
    const far = await network('10.201.30.0/24', COMBINATIONS[1]!)
    await attach(bob, far)
    const [here, there] = [await addressIn(lan, ada), await addressIn(far, bob)]
    expect(await pings(ada, there)).toBe(false)
    const { id } = await customer.make(`/networks/${lan}/peerings`, { networkId: far })
    const meet = async (): Promise<boolean[]> => [await pings(ada, there), await pings(bob, here)]
    await expect.poll(meet, { timeout: 20_000 }).toEqual([true, true])
    const remedies = async (): Promise<string[]> => {
      const answer = await customer.make(`/vms/${ada.vmId}/reach`, { to: there, protocol: 'ICMP' })
      return (answer as unknown as { steps: { remedy: string | null }[] }).steps.flatMap(({ remedy }) => remedy ?? [])
    }
    await expect.poll(remedies).toEqual([])

    await rebootsItself(bob)
    await expect.poll(meet, { timeout: 60_000 }).toEqual([true, true])
    await customer.order('POST', `/vms/${ada.vmId}/restart`)
    await expect.poll(meet, { timeout: 60_000 }).toEqual([true, true])

    await inside(ada, 'ip route add 10.201.30.0/24 via 10.201.0.1 metric 7')
    const [own, told] = await routesTo(ada, '10.201.30.0/24')
    expect([own, told]).toEqual([expect.stringContaining('metric 7'), expect.stringContaining(OF_AGENT)])
    await customer.make(`/networks/${far}/peerings/${id}`, {}, 'DELETE')
    await expect.poll(() => routesTo(ada, '10.201.30.0/24'), { timeout: 20_000 }).toEqual([own])
    await expect.poll(() => routesTo(bob, '10.201.0.0/24'), { timeout: 20_000 }).toEqual([])
    await expect.poll(() => pings(ada, there), { timeout: 20_000 }).toBe(false)
  })

  test('nothing is left of deleted networks', async () => {
    await Promise.all([ada, bob].map(({ vmId }) => customer.order('DELETE', `/vms/${vmId}`)))
    await customer.make(`/networks/${lan}`, {}, 'DELETE')
    await expect.poll(switches).not.toContain(lan)
    expect(await broken()).toBe('')
  })
})
