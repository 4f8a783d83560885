import { SegmentedControl } from '@mantine/core'
import type { Vm, VmMetrics } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { berth } from '../../api/berth.ts'
import { formatBytes } from '../../ui/format.ts'
import { Card, Stack } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { vmMessages as w } from '../../words/words.ts'
import { Graph, type Line } from './Graph.tsx'
import css from './vm.module.css'

const HOURS: Record<string, number> = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '30d': 720 }

const percent = (value: number): string => `${Math.round(value)} %`
const perSecond = (value: number): string => formatBytes(Math.round(value))
const milliseconds = (value: number): string => `${Math.round(value * 10) / 10} ms`
const mebibytes = (value: number): string => `${Math.round(value)}`

export default function Graphs({ vm }: { vm: Vm }) {
  const { search, setSearch } = usePaging()
  const range = search.range && search.range in HOURS ? search.range : '1h'
  const metrics = useQuery({
    queryKey: ['metrics', vm.id, range],
    queryFn: ({ signal }) => berth.vms.metrics(vm.id, { from: new Date(Date.now() - HOURS[range]! * 3_600_000).toISOString() }, { signal }),
    refetchInterval: 30_000,
  })
  return (
    <Stack>
      <SegmentedControl
        aria-label={w.range}
        value={range}
        onChange={(next) => setSearch({ range: next === '1h' ? undefined : next })}
        data={Object.keys(HOURS).map((value) => ({ value, label: w.ranges[value]! }))}
        style={{ alignSelf: 'flex-start' }}
      />
      <Loaded of={metrics}>{(data) => <GraphGrid metrics={data} />}</Loaded>
    </Stack>
  )
}

function GraphGrid({ metrics }: { metrics: VmMetrics }) {
  const times = useMemo(() => metrics.timestamps.map((at) => Date.parse(at) / 1000), [metrics])
  const { series } = metrics
  const lines = useMemo(() => linesOf(series), [series])
  if (series.cpuPercent.every((value) => value === null))
    return (
      <Card flush>
        <Empty icon="chart" title={w.graphs.emptyTitle} about={w.graphs.emptyAbout} />
      </Card>
    )
  const hasRam = series.ramUsed.some((value) => value !== null)
  return (
    <div className={css['graphs']}>
      <Graph title={w.graphs.cpu} unit={w.graphs.cpuUnit} times={times} lines={lines.cpu} format={percent} most={100} />
      <Graph title={w.graphs.network} unit={w.graphs.networkUnit} times={times} lines={lines.network} format={perSecond} />
      <Graph title={w.graphs.disk} unit={w.graphs.diskUnit} times={times} lines={lines.disk} format={perSecond} />
      <Graph title={w.graphs.diskWait} unit={w.graphs.diskWaitUnit} times={times} lines={lines.diskWait} format={milliseconds} />
      {hasRam && <Graph title={w.graphs.ram} unit={w.graphs.ramUnit} times={times} lines={lines.ram} format={mebibytes} />}
    </div>
  )
}

const linesOf = (series: VmMetrics['series']): Record<'cpu' | 'network' | 'disk' | 'diskWait' | 'ram', Line[]> => ({
  cpu: [
    { label: w.graphs.used, values: series.cpuPercent },
    { label: w.graphs.steal, values: series.cpuStealPercent },
  ],
  network: [
    { label: w.graphs.in, values: series.networkInBytesPerSecond },
    { label: w.graphs.out, values: series.networkOutBytesPerSecond },
  ],
  disk: [
    { label: w.graphs.read, values: series.diskReadBytesPerSecond },
    { label: w.graphs.write, values: series.diskWriteBytesPerSecond },
  ],
  diskWait: [{ label: w.graphs.wait, values: series.diskWaitMs }],
  ram: [{ label: w.graphs.used, values: series.ramUsed }],
})
