import { Button, SegmentedControl, Switch } from '@mantine/core'
import type { Event, Vm, VmMetrics } from '@berth/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { formatBytes, formatRam, formatSpeed } from '../../ui/format.ts'
import { Card, Stack } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { vmMessages } from '../../words/words.ts'
import { eventSentence } from '../events/describe.ts'
import { readEvents } from '../events/recent.ts'
import { Graph } from './Graph.tsx'
import css from './graphs/graphs.module.css'
import type { Marker } from './graphs/Markers.tsx'
import { canCompare, COMPARISONS, rangeText, readRange, secondsOf, shifted, zoomed, type Comparison, type Range } from './graphs/series.ts'

const w = vmMessages
const HOURS: Record<string, number> = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '30d': 720 }
const QUARTER = 900

const percent = (value: number): string => `${Math.round(value)} %`
const perSecond = (value: number): string => `${formatBytes(Math.round(value))}/s`
const milliseconds = (value: number): string => `${Math.round(value * 10) / 10} ms`
const requests = (value: number): string => `${Math.round(value)}/s`

const nowSeconds = (): number => Date.now() / 1_000
const iso = (seconds: number): string => new Date(Math.min(seconds, nowSeconds()) * 1_000).toISOString()

/** `range` of the URL is a name, or a part that was zoomed into. */
function rangeOf(name: string): Range {
  const now = nowSeconds()
  return readRange(name) ?? { from: now - HOURS[name]! * 3_600, to: now }
}

export default function Graphs({ vm }: { vm: Vm }) {
  const { search, setSearch } = usePaging()
  const zoom = readRange(search.range)
  const name = search.range && (search.range in HOURS || zoom) ? search.range : '1h'
  const [comparison, setComparison] = useState<Comparison | 'none'>('none')
  const [toCeiling, setToCeiling] = useState(false)
  const metrics = useQuery({
    queryKey: ['metrics', vm.id, name],
    queryFn: ({ signal }) => {
      const { from, to } = rangeOf(name)
      return berth.vms.metrics(vm.id, { from: iso(from), ...(zoom && { to: iso(to) }) }, { signal })
    },
    placeholderData: keepPreviousData,
    refetchInterval: zoom ? false : 30_000,
  })
  const compares = comparison !== 'none' && canCompare(rangeOf(name), comparison, nowSeconds()) ? comparison : null
  const before = useQuery({
    queryKey: ['metrics', vm.id, name, 'before', compares],
    enabled: compares !== null,
    queryFn: ({ signal }) => {
      const { from, to } = rangeOf(name)
      const shift = COMPARISONS[compares!]
      return berth.vms.metrics(vm.id, { from: iso(from - shift), to: iso(Math.max(to - shift, from - shift + QUARTER)) }, { signal })
    },
    refetchInterval: 300_000,
  })
  const events = useQuery({ queryKey: ['events', 'graphs'], queryFn: ({ signal }) => readEvents(1, 100, signal), refetchInterval: 30_000 })
  const markers = useMemo(() => markersOf(vm.id, events.data?.items ?? []), [vm.id, events.data])
  const choose = (range: string): void => setSearch({ range: range === '1h' ? undefined : range })
  const onZoom = (wanted: Range | null): void => {
    const now = rangeOf(name)
    const next =
      wanted && zoomed(wanted.to - wanted.from > now.to - now.from ? wanted : now, wanted.from, Math.min(wanted.to, nowSeconds()))
    if (next) choose(rangeText(next))
    else if (zoom) choose('1h')
  }
  return (
    <Stack>
      <div className={css['tools']}>
        <SegmentedControl
          aria-label={w.range}
          value={zoom ? '' : name}
          onChange={choose}
          data={Object.keys(HOURS).map((value) => ({ value, label: w.ranges[value]! }))}
        />
        {zoom && (
          <Button variant="default" size="xs" onClick={() => choose('1h')}>
            {w.graphs.zoomOut}
          </Button>
        )}
        <SegmentedControl
          aria-label={w.graphs.compare}
          value={comparison}
          onChange={(next) => setComparison(next as Comparison | 'none')}
          data={(['none', 'day', 'week'] as const).map((value) => ({
            value,
            label: w.graphs.comparisons[value],
            disabled: value !== 'none' && !canCompare(rangeOf(name), value, nowSeconds()),
          }))}
        />
        <Switch label={w.graphs.limits} checked={toCeiling} onChange={(event) => setToCeiling(event.currentTarget.checked)} />
      </div>
      <Loaded of={metrics}>
        {(data) => (
          <GraphGrid
            vm={vm}
            metrics={data}
            before={compares && before.data ? { metrics: before.data, shift: COMPARISONS[compares] } : null}
            toCeiling={toCeiling}
            markers={markers}
            onZoom={onZoom}
          />
        )}
      </Loaded>
    </Stack>
  )
}

const BAD = /fail|error|suspend|throttled|alert\.fired|crash|unreachable|past_due/
const GOOD = /created|started|resolved|unthrottled|unsuspended|verified/

function markersOf(vmId: string, events: Event[]): Marker[] {
  return events
    .filter(({ data }) => (data as { vm?: { id?: string } | null }).vm?.id === vmId)
    .map((event) => ({
      id: event.id,
      at: Date.parse(event.timestamp) / 1_000,
      sentence: eventSentence(event),
      tone: BAD.test(event.type) ? 'bad' : GOOD.test(event.type) ? 'good' : 'plain',
    }))
}

interface GridProps {
  vm: Vm
  metrics: VmMetrics
  before: { metrics: VmMetrics; shift: number } | null
  toCeiling: boolean
  markers: Marker[]
  onZoom: (range: Range | null) => void
}

function GraphGrid({ vm, metrics, before, toCeiling, markers, onZoom }: GridProps) {
  const { series } = metrics
  const times = useMemo(() => secondsOf(metrics), [metrics])
  const lines = useMemo(() => linesOf(metrics, before), [metrics, before])
  if (series.cpuPercent.every((value) => value === null))
    return (
      <Card flush>
        <Empty icon="chart" title={w.graphs.emptyTitle} about={w.graphs.emptyAbout} />
      </Card>
    )
  const hasRam = series.ramUsed.some((value) => value !== null)
  const shared = { times, markers, onZoom, toCeiling }
  const network = { value: vm.networkSpeed * 125_000, label: w.graphs.ofNetwork(formatSpeed(vm.networkSpeed)) }
  return (
    <div className={css['graphs']}>
      <Graph
        {...shared}
        title={w.graphs.cpu}
        unit={w.graphs.cpuUnit}
        lines={lines.cpu}
        format={percent}
        ceiling={{ value: 100, label: w.graphs.ofCpu(vm.vcpu) }}
        toCeiling
      />
      {hasRam && (
        <Graph
          {...shared}
          title={w.graphs.ram}
          unit={w.graphs.ramUnit}
          lines={lines.ram}
          format={(value) => formatRam(Math.round(value))}
          ceiling={{ value: vm.ram, label: formatRam(vm.ram) }}
          toCeiling
        />
      )}
      <Graph {...shared} title={w.graphs.network} unit={w.graphs.networkUnit} lines={lines.network} format={perSecond} ceiling={network} />
      <Graph {...shared} title={w.graphs.disk} unit={w.graphs.diskUnit} lines={lines.disk} format={perSecond} />
      <Graph {...shared} title={w.graphs.requests} unit={w.graphs.requestsUnit} lines={lines.requests} format={requests} />
      <Graph {...shared} title={w.graphs.diskWait} unit={w.graphs.diskWaitUnit} lines={lines.diskWait} format={milliseconds} />
    </div>
  )
}

type Series = keyof VmMetrics['series']

const SHOWN = {
  cpu: [
    ['cpuPercent', w.graphs.used],
    ['cpuStealPercent', w.graphs.steal],
  ],
  ram: [['ramUsed', w.graphs.used]],
  network: [
    ['networkInBytesPerSecond', w.graphs.in],
    ['networkOutBytesPerSecond', w.graphs.out],
  ],
  disk: [
    ['diskReadBytesPerSecond', w.graphs.read],
    ['diskWriteBytesPerSecond', w.graphs.write],
  ],
  requests: [['diskRequestsPerSecond', w.graphs.requestsLine]],
  diskWait: [['diskWaitMs', w.graphs.wait]],
} satisfies Record<string, [Series, string][]>

function linesOf(metrics: VmMetrics, before: GridProps['before']) {
  const times = secondsOf(metrics)
  const past = before && { times: secondsOf(before.metrics), step: before.metrics.step }
  const lineOf = ([name, label]: [Series, string]) => ({
    label,
    values: metrics.series[name],
    ...(before && past && { before: shifted(times, { ...past, values: before.metrics.series[name] }, before.shift) }),
  })
  return {
    cpu: SHOWN.cpu.map((each) => lineOf(each as [Series, string])),
    ram: SHOWN.ram.map((each) => lineOf(each as [Series, string])),
    network: SHOWN.network.map((each) => lineOf(each as [Series, string])),
    disk: SHOWN.disk.map((each) => lineOf(each as [Series, string])),
    requests: SHOWN.requests.map((each) => lineOf(each as [Series, string])),
    diskWait: SHOWN.diskWait.map((each) => lineOf(each as [Series, string])),
  }
}
