import type { Vm, VmMetrics } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { formatBytes, formatRam } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { MiniGraph, type MiniLine } from '../../ui/MiniGraph.tsx'
import { Card } from '../../ui/Page.tsx'
import { vmMessages } from '../../words/words.ts'
import css from './overview.module.css'

const w = vmMessages.miniGraphs
const g = vmMessages.graphs
const HOUR_MS = 3_600_000

export function MiniGraphs({ vm }: { vm: Vm }) {
  const metrics = useQuery({
    queryKey: ['metrics', vm.id, 'last-hour'],
    queryFn: ({ signal }) => berth.vms.metrics(vm.id, { from: new Date(Date.now() - HOUR_MS).toISOString() }, { signal }),
    refetchInterval: 30_000,
  })
  return (
    <Card
      title={w.title}
      actions={
        <TextLink to="/vms/$vmId" params={{ vmId: vm.id }} search={{ tab: 'graphs' }}>
          {w.all}
        </TextLink>
      }
    >
      {metrics.data?.series.cpuPercent.some((value) => value !== null) ? (
        <div className={css['graphs']}>
          <FourGraphs {...metrics.data} vm={vm} />
        </div>
      ) : (
        <p className="muted">{metrics.isPending ? '…' : w.none}</p>
      )}
    </Card>
  )
}

function FourGraphs({ series, vm }: VmMetrics & { vm: Vm }) {
  const rate = (value: number): string => w.perSecond(formatBytes(Math.round(value)))
  const graph = (title: string, lines: MiniLine[], format: (value: number) => string, most?: number) => {
    const now = lines.map(({ values }) => format(values.findLast((value) => value !== null) ?? 0)).join(' · ')
    return <MiniGraph title={title} now={now} described={w.described(title, now)} lines={lines} {...(most !== undefined && { most })} />
  }
  return (
    <>
      {graph(g.cpu, [{ values: series.cpuPercent }], (value) => `${Math.round(value)}\u00a0%`, 100)}
      {series.ramUsed.some((value) => value !== null) &&
        graph(g.ram, [{ values: series.ramUsed }], (value) => w.of(formatRam(Math.round(value)), formatRam(vm.ram)), vm.ram)}
      {graph(
        g.disk,
        [
          { label: g.read, values: series.diskReadBytesPerSecond },
          { label: g.write, values: series.diskWriteBytesPerSecond },
        ],
        rate,
      )}
      {graph(
        g.network,
        [
          { label: g.in, values: series.networkInBytesPerSecond },
          { label: g.out, values: series.networkOutBytesPerSecond },
        ],
        rate,
      )}
    </>
  )
}
