import { Button, useComputedColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent, useRef, useState, type KeyboardEvent } from 'react'
import type uPlot from 'uplot'
import { formatDateTime } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { vmMessages } from '../../words/words.ts'
import { GraphTable } from './graphs/GraphTable.tsx'
import css from './graphs/graphs.module.css'
import { Markers, type Marker } from './graphs/Markers.tsx'
import { COLOURS, createPlot, type Ceiling, type Line } from './graphs/plot.ts'
import { beginOf, highestOf, topOf, type Range } from './graphs/series.ts'

const w = vmMessages.graphs
const HEIGHT = 200

export interface GraphProps {
  title: string
  unit: string
  times: number[]
  lines: Line[]
  format: (value: number) => string
  ceiling?: Ceiling | null
  /** Draws the ceiling also where it is far above what was measured. */
  toCeiling?: boolean
  markers: Marker[]
  onZoom: (range: Range | null) => void
}

export function Graph({
  title,
  unit,
  times: allTimes,
  lines: allLines,
  format,
  ceiling = null,
  toCeiling = false,
  markers,
  onZoom,
}: GraphProps) {
  const container = useRef<HTMLDivElement>(null)
  const [plot, setPlot] = useState<uPlot | null>(null)
  const [cursor, setCursor] = useState<{ index: number; left: number } | null>(null)
  const [asTable, setAsTable] = useState(false)
  const begin = beginOf(
    allTimes,
    allLines.map(({ values }) => values),
  )
  const times = allTimes.slice(begin)
  const lines = allLines.map(({ label, values, before }) => ({
    label,
    values: values.slice(begin),
    ...(before && { before: before.slice(begin) }),
  }))
  const highest = Math.max(...lines.flatMap(({ values, before }) => [highestOf(values), before ? highestOf(before) : 0]))
  const top = topOf(highest, ceiling?.value ?? null, toCeiling)
  const scheme = useComputedColorScheme('light')
  const draw = useEffectEvent((element: HTMLElement) =>
    createPlot({
      element,
      times,
      lines,
      top,
      ceiling,
      format,
      height: HEIGHT,
      onCursor: (index, left) => setCursor(index === null ? null : { index, left }),
      onZoom: (from, to) => onZoom({ from, to }),
    }),
  )
  useEffect(() => {
    const element = container.current
    if (!element) return
    const drawn = draw(element)
    setPlot(drawn)
    const resize = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      drawn.destroy()
      setPlot(null)
      setCursor(null)
    }
  }, [allTimes, allLines, scheme, top, ceiling?.value, asTable])
  const byKey = (event: KeyboardEvent): void => {
    const step = KEYS[event.key]
    if (event.key === 'Escape') return onZoom(null)
    if (event.key === '+' || event.key === '-') return zoomByKey(event.key === '+' ? 0.5 : 2)
    if (step === undefined || !plot) return
    event.preventDefault()
    const index = Math.max(
      0,
      Math.min(times.length - 1, Math.round((cursor?.index ?? times.length - 1) + step * (event.shiftKey ? 10 : 1))),
    )
    plot.setCursor({ left: plot.valToPos(times[index]!, 'x'), top: 10 })
  }
  const zoomByKey = (factor: number): void => {
    const middle = times[cursor?.index ?? Math.floor(times.length / 2)] ?? 0
    const half = (((times.at(-1) ?? 0) - (times[0] ?? 0)) * factor) / 2
    onZoom({ from: middle - half, to: middle + half })
  }
  const shown = cursor && times[cursor.index] !== undefined ? cursor : null
  const since = begin > 0 ? w.since(formatDateTime(new Date(times[0]! * 1_000).toISOString())) : null
  return (
    <Card
      title={title}
      about={since === null ? unit : `${unit} · ${since}`}
      actions={
        <Button variant="subtle" size="compact-xs" onClick={() => setAsTable(!asTable)}>
          {asTable ? w.asGraph : w.asTable} <span className="hidden">{title}</span>
        </Button>
      }
    >
      <Legend lines={lines} format={format} ceiling={ceiling} top={top} />
      {asTable ? (
        <GraphTable title={title} times={times} lines={lines} format={format} />
      ) : (
        <div className={css['plot']}>
          <button
            type="button"
            className={css['keys']}
            aria-label={`${lines.map((line) => describe(title, line, format)).join('. ')}. ${w.keys}`}
            onKeyDown={byKey}
            onBlur={() => setCursor(null)}
          />
          <div ref={container} />
          {plot && <Markers plot={plot} markers={markers} times={times} />}
          {shown && plot && (
            <output
              className={css['tip']}
              style={
                { left: plot.over.offsetLeft + shown.left, '--side': shown.left > plot.over.clientWidth / 2 ? '-100%' : '0%' } as object
              }
            >
              <time>{formatDateTime(new Date(times[shown.index]! * 1_000).toISOString())}</time>
              {lines.map(({ label, values, before }, index) => (
                <span key={label}>
                  <i style={{ background: `var(${COLOURS[index]})` }} />
                  {label} <b>{valueText(values[shown.index], format)}</b>
                  {before && <em>{valueText(before[shown.index], format)}</em>}
                </span>
              ))}
            </output>
          )}
        </div>
      )}
    </Card>
  )
}

const KEYS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }

export const valueText = (value: number | null | undefined, format: GraphProps['format']): string =>
  value === null || value === undefined ? '—' : format(value)

const latestOf = ({ values }: Line): number => values.findLast((value) => value !== null) ?? 0

const describe = (title: string, line: Line, format: GraphProps['format']): string =>
  w.described(`${title} ${line.label}`, format(latestOf(line)), format(highestOf(line.values)))

interface LegendProps {
  lines: Line[]
  format: GraphProps['format']
  ceiling: Ceiling | null
  top: number
}

const Legend = ({ lines, format, ceiling, top }: LegendProps) => (
  <div className={css['legend']}>
    {lines.map((line, index) => (
      <span key={line.label}>
        <i style={{ background: `var(${COLOURS[index]})` }} />
        {line.label} <b>{format(latestOf(line))}</b> <small>{w.highest(format(highestOf(line.values)))}</small>
      </span>
    ))}
    {ceiling && ceiling.value > top && <span>{w.limit(ceiling.label)}</span>}
  </div>
)
