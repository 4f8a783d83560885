import type { Summary } from './points.ts'
import type { RecentVmMetrics, VmMetrics } from './schema.ts'
import type { Window } from './time-range.ts'

/** Returns every point of the range; those without samples are null. `known`: by the beginning of each step. */
export function toMetrics({ from, to, step }: Window, known: ReadonlyMap<number, Summary>): VmMetrics {
  const count = (to.getTime() - from.getTime()) / (step * 1000)
  const times = Array.from({ length: count }, (_, i) => from.getTime() + i * step * 1000)
  const points = times.map((time) => known.get(time))
  const column = (name: keyof Summary, round = Math.round) =>
    points.map((point) => {
      const value = point?.[name] ?? null
      return value === null ? null : round(value)
    })
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    step,
    timestamps: times.map((time) => new Date(time).toISOString()),
    series: {
      cpuPercent: column('cpu_percent', hundredths),
      ramUsed: column('ram_used_mib'),
      ramTotal: column('ram_mib'),
      diskReadBytesPerSecond: column('disk_read_rate'),
      diskWriteBytesPerSecond: column('disk_write_rate'),
      networkInBytesPerSecond: column('network_in_rate'),
      networkOutBytesPerSecond: column('network_out_rate'),
      cpuStealPercent: column('cpu_steal_percent', hundredths),
      diskRequestsPerSecond: column('disk_request_rate', hundredths),
      diskWaitMs: column('disk_wait_ms', hundredths),
    },
    maxima: {
      cpuPercent: column('cpu_percent_max', hundredths),
      ramUsed: column('ram_used_mib_max'),
      diskReadBytesPerSecond: column('disk_read_rate_max'),
      diskWriteBytesPerSecond: column('disk_write_rate_max'),
      networkInBytesPerSecond: column('network_in_rate_max'),
      networkOutBytesPerSecond: column('network_out_rate_max'),
      cpuStealPercent: column('cpu_steal_percent_max', hundredths),
      diskRequestsPerSecond: column('disk_request_rate_max', hundredths),
      diskWaitMs: column('disk_wait_ms_max', hundredths),
    },
  }
}

const hundredths = (value: number): number => Math.round(value * 100) / 100

/** Six hours of quarter-hours. */
export const RECENT_POINTS = 24

interface RecentPart {
  vm_id: string
  at: Date | null
  samples: number
  cpu: number | null
  network: number | null
}

interface RecentWindow {
  from: Date
  to: Date
  step: number
}

/** Means weighted by how many minutes each part is of: the newest quarter-hour has several. */
export function toRecent({ from, to, step }: RecentWindow, vmIds: string[], parts: RecentPart[]): RecentVmMetrics {
  const ofVm = Map.groupBy(parts, ({ vm_id }) => vm_id)
  const pointOf = (at: Date): number => Math.floor((at.getTime() - from.getTime()) / (step * 1000))
  const series = (of: RecentPart[], value: 'cpu' | 'network', round: (value: number) => number): (number | null)[] => {
    const sums = Array.from({ length: RECENT_POINTS }, () => ({ sum: 0, samples: 0 }))
    for (const part of of) {
      if (part.at === null || part[value] === null) continue
      const point = sums[pointOf(part.at)]!
      point.sum += part[value] * part.samples
      point.samples += part.samples
    }
    return sums.map(({ sum, samples }) => (samples === 0 ? null : round(sum / samples)))
  }
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    step,
    vms: vmIds.flatMap((vmId) => {
      const own = ofVm.get(vmId)
      if (!own) return []
      return [{ vmId, cpuPercent: series(own, 'cpu', hundredths), networkBytesPerSecond: series(own, 'network', Math.round) }]
    }),
  }
}
