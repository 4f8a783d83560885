import { Tooltip } from '@mantine/core'
import type uPlot from 'uplot'
import { formatDateTime } from '../../../ui/format.ts'
import css from './graphs.module.css'

export interface Marker {
  id: string
  /** Seconds since 1970. */
  at: number
  sentence: string
  tone: 'plain' | 'good' | 'bad'
}

/** Marks that are nearer than a finger are one, with all their sentences. */
const NEAR_PX = 24

/** What happened, at its time: a mark on the time axis with a sentence for pointer, keyboard and screen reader. */
export function Markers({ plot, markers, times }: { plot: uPlot; markers: Marker[]; times: number[] }) {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  const groups: { left: number; markers: Marker[] }[] = []
  for (const marker of markers.filter(({ at }) => first <= at && at <= last).toSorted((a, b) => a.at - b.at)) {
    const left = plot.valToPos(marker.at, 'x')
    const near = groups.at(-1)
    if (near && left - near.left < NEAR_PX) near.markers.push(marker)
    else groups.push({ left, markers: [marker] })
  }
  return (
    <ul className={css['markers']} style={{ left: plot.over.offsetLeft, width: plot.over.clientWidth }}>
      {groups.map(({ left, markers: all }) => {
        const texts = all.map(({ at, sentence }) => `${formatDateTime(new Date(at * 1_000).toISOString())}: ${sentence}`)
        return (
          <li key={all[0]!.id} style={{ left }}>
            <Tooltip
              label={texts.map((text) => (
                <div key={text}>{text}</div>
              ))}
              maw={360}
            >
              <button type="button" data-tone={toneOf(all)}>
                {all.length > 1 && all.length} <span className="hidden">{texts.join('. ')}</span>
              </button>
            </Tooltip>
          </li>
        )
      })}
    </ul>
  )
}

const toneOf = (markers: Marker[]): Marker['tone'] =>
  (['bad', 'good'] as const).find((tone) => markers.some((each) => each.tone === tone)) ?? 'plain'
