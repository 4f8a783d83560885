// A small graph for a row: what it was over the last hours, with its meaning as text.
import css from './sparkline.module.css'
import { sparkPath } from './spark-path.ts'

const [WIDTH, HEIGHT] = [72, 20]

interface Props {
  values: (number | null)[]
  /** The top of the graph; by default the highest value. */
  most?: number
  label: string
  tone?: 'first' | 'second'
}

export function Sparkline({ values, most, label, tone = 'first' }: Props) {
  const { line, area, dot } = sparkPath(values, { width: WIDTH, height: HEIGHT, most })
  return (
    <span title={label}>
      <svg className={css['spark']} data-tone={tone} width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <line x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className={css['base']} />
        <path d={area} className={css['area']} />
        <path d={line} className={css['line']} />
        {dot && <circle cx={dot.x} cy={dot.y} r={1.6} className={css['dot']} />}
      </svg>
      <span className="hidden">{label}</span>
    </span>
  )
}
