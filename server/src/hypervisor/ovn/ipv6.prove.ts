// IPv6 of the public network, by packets: the kernels of guests find each other, and nothing passes that a tenant must not send.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import {
  arpFrame,
  BROADCAST,
  linkLocalOf,
  neighbourAdvertisement,
  ownRouterAdvertisement,
  udp6Frame,
  udpFrame,
  type End,
} from '../../../test/frames.ts'
import { OvnGuests, type PluggedGuest } from '../../../test/ovn-guests.ts'
import { missingForOvn, type Guest } from '../../../test/ovn-hosts.ts'
import { type PortSpec } from '../network-controller.ts'
import type { Filter, FilterRule } from '../spec.ts'

const soon = (): AbortSignal => AbortSignal.timeout(20_000)
const SETTLE_MS = 300
const [SINGLE, LARGE] = ['2001:db8:1::/64', '2001:db8:2::/48']
const OUTSIDE6 = '2001:db8:1::1'

describeIf(missingForOvn())('public guests with IPv6', { timeout: 120_000 }, () => {
  let ovn: OvnGuests
  let one: PluggedGuest
  let other: PluggedGuest
  /** With a /64 of its own, and with an IPv4 address. */
  let routed: Guest
  beforeAll(async () => {
    ovn = await OvnGuests.open(2, { ranges: [SINGLE, LARGE, '10.61.0.0/24'], allowed: [] })
    await ovn.region.outside.shell(`ip addr add ${OUTSIDE6}/64 dev public nodad; ip addr add 2001:db8:2::1/48 dev public nodad; ${ANSWERS}`)
    one = await plug('2001:db8:1::11', 0)
    other = await plug('2001:db8:1::12', 1)
    routed = await plug('2001:db8:2:7::1', 1, { addresses: ['2001:db8:2:7::1', '10.61.0.77'], ranges: ['2001:db8:2:7::/64'] })
    await routed.shell('ip addr add 10.61.0.77/24 dev e0')
  }, 90_000)
  afterAll(() => ovn?.close())

  const plug = async (address: string, host: number, changes: Partial<PortSpec> = {}): Promise<PluggedGuest> => {
    const guest = await ovn.plug(ovn.portOf({ addresses: [address], host: `hv${host + 1}`, ...changes }))
    // As the seed does: the pool is on link, and the gateway is the default route.
    await guest.shell(`ip -6 route add default via ${OUTSIDE6} dev e0; ${ANSWERS}`)
    return guest
  }
  /** By the kernels, with neighbour discovery. */
  const connects = async (from: Guest, address: string): Promise<boolean> =>
    (await from.shell(`timeout 3 bash -c 'exec 3<>/dev/tcp/${address}/7; head -c 5 <&3' 2>/dev/null || true`)) === 'hello'
  let texts = 0
  const arrives = async (from: Guest, to: Guest, frame: (text: string) => Buffer): Promise<boolean> => {
    const text = `text-${++texts}!`
    await from.send(frame(text))
    await delay(SETTLE_MS)
    return (await to.received()).includes(text)
  }

  test('reach each other and the outside, and are reached from there', async () => {
    await expect.poll(() => connects(one, other.address), { timeout: 20_000 }).toBe(true)
    for (const [from, to] of [
      [one, OUTSIDE6],
      [other, one.address],
      [ovn.region.outside, one.address],
      [ovn.region.outside, other.address],
      [one, routed.address],
      [routed, one.address],
      [routed, OUTSIDE6],
    ] as const)
      await expect.poll(() => connects(from, to), { timeout: 20_000, message: `${from.address} to ${to}` }).toBe(true)
  })

  test('have every address of a /64 of their own, and none of another', async () => {
    await routed.shell('ip addr add 2001:db8:2:7::77/128 dev e0 nodad')
    await expect.poll(() => connects(ovn.region.outside, '2001:db8:2:7::77'), { timeout: 20_000 }).toBe(true)
    await routed.shell('ip addr add 2001:db8:2:8::1/128 dev e0 nodad')
    expect(await connects(ovn.region.outside, '2001:db8:2:8::1')).toBe(false)
    const send = (address: string) =>
      arrives(routed, ovn.region.outside, (text) =>
        udp6Frame({ mac: routed.mac, address }, { ...ovn.region.outside, address: '2001:db8:2::1' }, text),
      )
    expect([await send('2001:db8:2:7::ffff'), await send('2001:db8:2:8::1')]).toEqual([true, false])
  })

  test('cannot speak for others or for a DHCP server', async () => {
    const outside = { ...ovn.region.outside, address: OUTSIDE6 }
    const frames: Record<string, (to: End) => (text: string) => Buffer> = {
      own: (to) => (text) => udp6Frame(one, to, text),
      source: (to) => (text) => udp6Frame({ ...one, address: '2001:db8:1::99' }, to, text),
      'source of the other': (to) => (text) => udp6Frame({ ...one, address: '2001:db8:1::12' }, to, text),
      mac: (to) => (text) => udp6Frame({ ...one, mac: '52:54:00:aa:aa:aa' }, to, text),
      neighbour: (to) => (text) => neighbourAdvertisement(one, to, one.address, text),
      'neighbour of the gateway': (to) => (text) => neighbourAdvertisement(one, to, OUTSIDE6, text),
      'neighbour of the other': (to) => (text) => neighbourAdvertisement(one, to, '2001:db8:1::12', text),
      'dhcp server': (to) => (text) => udp6Frame(one, to, text, { from: 547, to: 546 }),
      'closed range':
        ({ mac }) =>
        (text) =>
          udp6Frame(one, { mac, address: 'fd00::1' }, text),
      ipv4:
        ({ mac }) =>
        (text) =>
          udpFrame({ ...one, address: '10.61.0.78' }, { mac, address: '10.61.0.1' }, text),
      arp: () => (text) => arpFrame({ ...one, address: '10.61.0.78' }, { mac: BROADCAST, address: '10.61.0.1' }, 'ask', text),
    }
    for (const [to, at] of [
      [outside, ovn.region.outside],
      [other, other],
    ] as const) {
      const arrived: string[] = []
      for (const [name, frame] of Object.entries(frames)) if (await arrives(one, at, frame(to))) arrived.push(name)
      expect(arrived).toEqual(['own', 'neighbour'])
    }
  })

  // OVN lets router advertisements pass every rule.
  test('do not follow a neighbour that says it is a router, because their seed says so', async () => {
    const routers = async (acceptRa: 0 | 1): Promise<string> => {
      await other.shell(`echo ${acceptRa} > /proc/sys/net/ipv6/conf/e0/accept_ra`)
      await arrives(one, other, (text) => ownRouterAdvertisement(one, text))
      return other.shell('ip -6 route show default')
    }
    expect(await routers(0)).not.toContain(linkLocalOf(one.mac))
    expect(await routers(1)).toContain(linkLocalOf(one.mac))
    await other.shell('ip -6 route flush default proto ra')
  })

  test('are filtered as rules for IPv6 say', async () => {
    const rule = (changes: Partial<FilterRule>): FilterRule => ({
      direction: 'IN',
      action: 'ACCEPT',
      protocol: 'TCP',
      ports: [],
      sources: [],
      destinations: [],
      ...changes,
    })
    const set = (...rules: FilterRule[]): Promise<void> => {
      const filter: Filter = { rules, defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }
      return ovn.controller.ensurePort({ ...other.port, filter }, soon())
    }
    // Where the machine is busy, Open vSwitch goes by what it has cached for a moment longer.
    const seen = async () => [await connects(one, other.address), await connects(ovn.region.outside, other.address)]
    const becomes = async (expected: boolean[]): Promise<void> => {
      await expect.poll(seen, { timeout: 20_000 }).toEqual(expected)
    }
    await set()
    await becomes([false, false])
    expect(await connects(other, one.address)).toBe(true)
    await set(rule({ sources: ['2001:db8:1::11'] }))
    await becomes([true, false])
    await set(rule({ sources: ['0.0.0.0/0'] }))
    await becomes([false, false])
    await set(rule({ ports: [{ from: 7, to: 7 }], sources: [SINGLE] }))
    await becomes([true, true])
  })
})

/** A service that says hello on port 7 of every address. */
const ANSWERS = `'${process.execPath}' -e 'require("net").createServer((socket) => socket.end("hello")).listen(7, "::")' > /dev/null 2>&1 < /dev/null &`
