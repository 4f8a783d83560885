import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTick } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { vmMessages as w } from '../../words/words.ts'
import css from './vm.module.css'

export interface Line {
  label: string
  values: (number | null)[]
}

interface Props {
  title: string
  unit: string
  times: number[]
  lines: Line[]
  format: (value: number) => string
  most?: number
}

const COLOURS = {
  light: { lines: ['#0b7d6d', '#c2551f'], text: '#596662', grid: '#e6ebe9' },
  dark: { lines: ['#55c0a9', '#ffb38a'], text: '#97a6a2', grid: '#1f2c29' },
}
const HEIGHT = 180

export function Graph({ title, unit, times, lines, format, most }: Props) {
  const container = useRef<HTMLDivElement>(null)
  const colours = COLOURS[useComputedColorScheme('light')]
  useEffect(() => {
    const element = container.current!
    const axis = {
      stroke: colours.text,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { show: false },
      font: '11px Inter, system-ui, sans-serif',
    }
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        scales: { y: { range: (_, __, highest) => [0, most ?? Math.max(highest * 1.1, 1)] } },
        axes: [
          { ...axis, values: (_, ticks, __, ___, step) => ticks.map((tick) => formatTick(tick, step)) },
          { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => format(tick)) },
        ],
        series: [
          {},
          ...lines.map(({ label }, index) => ({
            label,
            stroke: colours.lines[index]!,
            width: 1.6,
            fill: index === 0 ? `${colours.lines[0]!}1c` : undefined,
            points: { show: false },
          })),
        ],
      },
      [times, ...lines.map(({ values }) => values)],
      element,
    )
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [times, lines, colours, format, most])
  return (
    <Card title={title} about={unit} actions={<Legend lines={lines} colours={colours.lines} format={format} />}>
      <figure ref={container} className={css['plot']} aria-label={lines.map((line) => describe(title, line, format)).join('. ')} />
    </Card>
  )
}

const latestOf = ({ values }: Line): number => values.findLast((value) => value !== null) ?? 0

const describe = (title: string, line: Line, format: Props['format']): string =>
  w.graphs.described(`${title} ${line.label}`, format(latestOf(line)), format(Math.max(0, ...line.values.map((value) => value ?? 0))))

const Legend = ({ lines, colours, format }: { lines: Line[]; colours: string[]; format: Props['format'] }) => (
  <div className={css['legend']}>
    {lines.map((line, index) => (
      <span key={line.label}>
        <i style={{ background: colours[index] }} />
        {line.label} {format(latestOf(line))}
      </span>
    ))}
  </div>
)
