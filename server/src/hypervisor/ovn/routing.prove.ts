// What the routers of private networks forward on real OVN, seen by packets: routes to a guest, peers, and nothing beside them.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { dhcpDiscover, echoAnswer, echoFrame, udpFrame, type End } from '../../../test/frames.ts'
import { OvnGuests, type PluggedGuest } from '../../../test/ovn-guests.ts'
import { missingForOvn, OUTSIDE, type Guest } from '../../../test/ovn-hosts.ts'
import { type NetworkSpec } from '../network-controller.ts'
import { networkRows } from './network-rows.ts'

const soon = (): AbortSignal => AbortSignal.timeout(20_000)
/** After this time a frame that has not arrived does not arrive. */
const SETTLE_MS = 300

describeIf(missingForOvn())('routers on OVN', { timeout: 120_000 }, () => {
  let ovn: OvnGuests
  beforeAll(async () => {
    ovn = await OvnGuests.open(2, { ranges: ['10.61.0.0/24'], allowed: [] })
  }, 60_000)
  afterAll(() => ovn?.close())

  const network = async (networkId: string, second: number, changes: Partial<NetworkSpec> = {}): Promise<NetworkSpec> => {
    const spec: NetworkSpec = {
      networkId,
      cidr: `10.${second}.0.0/24`,
      gateway: `10.${second}.0.1`,
      enableDhcp: true,
      dns: [],
      snat: null,
      routes: [],
      peers: [],
      ...changes,
    }
    await ovn.controller.ensureNetwork(spec, soon())
    return spec
  }
  const snat = (last: number) => ({ address: `10.61.0.${last}`, prefix: 24, gateway: OUTSIDE })
  const plug = (networkId: string | null, address: string, host: number): Promise<PluggedGuest> =>
    ovn.plug(ovn.portOf({ networkId, addresses: [address], host: `hv${host + 1}` }))
  const routerMac = (spec: NetworkSpec, key: 'inside' | 'outside'): string =>
    networkRows(spec).flatMap((row) => (row.table === 'Logical_Router_Port' && row.key === key ? [row.columns.mac!] : []))[0]!
  const via = (spec: NetworkSpec, address: string): End => ({ mac: routerMac(spec, 'inside'), address })
  let texts = 0
  const arrives = async (from: Guest, to: End, at: Guest, as: Partial<End> = {}): Promise<boolean> => {
    const text = `text-${++texts}!`
    await from.send(udpFrame(from, to, text, undefined, as))
    await delay(SETTLE_MS)
    return (await at.received()).includes(text)
  }
  const eventuallyArrives = async (...args: Parameters<typeof arrives>): Promise<void> => {
    await expect.poll(() => arrives(...args), { timeout: 10_000 }).toBe(true)
  }
  /** What DHCP offers, after the option's number. */
  const offered = async (guest: Guest, option: number[]): Promise<boolean> => {
    await guest.send(dhcpDiscover(guest))
    await delay(SETTLE_MS)
    return (await guest.received()).includes(Buffer.from(option).toString('latin1'))
  }

  test.each([
    ['without', 8, null],
    ['with', 9, snat(9)],
  ])('answer in networks %s a way out', async (_, second, way) => {
    const spec = await network(`netz${second}`, second, { snat: way })
    const guest = await plug(spec.networkId, `10.${second}.0.11`, 0)
    const gateway = via(spec, spec.gateway!)
    await guest.send(echoFrame(guest, gateway))
    await expect.poll(() => guest.received()).toContain(echoAnswer(guest, gateway))
  })

  test('forward routed ranges to their next hop across hosts, and announce them', async () => {
    const before = await network('neta', 1, { snat: snat(2) })
    const [one, hop] = [await plug('neta', '10.1.0.11', 0), await plug('neta', '10.1.0.12', 1)]
    await eventuallyArrives(one, hop, hop)
    const behind = { mac: hop.mac, address: '192.168.7.9' }
    const routed = via(before, behind.address)
    expect(await arrives(one, routed, hop)).toBe(false)
    expect(await arrives(hop, one, one, behind)).toBe(false)
    const announced = [121, 13, 0, 10, 1, 0, 1, 24, 192, 168, 7, 10, 1, 0, 1]
    expect(await offered(one, announced)).toBe(false)

    const spec = await network('neta', 1, { snat: snat(2), routes: [{ destination: '192.168.7.0/24', nextHop: hop.address }] })
    await ovn.controller.ensurePort({ ...hop.port, ranges: ['192.168.7.0/24'] }, soon())
    await eventuallyArrives(one, routed, hop)
    expect(await offered(one, announced)).toBe(true)
    // The next hop speaks for the range in its network, and for nothing else.
    expect(await arrives(hop, one, one, behind)).toBe(true)
    expect(await arrives(hop, one, one, { address: '192.168.8.9' })).toBe(false)
    expect(await arrives(hop, one, one, { address: '10.1.0.13' })).toBe(false)
    expect(await arrives(one, hop, hop, { address: '192.168.7.8' })).toBe(false)
    // Neither do other closed ranges pass, nor leaves anything that the range has sent.
    expect(await arrives(one, via(spec, '192.168.8.9'), hop)).toBe(false)
    const world = via(spec, OUTSIDE)
    await eventuallyArrives(hop, world, ovn.region.outside)
    expect(await arrives(hop, world, ovn.region.outside, behind)).toBe(false)

    await network('neta', 1, { snat: snat(2) })
    await expect.poll(() => arrives(one, routed, hop), { timeout: 5_000 }).toBe(false)
  })

  test('take nothing from outside for the ranges they route', async () => {
    const destination = '8.8.8.0/24'
    const spec = await network('netb', 2, { snat: snat(3), routes: [{ destination, nextHop: '10.2.0.12' }] })
    const [one, hop, stranger] = [await plug('netb', '10.2.0.11', 0), await plug('netb', '10.2.0.12', 1), await plug(null, '10.61.0.60', 0)]
    await ovn.controller.ensurePort({ ...hop.port, ranges: [destination] }, soon())
    await eventuallyArrives(one, via(spec, '8.8.8.8'), hop)
    const outside = { mac: routerMac(spec, 'outside'), address: '8.8.8.8' }
    for (const sender of [stranger, ovn.region.outside]) expect(await arrives(sender, outside, hop)).toBe(false)
  })

  test('connect peers across hosts, and nobody else, until the peering ends', async () => {
    const peer = ({ networkId, cidr, gateway }: NetworkSpec) => ({ networkId, cidr, gateway: gateway! })
    const behindHub = { destination: '192.168.9.0/24', nextHop: '10.5.0.12' }
    // One has a way out and a route; hub is the peer of both others.
    const one = await network('peer1', 4, { snat: snat(5) })
    const hub = await network('peer2', 5, { snat: snat(6), routes: [behindHub] })
    const third = await network('peer3', 6)
    const [a, h, behind, c] = [
      await plug('peer1', '10.4.0.11', 0),
      await plug('peer2', '10.5.0.11', 1),
      await plug('peer2', '10.5.0.12', 0),
      await plug('peer3', '10.6.0.11', 1),
    ]
    const stranger = await plug(null, '10.61.0.61', 1)
    await ovn.controller.ensurePort({ ...behind.port, ranges: [behindHub.destination] }, soon())
    expect(await arrives(a, via(one, h.address), h)).toBe(false)
    const announced = [24, 10, 5, 0, 10, 4, 0, 1]
    expect(await offered(a, announced)).toBe(false)

    // One side alone connects nothing.
    await network('peer1', 4, { snat: snat(5), peers: [peer(hub)] })
    expect(await arrives(a, via(one, h.address), h)).toBe(false)
    expect(await arrives(h, via(hub, a.address), a)).toBe(false)

    await network('peer2', 5, { snat: snat(6), routes: [behindHub], peers: [peer(one), peer(third)] })
    await network('peer3', 6, { peers: [peer(hub)] })
    await eventuallyArrives(a, via(one, h.address), h)
    await eventuallyArrives(h, via(hub, a.address), a)
    await eventuallyArrives(c, via(third, h.address), h)
    expect(await offered(a, announced)).toBe(true)
    // The source is the guest's own, not the router's.
    expect(await h.received()).toContain(Buffer.from([10, 4, 0, 11, 10, 5, 0, 11]).toString('latin1'))
    for (const gateway of [via(one, '10.4.0.1'), via(one, '10.5.0.1')]) {
      await a.send(echoFrame(a, gateway))
      await expect.poll(() => a.received()).toContain(echoAnswer(a, gateway))
    }

    // Peers of a peer do not meet, nor is a peer the way to its routes or out, nor is one spoken for by another.
    expect(await arrives(a, via(one, c.address), c)).toBe(false)
    expect(await arrives(c, via(third, a.address), a)).toBe(false)
    await eventuallyArrives(h, via(hub, '192.168.9.9'), behind)
    expect(await arrives(a, via(one, '192.168.9.9'), behind)).toBe(false)
    expect(await arrives(c, via(third, '192.168.9.9'), behind)).toBe(false)
    await eventuallyArrives(h, via(hub, OUTSIDE), ovn.region.outside)
    expect(await arrives(c, via(third, OUTSIDE), ovn.region.outside)).toBe(false)
    expect(await arrives(behind, via(hub, a.address), a)).toBe(true)
    expect(await arrives(behind, via(hub, a.address), a, { address: '192.168.9.9' })).toBe(false)
    for (const sender of [stranger, ovn.region.outside])
      for (const spec of [one, hub])
        expect(
          await arrives(sender, { mac: routerMac(spec, 'outside'), address: spec === one ? h.address : a.address }, spec === one ? h : a),
        ).toBe(false)

    await network('peer2', 5, { snat: snat(6), routes: [behindHub], peers: [peer(third)] })
    await expect.poll(() => arrives(a, via(one, h.address), h), { timeout: 5_000 }).toBe(false)
    expect(await arrives(h, via(hub, a.address), a)).toBe(false)
    expect(await arrives(c, via(third, h.address), h)).toBe(true)
    // A removed network takes its half with it.
    await ovn.controller.ensureNoPort(c.mac, soon())
    await ovn.controller.ensureNoNetwork('peer3', soon())
    await eventuallyArrives(a, via(one, OUTSIDE), ovn.region.outside)
  })

  test('announce as many routes as an option of DHCP holds', async () => {
    const routes = Array.from({ length: 31 }, (_, i) => ({ destination: `192.168.${i}.0/24`, nextHop: '10.3.0.12' }))
    await network('netc', 3, { snat: snat(4), routes })
    const guest = await plug('netc', '10.3.0.11', 0)
    expect(await offered(guest, [121, 253, 0, 10, 3, 0, 1, 24, 192, 168, 0, 10, 3, 0, 1])).toBe(true)
    expect(await offered(guest, [24, 192, 168, 30, 10, 3, 0, 1])).toBe(true)
  })
})
