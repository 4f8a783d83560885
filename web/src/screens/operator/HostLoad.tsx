// What the VMs of a host use of it over the last day.
import { useQuery } from '@tanstack/react-query'
import { hostLoadQuery, type HostDetails, type HostLoadPoint } from '../../api/operator.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { formatBytes, formatNumber, formatRam } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { hostMessages as w } from '../../words/words.ts'
import css from './fleet.module.css'
import { highest, linePath } from './line-path.ts'

const DAY_MS = 86_400_000
/** The newest average may be of the five minutes before, and measured late. */
const NOW_MS = 15 * 60_000

interface Graph {
  title: string
  of: (point: HostLoadPoint) => number
  format: (value: number) => string
  /** Of the host; the graph reaches up to it. */
  ceiling?: number
}

const rate = (value: number): string => w.perSecond(formatBytes(value))

const graphsOf = ({ vcpu, ramMiB, overcommit, ramOvercommit }: HostDetails): Graph[] => [
  { title: w.cpus, of: ({ cpus }) => cpus, format: (value) => formatNumber(Math.round(value * 10) / 10), ceiling: vcpu.total / overcommit },
  {
    title: w.memory,
    of: ({ ramUsedMiB }) => ramUsedMiB,
    format: (value) => formatRam(Math.round(value)),
    ceiling: ramMiB.total / ramOvercommit,
  },
  { title: w.diskSpeed, of: ({ diskBytesPerSecond }) => diskBytesPerSecond, format: rate },
  {
    title: w.networkSpeed,
    of: ({ networkInBytesPerSecond, networkOutBytesPerSecond }) => networkInBytesPerSecond + networkOutBytesPerSecond,
    format: rate,
  },
]

export function HostLoad({ host }: { host: HostDetails }) {
  const load = useQuery(hostLoadQuery(host.id))
  return (
    <Card title={w.load} about={w.loadAbout}>
      <Loaded of={load} lines={4}>
        {(points) =>
          points.length === 0 ? (
            <p className="muted">{w.noLoad}</p>
          ) : (
            <div className={css['graphs']}>
              {graphsOf(host).map((graph) => (
                <Plot key={graph.title} graph={graph} points={points} until={load.dataUpdatedAt} />
              ))}
            </div>
          )
        }
      </Loaded>
    </Card>
  )
}

function Plot({ graph: { title, of, format, ceiling }, points, until }: { graph: Graph; points: HostLoadPoint[]; until: number }) {
  const values = points.map((point) => ({ at: Date.parse(point.at), value: of(point) }))
  const most = highest(values)
  const last = values.at(-1)!
  const isNow = until - last.at < NOW_MS
  const { line, area } = linePath(values, { from: until - DAY_MS, to: until, most: ceiling ?? Math.max(most * 1.1, 1) })
  return (
    <figure className={css['graph']} aria-label={w.described(title, format(last.value), format(most))}>
      <figcaption>
        <strong>{title}</strong>
        <span className="muted numbers">
          {[isNow && w.now(format(last.value)), w.most(format(most)), ceiling !== undefined && w.ofAll(format(ceiling))]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </figcaption>
      <svg className={css['plot']} viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        {[0, 50, 100].map((y) => (
          <line key={y} x1="0" x2="100" y1={y} y2={y} />
        ))}
        <path data-fill="" d={area} />
        <path d={line} />
      </svg>
      <div className={css['axis']} aria-hidden="true">
        <span>{w.hoursAgo}</span>
        <span>{w.justNow}</span>
      </div>
    </figure>
  )
}
