import { useId } from 'react'
import css from './mini-graph.module.css'

export interface MiniLine {
  /** Of the two where there are two, such as in and out. */
  label?: string
  values: (number | null)[]
}

interface Props {
  title: string
  /** What is in large letters beside the title. */
  now: string
  /** The same as text, for who does not see it. */
  described: string
  lines: MiniLine[]
  /** The top of the scale; the largest value where it is not given. */
  most?: number
}

const [WIDTH, HEIGHT] = [240, 48]

/** The last hour in the size of a word: a line without axes. */
export function MiniGraph({ title, now, described, lines, most }: Props) {
  const fade = useId()
  const top = most ?? Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))) * 1.1
  return (
    <figure className={css['graph']} aria-label={described}>
      <figcaption className={css['head']} aria-hidden="true">
        <span>{title}</span>
        <strong>{now}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" className={css['plot']}>
        <linearGradient id={fade} x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stopColor="var(--chart-1)" stopOpacity="0.28" />
          <stop offset="1" stopColor="var(--chart-1)" stopOpacity="0" />
        </linearGradient>
        {lines.map(({ values, label = '' }, index) =>
          runsOf(values, top).map((run) => (
            <g key={`${label} ${run}`}>
              {index === 0 && <path d={`${run}V${HEIGHT}H${run.slice(1).split(' ')[0]}Z`} fill={`url(#${fade})`} />}
              <path d={run} fill="none" stroke={`var(--chart-${index + 1})`} strokeWidth="1.6" vectorEffect="non-scaling-stroke" />
            </g>
          )),
        )}
      </svg>
      {lines.length > 1 && (
        <span className={css['legend']} aria-hidden="true">
          {lines.map(({ label }, index) => (
            <span key={label}>
              <i style={{ background: `var(--chart-${index + 1})` }} /> {label}
            </span>
          ))}
        </span>
      )}
    </figure>
  )
}

/** One path for each run of values; gaps stay gaps. */
export function runsOf(values: (number | null)[], top: number): string[] {
  const runs: string[] = []
  let run = ''
  values.forEach((value, index) => {
    if (value === null) {
      if (run) runs.push(run)
      run = ''
      return
    }
    const x = values.length < 2 ? 0 : (index / (values.length - 1)) * WIDTH
    const y = HEIGHT - 1 - (Math.min(value, top) / top) * (HEIGHT - 4)
    run += `${run ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`
  })
  return run ? [...runs, run] : runs
}
