// Where everything on the map of networks is. The same input gives the same map, so nothing jumps when it is read again.

import type { VmListItem } from '@berth/sdk'

export interface MapVm {
  id: string
  name: string
  status: VmListItem['status'] | 'SHELVED'
  publicAddress: string | null
  /** Addresses of it that may go to another VM. */
  floating: string[]
}

export interface MapNetwork {
  id: string
  name: string
  cidr: string
  gateway: string | null
  region: string
  hasSnat: boolean
  /** In the order of their addresses. */
  attachments: { vmId: string; ipAddress: string }[]
  routes: { destination: string; nextHop: string }[]
  /** Networks that it is peered with. */
  peers: string[]
}

export interface MapFirewall {
  id: string
  name: string
  vmIds: string[]
}

export interface Topology {
  networks: MapNetwork[]
  vms: MapVm[]
  firewalls: MapFirewall[]
  /** Addresses that no VM has. */
  unassigned: string[]
}

export interface Point {
  x: number
  y: number
}

export interface Rect extends Point {
  width: number
  height: number
}

export interface Tile extends Rect {
  vm: MapVm
  ipAddress: string | null
  firewalls: MapFirewall[]
}

/** A network, or the VMs that are in none. */
export interface Box extends Rect {
  id: string
  network: MapNetwork | null
  tiles: Tile[]
  /** VMs that are in it, whether they are shown or not, and here or in another box. */
  count: number
  isCollapsed: boolean
  running: number
  publicCount: number
}

export interface Link {
  id: string
  kind: 'uplink' | 'peering' | 'membership' | 'route'
  points: Point[]
  label: string
}

export interface MapLayout {
  width: number
  height: number
  internet: Rect
  boxes: Box[]
  links: Link[]
}

/** The id of the box of VMs without a private network. */
export const LOOSE = 'loose'

export const TILE = { width: 176, height: 74, gap: 14 } as const
const HEAD = 62
const PADDING = 16
const BOX_GAP = 56
const MOST_COLUMNS = 4
const MAP_WIDTH = 1_360
const INTERNET = { width: 220, height: 52 }
const BELOW_INTERNET = 84
const EMPTY_WIDTH = 260
/** Networks with more VMs are shown closed at first, and so are all when there are many VMs. */
const OPEN_UP_TO = 12
const MANY_VMS = 60

export function collapsedAtFirst({ networks, vms }: Topology): Set<string> {
  const isMany = vms.length > MANY_VMS
  const sizes = new Map([
    ...networks.map(({ id, attachments }): [string, number] => [id, attachments.length]),
    [LOOSE, looseOf(networks, vms).length],
  ])
  return new Set([...sizes].flatMap(([id, size]) => (size > OPEN_UP_TO || (isMany && size > 4) ? [id] : [])))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const looseOf = (networks: MapNetwork[], vms: MapVm[]): MapVm[] => {
  const attached = new Set(networks.flatMap(({ attachments }) => attachments.map(({ vmId }) => vmId)))
  return vms.filter(({ id }) => !attached.has(id))
}

export function layOut(topology: Topology, collapsed: ReadonlySet<string>): MapLayout {
  const { vms, firewalls } = topology
  const networks = topology.networks.toSorted((a, b) => compare(a.region, b.region) || compare(a.name, b.name) || compare(a.id, b.id))
  const byId = new Map(vms.map((vm) => [vm.id, vm]))
  const firewallsOf = (vmId: string): MapFirewall[] => firewalls.filter(({ vmIds }) => vmIds.includes(vmId))
  // A VM in several networks is drawn in the first of them that is open, with a line to the others.
  const home = new Map<string, string>()
  for (const { id, attachments } of networks)
    if (!collapsed.has(id)) for (const { vmId } of attachments) if (!home.has(vmId)) home.set(vmId, id)

  const boxes = networks.map((network) => {
    const known = network.attachments.flatMap(({ vmId, ipAddress }) => (byId.has(vmId) ? [{ vm: byId.get(vmId)!, ipAddress }] : []))
    const shown = collapsed.has(network.id) ? [] : known.filter(({ vm }) => home.get(vm.id) === network.id)
    return boxOf(
      network.id,
      network,
      shown,
      known.map(({ vm }) => vm),
      collapsed.has(network.id),
      firewallsOf,
    )
  })
  const loose = looseOf(networks, vms).toSorted((a, b) => compare(a.name, b.name) || compare(a.id, b.id))
  if (loose.length > 0) {
    const shown = collapsed.has(LOOSE) ? [] : loose.map((vm) => ({ vm, ipAddress: null }))
    boxes.push(boxOf(LOOSE, null, shown, loose, collapsed.has(LOOSE), firewallsOf))
  }
  const size = place(boxes)
  const internet = { x: (size.width - INTERNET.width) / 2, y: 0, ...INTERNET }
  return { ...size, internet, boxes, links: linksOf(boxes, internet, networks) }
}

function boxOf(
  id: string,
  network: MapNetwork | null,
  shown: { vm: MapVm; ipAddress: string | null }[],
  all: MapVm[],
  isCollapsed: boolean,
  firewallsOf: (vmId: string) => MapFirewall[],
): Box {
  const columns = Math.max(1, Math.min(MOST_COLUMNS, Math.ceil(Math.sqrt(shown.length))))
  const rows = Math.ceil(shown.length / columns)
  const tiles = shown.map(({ vm, ipAddress }, index) => ({
    vm,
    ipAddress,
    firewalls: firewallsOf(vm.id),
    x: PADDING + (index % columns) * (TILE.width + TILE.gap),
    y: HEAD + PADDING + Math.floor(index / columns) * (TILE.height + TILE.gap),
    width: TILE.width,
    height: TILE.height,
  }))
  return {
    id,
    network,
    tiles,
    count: all.length,
    isCollapsed,
    running: all.filter(({ status }) => status === 'RUNNING').length,
    publicCount: all.filter(({ publicAddress, floating }) => publicAddress !== null || floating.length > 0).length,
    x: 0,
    y: 0,
    width: Math.max(EMPTY_WIDTH, 2 * PADDING + columns * TILE.width + (columns - 1) * TILE.gap),
    height: HEAD + (rows === 0 ? 44 : 2 * PADDING + rows * TILE.height + (rows - 1) * TILE.gap),
  }
}

/** In rows of about the same width, each as high as its highest box, and in the middle. */
function place(boxes: Box[]): { width: number; height: number } {
  const rows: Box[][] = []
  let used = Infinity
  for (const box of boxes) {
    if (used + box.width > MAP_WIDTH) {
      rows.push([])
      used = 0
    }
    rows.at(-1)!.push(box)
    used += box.width + BOX_GAP
  }
  const widths = rows.map((row) => row.reduce((sum, { width }) => sum + width + BOX_GAP, -BOX_GAP))
  const width = Math.max(INTERNET.width, EMPTY_WIDTH, ...widths)
  let y = INTERNET.height + BELOW_INTERNET
  for (const [index, row] of rows.entries()) {
    let x = (width - widths[index]!) / 2
    for (const box of row) {
      box.x = x
      box.y = y
      for (const tile of box.tiles) {
        tile.x += x
        tile.y += y
      }
      x += box.width + BOX_GAP
    }
    y += Math.max(...row.map(({ height }) => height)) + BOX_GAP
  }
  return { width, height: rows.length === 0 ? INTERNET.height : y - BOX_GAP }
}

function linksOf(boxes: Box[], internet: Rect, networks: MapNetwork[]): Link[] {
  const boxById = new Map(boxes.map((box) => [box.id, box]))
  const tileOf = new Map(boxes.flatMap(({ tiles }) => tiles.map((tile): [string, Tile] => [tile.vm.id, tile])))
  const links: Link[] = []
  for (const box of boxes)
    if (box.publicCount > 0 || box.network?.hasSnat)
      links.push({ id: `uplink ${box.id}`, kind: 'uplink', points: uplink(internet, box), label: box.network?.hasSnat ? 'SNAT' : '' })
  for (const network of networks)
    for (const peer of network.peers)
      if (network.id < peer && boxById.has(peer))
        links.push({
          id: `peering ${network.id} ${peer}`,
          kind: 'peering',
          points: between(boxById.get(network.id)!, boxById.get(peer)!),
          label: '',
        })
  for (const network of networks) {
    const box = boxById.get(network.id)!
    for (const { vmId, ipAddress } of network.attachments) {
      const tile = tileOf.get(vmId)
      const isHere = box.tiles.some(({ vm }) => vm.id === vmId)
      if (tile && !isHere)
        links.push({ id: `membership ${network.id} ${vmId}`, kind: 'membership', points: between(tile, box), label: ipAddress })
      const route = tile && isHere ? network.routes.find(({ nextHop }) => nextHop === ipAddress) : undefined
      if (tile && route)
        links.push({
          id: `route ${network.id} ${route.destination}`,
          kind: 'route',
          points: [
            { x: box.x + 40, y: box.y + HEAD - 8 },
            { x: tile.x + 24, y: tile.y },
          ],
          label: route.destination,
        })
    }
  }
  return links
}

/** Down in the middle between the internet and the boxes, across, and down again. */
function uplink(internet: Rect, box: Rect): Point[] {
  const from = { x: internet.x + internet.width / 2, y: internet.y + internet.height }
  const x = box.x + box.width / 2
  const middle = internet.height + BELOW_INTERNET / 2
  // Boxes of lower rows are reached between the columns above them.
  return [from, { x: from.x, y: middle }, { x, y: middle }, { x, y: box.y }]
}

export const centreOf = ({ x, y, width, height }: Rect): Point => ({ x: x + width / 2, y: y + height / 2 })

/** From edge to edge, on the line of their centres. */
export function between(a: Rect, b: Rect): Point[] {
  return [edgeTowards(a, centreOf(b)), edgeTowards(b, centreOf(a))]
}

function edgeTowards(rect: Rect, to: Point): Point {
  const centre = centreOf(rect)
  const [dx, dy] = [to.x - centre.x, to.y - centre.y]
  if (dx === 0 && dy === 0) return centre
  const scale = Math.min(rect.width / 2 / Math.abs(dx || 1e-9), rect.height / 2 / Math.abs(dy || 1e-9))
  return { x: centre.x + dx * Math.min(1, scale), y: centre.y + dy * Math.min(1, scale) }
}
