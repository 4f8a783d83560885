// Where things are on the map of networks, and the way of a packet on it.
import type { Reach } from '@berth/sdk'
import { describe, expect, test } from 'vitest'
import {
  collapsedAtFirst,
  layOut,
  LOOSE,
  type Box,
  type MapNetwork,
  type MapVm,
  type Rect,
  type Topology,
} from '../src/screens/networks/map/layout.ts'
import { pathOf } from '../src/screens/networks/map/path.ts'
import { fitTo, zoomAt } from '../src/screens/networks/map/usePanZoom.ts'

const vm = (id: string, more: Partial<MapVm> = {}): MapVm => ({
  id,
  name: id,
  status: 'RUNNING',
  publicAddress: null,
  floating: [],
  ...more,
})
const network = (id: string, vmIds: string[], more: Partial<MapNetwork> = {}): MapNetwork => ({
  id,
  name: id,
  cidr: '10.0.0.0/24',
  gateway: '10.0.0.1',
  region: 'fra',
  hasSnat: true,
  attachments: vmIds.map((vmId, index) => ({ vmId, ipAddress: `10.0.0.${index + 2}` })),
  routes: [],
  peers: [],
  ...more,
})
const topology = (more: Partial<Topology> = {}): Topology => ({
  networks: [network('back', ['db', 'web'], { peers: ['front'] }), network('front', ['web'], { peers: ['back'] })],
  vms: [vm('web', { publicAddress: '198.51.100.7' }), vm('db'), vm('lonely')],
  firewalls: [{ id: 'fw', name: 'web', vmIds: ['web'] }],
  unassigned: [],
  ...more,
})
const open = new Set<string>()

const overlap = (a: Rect, b: Rect): boolean => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
const isWithin = (inner: Rect, outer: Rect): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height

function expectSound({ boxes, internet, width, height }: ReturnType<typeof layOut>): void {
  const rects: Rect[] = [internet, ...boxes]
  for (const [index, rect] of rects.entries()) {
    expect(isWithin(rect, { x: 0, y: 0, width, height })).toBe(true)
    for (const other of rects.slice(index + 1)) expect(overlap(rect, other)).toBe(false)
  }
  for (const box of boxes)
    for (const [index, tile] of box.tiles.entries()) {
      expect(isWithin(tile, box)).toBe(true)
      for (const other of box.tiles.slice(index + 1)) expect(overlap(tile, other)).toBe(false)
    }
}

const tilesOf = (boxes: Box[], id: string): string[] => boxes.find((box) => box.id === id)!.tiles.map((tile) => tile.vm.id)

describe('the map', () => {
  test('shows each VM once: in the first of its networks, or among those without one', () => {
    const { boxes } = layOut(topology(), open)
    expect([tilesOf(boxes, 'back'), tilesOf(boxes, 'front'), tilesOf(boxes, LOOSE)]).toEqual([['db', 'web'], [], ['lonely']])
    expect(boxes.find(({ id }) => id === 'front')!.count).toBe(1)
  })

  test('has lines for access to the internet, peerings, further networks and routes', () => {
    const routed = topology({
      networks: [
        network('back', ['db', 'web'], { peers: ['front'], routes: [{ destination: '192.168.7.0/24', nextHop: '10.0.0.2' }] }),
        network('front', ['web'], { peers: ['back'], hasSnat: false }),
      ],
    })
    expect(
      layOut(routed, open)
        .links.map(({ id }) => id)
        .toSorted(),
    ).toEqual(['membership front web', 'peering back front', 'route back 192.168.7.0/24', 'uplink back', 'uplink front'])
  })

  test('puts a shield on VMs with a firewall', () => {
    const tiles = layOut(topology(), open).boxes.flatMap((box) => box.tiles)
    expect(tiles.filter(({ firewalls }) => firewalls.length > 0).map((tile) => tile.vm.id)).toEqual(['web'])
  })

  test('is the same for the same networks in any order', () => {
    const { networks, ...rest } = topology()
    expect(layOut({ networks: networks.toReversed(), ...rest }, open)).toEqual(layOut(topology(), open))
  })

  test('lets nothing overlap, with nothing and with 200 VMs in 12 networks, open or closed', () => {
    const vms = Array.from({ length: 200 }, (_, index) => vm(`vm-${String(index).padStart(3, '0')}`))
    const networks = Array.from({ length: 12 }, (_, index) =>
      network(
        `net-${index}`,
        vms.slice(index * 16, index * 16 + 16).map(({ id }) => id),
      ),
    )
    const large = topology({ vms, networks })
    expect(collapsedAtFirst(large).size).toBe(13)
    expectSound(layOut(large, open))
    expectSound(layOut(large, collapsedAtFirst(large)))
    expectSound(layOut({ networks: [], vms: [], firewalls: [], unassigned: [] }, open))
    expectSound(layOut(topology(), open))
  })

  test('counts VMs of a closed network', () => {
    const box = layOut(topology({ vms: [vm('web'), vm('db', { status: 'STOPPED' })] }), new Set(['back', 'front'])).boxes[0]!
    expect([box.tiles.length, box.count, box.running, box.isCollapsed]).toEqual([0, 2, 1, true])
  })
})

describe('the way of a packet', () => {
  const layout = layOut(topology(), open)
  const reach = (more: Partial<Reach>, ...passes: boolean[]): Reach => ({
    verdict: 'REACHABLE',
    source: { vmId: 'web', networkId: 'back', address: '10.0.0.3' },
    destination: { vmId: 'db', address: '10.0.0.2' },
    applied: true,
    steps: passes.map((each, index) => ({
      step: (['OUTBOUND_FILTER', 'ROUTE', 'INBOUND_FILTER'] as const)[index]!,
      passes: each,
      action: null,
      firewallId: null,
      rule: null,
      detail: '',
      remedy: null,
      missingPeering: null,
    })),
    ...more,
  })
  const centre = (id: string) => {
    const { x, y, width, height } = layout.boxes.flatMap(({ tiles }) => tiles).find((tile) => tile.vm.id === id)!
    return { x: x + width / 2, y: y + height / 2 }
  }

  test('leads through the network from one VM to the other', () => {
    const path = pathOf(layout, reach({}, true, true, true))!
    expect([path.points[0], path.points.at(-1), path.points.length, path.stop]).toEqual([centre('web'), centre('db'), 3, null])
  })

  test('ends at the internet for an address that no VM has', () => {
    const path = pathOf(
      layout,
      reach(
        { verdict: 'FORWARDED', source: { vmId: 'web', networkId: null, address: null }, destination: { vmId: null, address: '1.1.1.1' } },
        true,
      ),
    )!
    expect(path.points.at(-1)!.y).toBe(layout.internet.y + layout.internet.height / 2)
  })

  test.each([
    ['at the sender', [false], 2],
    ['on the way', [true, false], 2],
    ['at the receiver', [true, true, false], 3],
  ])('is stopped %s', (_, passes, points) => {
    const path = pathOf(layout, reach({ verdict: 'BLOCKED' }, ...passes))!
    expect(path.points).toHaveLength(points)
    expect(path.stop).toEqual(path.points.at(-1))
  })

  test('is none from a VM that is not on the map', () => {
    const { boxes, ...rest } = layout
    const without = { ...rest, boxes: boxes.filter(({ id }) => id !== LOOSE).map((box) => ({ ...box, tiles: [] })) }
    expect(pathOf(without, reach({}, true))).toBeUndefined()
  })
})

describe('the view', () => {
  test('zooms around a point and within limits', () => {
    expect(zoomAt({ x: 0, y: 0, scale: 1 }, 2, 100, 50)).toEqual({ x: -100, y: -50, scale: 2 })
    expect(zoomAt({ x: 0, y: 0, scale: 1 }, 99, 0, 0).scale).toBe(2.5)
  })

  test('fits the map into its frame, in the middle and never larger than it is', () => {
    expect(fitTo({ width: 100, height: 100 }, { width: 500, height: 300 })).toEqual({ x: 200, y: 100, scale: 1 })
    expect(fitTo({ width: 2_000, height: 100 }, { width: 500, height: 300 }).scale).toBeCloseTo(0.226)
  })
})
