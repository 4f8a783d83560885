// A minute of a host: seven float4 for each of its slots, NaN for what is unknown, computed from two samples. A rate needs a sample of about a minute ago
// from the same boot whose counters are not higher: there is none after a restart, a gap or a clock change.
import { crc32 } from 'node:zlib'
import type { MetricsSample } from '../../hypervisor/driver.ts'
import type { Row } from '../../schema/rows.gen.ts'

/** The columns of metrics_15m for a time of any length. */
export type Summary = Omit<Row<'metrics_15m'>, 'vm_id' | 'at'>

/** CPU, bytes read, written, received and sent; memory used and in all. */
const [RATES, USED, TOTAL, POINT] = [5, 5, 6, 7]
export const POINT_BYTES = POINT * 4

/** Of a slot: its epoch, CPU nanoseconds, bytes read, written, received and sent. */
const COUNTERS = 6

export interface Sampled {
  at: Date
  counters: Float64Array
}

const [SHORTEST_S, LONGEST_S] = [10, 150]

/** `slots` has the slot of each sample that counts. */
export function measure(
  samples: MetricsSample[],
  slots: ReadonlyMap<string, number>,
  at: Date,
  last: Sampled | null,
): { points: Float32Array; counters: Float64Array } {
  const size = samples.reduce((most, { vmId }) => Math.max(most, (slots.get(vmId) ?? -1) + 1), 0)
  const points = new Float32Array(size * POINT).fill(NaN)
  const counters = new Float64Array(size * COUNTERS).fill(NaN)
  const seconds = last ? (at.getTime() - last.at.getTime()) / 1000 : 0
  const before = seconds >= SHORTEST_S && seconds <= LONGEST_S ? last!.counters : new Float64Array()
  for (const sample of samples) {
    const slot = slots.get(sample.vmId)
    if (slot === undefined) continue
    const [point, counter] = [slot * POINT, slot * COUNTERS]
    counters[counter] = crc32(sample.epoch)
    counters[counter + 1] = Number(sample.cpuNs)
    counters[counter + 2] = Number(sample.diskReadBytes)
    counters[counter + 3] = Number(sample.diskWrittenBytes)
    counters[counter + 4] = Number(sample.receivedBytes)
    counters[counter + 5] = Number(sample.sentBytes)
    let isKnown = counters[counter] === before[counter]
    for (let i = 1; i <= RATES; i++) isKnown &&= counters[counter + i]! >= before[counter + i]!
    if (isKnown) {
      for (let i = 0; i < RATES; i++) points[point + i] = (counters[counter + i + 1]! - before[counter + i + 1]!) / seconds
      points[point] = Math.min(100, points[point]! / (1e7 * sample.vcpu))
    }
    points[point + USED] = sample.ramUsedMiB ?? NaN
    points[point + TOTAL] = sample.ramMiB
  }
  return { points, counters }
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Of a VM that was not there. */
export const NOTHING = bytesOf(new Float32Array(POINT).fill(NaN))

/** Copies: a typed array must begin at a multiple of its elements' size. */
export const pointsFrom = (bytes: Buffer): Float32Array => new Float32Array(new Uint8Array(bytes).buffer)
export const countersFrom = (bytes: Buffer): Float64Array => new Float64Array(new Uint8Array(bytes).buffer)

/** Which of the counts an average is over, in the order of a point. */
const MEANS = {
  cpu_percent: 'rate_samples',
  disk_read_rate: 'rate_samples',
  disk_write_rate: 'rate_samples',
  network_in_rate: 'rate_samples',
  network_out_rate: 'rate_samples',
  ram_used_mib: 'ram_samples',
} as const
type Mean = keyof typeof MEANS
const NAMES = Object.keys(MEANS) as Mean[]

/** Averages and maxima of a slot over minutes; null where it is in none. */
export function summarise(minutes: Float32Array[], slot: number): Summary | null {
  const start = slot * POINT
  const there = minutes.filter((points) => points[start + TOTAL]! >= 0)
  if (there.length === 0) return null
  const count = (i: number): number => there.reduce((sum, points) => sum + (points[start + i]! >= 0 ? 1 : 0), 0)
  const most = (i: number): number => there.reduce((max, points) => (points[start + i]! > max ? points[start + i]! : max), 0)
  const sum = (i: number): number => there.reduce((total, points) => total + (points[start + i]! >= 0 ? points[start + i]! : 0), 0)
  const summary = { rate_samples: count(0), ram_samples: count(USED), ram_mib: most(TOTAL) } as Summary
  NAMES.forEach((name, i) => {
    const samples = summary[MEANS[name]]
    summary[name] = samples === 0 ? null : sum(i) / samples
    summary[`${name}_max`] = samples === 0 ? null : most(i)
  })
  return summary
}

/** Of two times that do not overlap. */
export function merge(a: Summary, b: Summary): Summary {
  const both = {
    rate_samples: a.rate_samples + b.rate_samples,
    ram_samples: a.ram_samples + b.ram_samples,
    ram_mib: Math.max(a.ram_mib, b.ram_mib),
  } as Summary
  for (const name of NAMES) {
    const samples = MEANS[name]
    const isKnown = both[samples] > 0
    both[name] = isKnown ? ((a[name] ?? 0) * a[samples] + (b[name] ?? 0) * b[samples]) / both[samples] : null
    both[`${name}_max`] = isKnown ? Math.max(a[`${name}_max`] ?? 0, b[`${name}_max`] ?? 0) : null
  }
  return both
}
