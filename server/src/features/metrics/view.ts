import type { VmMetrics } from './schema.ts'
import type { PointRow } from './sql.ts'
import type { Window } from './time-range.ts'

/** Returns every point of the range; those without samples are null. */
export function toMetrics({ from, to, step }: Window, rows: PointRow[]): VmMetrics {
  const known = new Map(rows.map((row) => [row.at.getTime(), row]))
  const count = (to.getTime() - from.getTime()) / (step * 1000)
  const times = Array.from({ length: count }, (_, i) => from.getTime() + i * step * 1000)
  const points = times.map((time) => known.get(time))
  const column = (name: Exclude<keyof PointRow, 'at'>, round = Math.round) =>
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
      cpuPercent: column('cpu', hundredths),
      ramUsed: column('ram_used'),
      ramTotal: column('ram'),
      diskReadBytesPerSecond: column('disk_read'),
      diskWriteBytesPerSecond: column('disk_write'),
      networkInBytesPerSecond: column('network_in'),
      networkOutBytesPerSecond: column('network_out'),
    },
    maxima: {
      cpuPercent: column('cpu_max', hundredths),
      ramUsed: column('ram_used_max'),
      diskReadBytesPerSecond: column('disk_read_max'),
      diskWriteBytesPerSecond: column('disk_write_max'),
      networkInBytesPerSecond: column('network_in_max'),
      networkOutBytesPerSecond: column('network_out_max'),
    },
  }
}

const hundredths = (value: number): number => Math.round(value * 100) / 100
