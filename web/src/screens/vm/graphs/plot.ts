// One uPlot, and what is drawn on it beside the lines.
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTick } from '../../../ui/format.ts'
import { colourOf } from '../console-screen.ts'
import type { Values } from './series.ts'

export interface Line {
  label: string
  values: Values
  /** Of the time that it is compared with. */
  before?: Values
}

export interface Ceiling {
  value: number
  label: string
}

interface Options {
  element: HTMLElement
  times: number[]
  lines: Line[]
  top: number
  ceiling: Ceiling | null
  format: (value: number) => string
  height: number
  onCursor: (index: number | null, left: number) => void
  onZoom: (from: number, to: number) => void
}

const AXIS_HEIGHT = 34

/** A single value makes no line. */
const isSparse = (values: Values): boolean => values.filter((value) => value !== null).length < 4

export const COLOURS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4'] as const

export function createPlot({ element, times, lines, top, ceiling, format, height, onCursor, onZoom }: Options): uPlot {
  const grid = colourOf('--chart-grid')
  const axis = {
    stroke: colourOf('--muted'),
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
    font: `11px ${colourOf('--font')}`,
  }
  const compared = lines.flatMap(({ label, before }, index) =>
    before ? [{ label, values: before, colour: colourOf(COLOURS[index]!) }] : [],
  )
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: {
        y: false,
        sync: { key: 'vm-graphs' },
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
      },
      scales: { y: { range: () => [0, top] } },
      axes: [
        {
          ...axis,
          space: 76,
          size: AXIS_HEIGHT,
          values: (_, ticks, __, ___, step) => ticks.map((tick) => formatTick(tick, step)),
        },
        { ...axis, size: 68, values: (_, ticks) => ticks.map((tick) => format(tick)) },
      ],
      series: [
        {},
        ...lines.map(({ label, values }, index) => ({
          label,
          stroke: colourOf(COLOURS[index]!),
          width: 1.6,
          fill: index === 0 ? `${colourOf(COLOURS[0])}1f` : undefined,
          points: { show: isSparse(values), size: 5 },
        })),
        ...compared.map(({ label, colour }) => ({ label, stroke: colour, width: 1.2, dash: [4, 4], alpha: 0.75, points: { show: false } })),
      ],
      hooks: {
        setCursor: [({ cursor }) => onCursor(cursor.idx ?? null, cursor.left ?? 0)],
        setSelect: [
          (plot) => {
            if (plot.select.width > 4)
              onZoom(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'))
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          },
        ],
        draw: [(plot) => ceiling && ceiling.value <= top && drawCeiling(plot, ceiling)],
      },
    },
    [times, ...lines.map(({ values }) => values), ...compared.map(({ values }) => values)],
    element,
  )
}

function drawCeiling({ ctx, bbox, valToPos }: uPlot, { value, label }: Ceiling): void {
  const y = Math.round(valToPos(value, 'y', true))
  const ratio = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = colourOf('--bad')
  ctx.lineWidth = ratio
  ctx.setLineDash([6 * ratio, 3 * ratio])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.fillStyle = colourOf('--bad-text')
  ctx.font = `${11 * ratio}px ${colourOf('--font')}`
  ctx.textAlign = 'right'
  ctx.textBaseline = 'top'
  ctx.fillText(label, bbox.left + bbox.width - 4 * ratio, y + 3 * ratio)
  ctx.restore()
}
