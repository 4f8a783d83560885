// The way of a packet on the map, from what the API says of it.
import type { Reach } from '@berth/sdk'
import { centreOf, type Box, type MapLayout, type Point, type Rect } from './layout.ts'

export interface ReachPath {
  points: Point[]
  verdict: Reach['verdict']
  /** Where it is stopped; null where it arrives or is sent on. */
  stop: Point | null
}

/** Undefined when the sender is not on the map. */
export function pathOf({ boxes, internet }: MapLayout, { verdict, source, destination, steps }: Reach): ReachPath | undefined {
  const from = placeOf(boxes, source.vmId)
  if (!from) return undefined
  const to = destination.vmId === null ? internet : placeOf(boxes, destination.vmId)
  const through = source.networkId === null ? [headOf(internet)] : boxes.filter(({ id }) => id === source.networkId).map(gateOf)
  const other = destination.vmId === null ? undefined : boxes.find((box) => box.tiles.some(({ vm }) => vm.id === destination.vmId))
  const far = source.networkId !== null && other && other.id !== source.networkId ? [gateOf(other)] : []
  const whole = [centreOf(from), ...through, ...far, ...(to ? [centreOf(to)] : [])]
  const failed = steps.find(({ passes }) => !passes)
  if (verdict !== 'BLOCKED' || !failed) return { points: whole, verdict, stop: null }
  // Where the step takes place: at the sender, on the way, or at the receiver.
  const points =
    failed.step === 'SENDER' || failed.step === 'OUTBOUND_FILTER'
      ? [whole[0]!, nearTo(whole[0]!, whole[1] ?? whole[0]!)]
      : failed.step === 'INBOUND_FILTER' || failed.step === 'RECEIVER'
        ? [...whole.slice(0, -1), nearTo(whole.at(-1)!, whole.at(-2) ?? whole.at(-1)!)]
        : whole.slice(0, 2)
  return { points, verdict, stop: points.at(-1)! }
}

/** The tile of a VM, or the box that it is in where that is closed. */
const placeOf = (boxes: Box[], vmId: string): Rect | undefined =>
  boxes.flatMap(({ tiles }) => tiles).find(({ vm }) => vm.id === vmId) ??
  boxes.find(({ network, isCollapsed }) => isCollapsed && network?.attachments.some((each) => each.vmId === vmId)) ??
  boxes.find(({ network }) => network === null)

const gateOf = ({ x, y, width }: Rect): Point => ({ x: x + width / 2, y: y + 30 })
const headOf = ({ x, y, width, height }: Rect): Point => ({ x: x + width / 2, y: y + height / 2 })

/** Just outside of a tile, on the way to the next point. */
function nearTo(at: Point, other: Point): Point {
  const length = Math.hypot(other.x - at.x, other.y - at.y) || 1
  const by = Math.min(64, length)
  return { x: at.x + ((other.x - at.x) / length) * by, y: at.y + ((other.y - at.y) / length) * by }
}
