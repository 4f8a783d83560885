// How fast guests are on real OVN, measured by packets: one limit for all that a machine exchanges with the world, none for the rest.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { udpFrame } from '../../../test/frames.ts'
import { OvnGuests, type PluggedGuest } from '../../../test/ovn-guests.ts'
import { missingForOvn, OUTSIDE, type Guest } from '../../../test/ovn-hosts.ts'
import { type NetworkSpec, type PortSpec } from '../network-controller.ts'
import { networkRows } from './network-rows.ts'

const soon = (): AbortSignal => AbortSignal.timeout(20_000)
const LIMIT_MBPS = 10

describeIf(missingForOvn())('the limit of a machine on OVN', { timeout: 120_000 }, () => {
  let ovn: OvnGuests
  beforeAll(async () => {
    ovn = await OvnGuests.open(2, { ranges: ['10.61.0.0/24'], allowed: [] })
  }, 60_000)
  afterAll(() => ovn?.close())

  const plug = async (networkId: string | null, address: string, host: number): Promise<PluggedGuest> => {
    const guest = await ovn.plug(ovn.portOf({ networkId, addresses: [address], host: `hv${host + 1}` }))
    if (networkId !== null) await guest.shell(`ip route add default via ${address.replace(/\d+$/, '1')}`)
    return guest
  }
  const network = async (second: number, changes: Partial<NetworkSpec> = {}): Promise<NetworkSpec> => {
    const spec = {
      networkId: `net${second}`,
      cidr: `10.${second}.0.0/24`,
      gateway: `10.${second}.0.1`,
      enableDhcp: true,
      dns: [],
      snat: { address: `10.61.0.${second}`, prefix: 24, gateway: OUTSIDE },
      routes: [],
      peers: [],
      ...changes,
    }
    await ovn.controller.ensureNetwork(spec, soon())
    return spec
  }
  /** The interfaces of one machine. */
  const limit = (open: { port: PortSpec }, privates: { port: PortSpec }[], limitMbps: number | null = LIMIT_MBPS): Promise<void> => {
    const limitedWith = privates.map(({ port: { mac, networkId } }) => ({ mac, networkId: networkId! }))
    return ovn.controller.ensurePort({ ...open.port, limitMbps, limitedWith }, soon())
  }
  const received = async (guest: Guest): Promise<number> =>
    Number(await guest.shell(`cat /sys/class/net/${guest === ovn.region.outside ? 'public' : 'e0'}/statistics/rx_bytes`))
  /** Mbit/s that arrive of what all of them send at once, as fast as they can. */
  const arriving = async (at: Guest, senders: Guest[], to = at.address, ports = { from: 4000, to: 4001 }): Promise<number> => {
    const before = await received(at)
    await Promise.all(senders.map((each) => each.shell(`'${process.execPath}' -e '${FLOOD}' ${to} ${ports.from} ${ports.to}`)))
    return (((await received(at)) - before) * 8) / FLOOD_SECONDS / 1e6
  }
  /** A busy machine may send too little at times, never too much: then it is measured again. */
  const expectLimited = async (...flood: Parameters<typeof arriving>): Promise<void> => {
    let mbps = 0
    for (let tries = 0; tries < 3 && mbps / LIMIT_MBPS <= 0.85; tries++) mbps = await arriving(...flood)
    expect(mbps / LIMIT_MBPS).toBeGreaterThan(0.85)
    expect(mbps / LIMIT_MBPS).toBeLessThan(1.15)
  }
  const expectFree = async (...flood: Parameters<typeof arriving>): Promise<void> =>
    expect(await arriving(...flood)).toBeGreaterThan(2 * LIMIT_MBPS)

  test('holds for its public interface', async () => {
    const [open, other] = [await plug(null, '10.61.0.141', 0), await plug(null, '10.61.0.142', 0)]
    await expectFree(ovn.region.outside, [open])
    await limit(open, [])
    await expectLimited(ovn.region.outside, [open])
    await expectLimited(open, [other])
    await expectFree(ovn.region.outside, [other])
    await limit(open, [], null)
    await expectFree(ovn.region.outside, [open])
  })

  test('holds for what leaves its private network and comes back, and for nothing inside', async () => {
    const peered = await network(12)
    const peer = ({ networkId, cidr, gateway }: NetworkSpec) => ({ networkId, cidr, gateway: gateway! })
    const routes = [{ destination: '192.168.7.0/24', nextHop: '10.11.0.12' }]
    const spec = await network(11, { routes, peers: [peer(peered)] })
    await network(12, { peers: [peer(spec)] })
    const [open, inside] = [await plug(null, '10.61.0.143', 0), await plug('net11', '10.11.0.11', 0)]
    const [neighbour, friend] = [await plug('net11', '10.11.0.12', 0), await plug('net12', '10.12.0.11', 0)]
    await ovn.controller.ensurePort({ ...neighbour.port, ranges: ['192.168.7.0/24'] }, soon())
    await expectFree(ovn.region.outside, [inside])
    await limit(open, [inside])
    await expectLimited(ovn.region.outside, [inside])
    // An answer is what comes in: to the port that the guest has sent from.
    await inside.send(udpFrame(inside, { mac: routerMac(spec), address: OUTSIDE }, 'question'))
    await expectLimited(inside, [ovn.region.outside], spec.snat!.address, { from: 4001, to: 4000 })
    await expectFree(neighbour, [inside])
    await expectFree(neighbour, [inside], '192.168.7.9')
    await expectFree(inside, [neighbour])
    await expectFree(friend, [inside])
    await expectFree(inside, [friend])
    // The others have limits of their own.
    await expectFree(ovn.region.outside, [neighbour])
  })

  test('is one for all its interfaces', async () => {
    await network(13)
    await network(14)
    const machine = [await plug(null, '10.61.0.145', 0), await plug('net13', '10.13.0.11', 0), await plug('net14', '10.14.0.11', 0)]
    await limit(machine[0]!, machine.slice(1))
    await expectLimited(ovn.region.outside, machine)
    await expectLimited(ovn.region.outside, machine.slice(1))
  })

  test('lets nothing pass from outside in the name of what it does not count', async () => {
    const spec = await network(15)
    const [open, inside] = [await plug(null, '10.61.0.146', 0), await plug('net15', '10.15.0.11', 0)]
    await plug('net15', '10.15.0.12', 0)
    await limit(open, [inside])
    await inside.send(udpFrame(inside, { mac: routerMac(spec), address: OUTSIDE }, 'question'))
    const answers = () => arriving(inside, [ovn.region.outside], spec.snat!.address, { from: 4001, to: 4000 })
    expect(await answers()).toBeGreaterThan(LIMIT_MBPS / 2)
    // The connection is open still, and its other end is inside now.
    await network(15, { routes: [{ destination: `${OUTSIDE}/32`, nextHop: '10.15.0.12' }] })
    expect(await answers()).toBeLessThan(1)
  })

  test('is few flows, however scattered the routes of its networks are', async () => {
    const [routes, networks] = [50, [21, 22, 23, 24, 25]]
    const flows = async (): Promise<number> =>
      Number(await ovn.region.chassis[0]!.shell(`ovs-ofctl -O OpenFlow13 dump-flows br-int | awk '/=meter:/ { n++ } END { print n + 0 }'`))
    const before = await flows()
    for (const second of networks) {
      const scattered = Array.from({ length: routes }, (_, i) => ({
        destination: `${1 + 4 * i}.170.85.${second}/32`,
        nextHop: `10.${second}.0.11`,
      }))
      await network(second, { enableDhcp: false, routes: scattered })
    }
    const added: number[] = []
    for (const last of [11, 12]) {
      const open = await plug(null, `10.61.0.${140 + last}`, 0)
      const privates = []
      for (const second of networks) privates.push(await plug(`net${second}`, `10.${second}.0.${last}`, 0))
      await limit(open, privates)
      added.push((await flows()) - before)
    }
    // Beside its limit the public interface has one for what it sends to all.
    const [byMachine, byRanges] = [2 * (1 + networks.length) + 1, 2 * networks.length * (routes + 3)]
    expect(added).toEqual([byRanges + byMachine, byRanges + 2 * byMachine])
  })

  test('keeps a network from being removed while it counts it', async () => {
    await network(16)
    const [open, inside] = [await plug(null, '10.61.0.147', 0), await plug('net16', '10.16.0.11', 0)]
    await limit(open, [inside])
    await ovn.controller.ensureNoPort(inside.mac, soon())
    await expect(ovn.controller.ensureNoNetwork('net16', soon())).rejects.toMatchObject({ kind: 'in_use' })
    await expectLimited(ovn.region.outside, [open])
    await limit(open, [])
    await ovn.controller.ensureNoNetwork('net16', soon())
    await expectLimited(ovn.region.outside, [open])
  })
})

const routerMac = (network: NetworkSpec): string =>
  networkRows(network).flatMap((row) => (row.table === 'Logical_Router_Port' && row.key === 'inside' ? [row.columns.mac!] : []))[0]!

const FLOOD_SECONDS = 3
/** 1,200 bytes every time, about 40 Mbit/s. */
const FLOOD = `const [address, from, to] = process.argv.slice(1), s = require("dgram").createSocket("udp4"), b = Buffer.alloc(1200);
  const end = Date.now() + ${FLOOD_SECONDS * 1000};
  const turn = () => { for (let i = 0; i < 8; i++) s.send(b, Number(to), address); Date.now() < end ? setTimeout(turn, 1) : s.close() };
  s.on("error", () => {}); s.bind(Number(from), turn)`
