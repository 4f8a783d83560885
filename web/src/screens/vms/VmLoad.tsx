// What the VM did in the last hours, as two small graphs. One request answers for all rows.
import type { RecentVmMetrics } from '@berth/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { formatBytes } from '../../ui/format.ts'
import { Sparkline } from '../../ui/Sparkline.tsx'
import { vmsMessages as w } from '../../words/words.ts'
import css from './vms.module.css'

export type RecentLoad = RecentVmMetrics['vms'][number]

const REFRESH_MS = 60_000
/** What the API answers at once. */
const MOST = 100

/** By VM. */
export function useRecentLoad(vmIds: readonly string[]): ReadonlyMap<string, RecentLoad> {
  const ids = vmIds.slice(0, MOST).toSorted()
  const { data } = useQuery({
    queryKey: ['metrics', 'recent', ids],
    queryFn: ({ signal }) => berth.vms.recentMetrics(ids, { signal }),
    enabled: ids.length > 0,
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS / 2,
    placeholderData: keepPreviousData,
  })
  return new Map(data?.vms.map((each) => [each.vmId, each]))
}

const percent = (value: number): string => `${Math.round(value)}\u00a0%`
const rate = (value: number): string => w.rate(formatBytes(Math.round(value)))
const nowOf = (values: (number | null)[]): number => values.findLast((value) => value !== null) ?? 0
const highestOf = (values: (number | null)[]): number => Math.max(0, ...values.map((value) => value ?? 0))

export function VmLoad({ name, load }: { name: string; load: RecentLoad | undefined }) {
  if (!load) return <span className="muted">–</span>
  const { cpuPercent: cpu, networkBytesPerSecond: network } = load
  if ([...cpu, ...network].every((value) => value === null))
    return (
      <span className="muted" title={w.noLoadOf(name)}>
        –
      </span>
    )
  return (
    <div className={css['load']}>
      <Sparkline values={cpu} most={100} label={w.cpuOf(name, percent(nowOf(cpu)), percent(highestOf(cpu)))} />
      <span aria-hidden="true">{percent(nowOf(cpu))}</span>
      <Sparkline values={network} tone="second" label={w.networkOf(name, rate(nowOf(network)), rate(highestOf(network)))} />
      <span aria-hidden="true">{rate(nowOf(network))}</span>
    </div>
  )
}
