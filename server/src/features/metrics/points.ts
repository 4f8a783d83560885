// A minute of a host: seven float4 and, apart, three of waits for each of its slots, NaN for what is unknown, computed from two
// samples. A rate needs a sample of about a minute ago from the same boot whose counters are not higher: there is none after a restart, a gap or a clock change.
import { crc32 } from 'node:zlib'
import type { MetricsSample } from '../../hypervisor/driver.ts'
import type { Row } from '../../schema/rows.gen.ts'

/** The columns of metrics_15m for a time of any length. */
export type Summary = Omit<Row<'metrics_15m'>, 'vm_id' | 'at'>

/** CPU, bytes read, written, received and sent; memory used and in all. */
const [RATES, USED, TOTAL, POINT] = [5, 5, 6, 7]
export const POINT_BYTES = POINT * 4
/** How much of the time its CPUs waited for the host's, in percent; requests to its disks a second; milliseconds that each took. */
const WAIT = 3
export const WAIT_BYTES = WAIT * 4

/** Of a slot: its epoch, CPU nanoseconds, bytes read, written, received and sent. */
const COUNTERS = 6
/** Of a slot: nanoseconds that its CPUs waited, requests to its disks, and the nanoseconds that those took. */
const WAIT_COUNTERS = 3

export interface Sampled {
  at: Date
  counters: Float64Array
  /** Null where the version before has sampled. */
  waits: Float64Array | null
}

export interface Minute {
  points: Float32Array
  /** Null where the version before has sampled. */
  waits: Float32Array | null
}

interface Measured {
  points: Float32Array
  waits: Float32Array
  counters: Float64Array
  waitCounters: Float64Array
}

const [SHORTEST_S, LONGEST_S] = [10, 150]

/** `slots` has the slot of each sample that counts. */
export function measure(samples: MetricsSample[], slots: ReadonlyMap<string, number>, at: Date, last: Sampled | null): Measured {
  const size = samples.reduce((most, { vmId }) => Math.max(most, (slots.get(vmId) ?? -1) + 1), 0)
  const points = new Float32Array(size * POINT).fill(NaN)
  const counters = new Float64Array(size * COUNTERS).fill(NaN)
  const waits = new Float32Array(size * WAIT).fill(NaN)
  const waitCounters = new Float64Array(size * WAIT_COUNTERS).fill(NaN)
  const seconds = last ? (at.getTime() - last.at.getTime()) / 1000 : 0
  const isRecent = seconds >= SHORTEST_S && seconds <= LONGEST_S
  const before = isRecent ? last!.counters : new Float64Array()
  const waitsBefore = (isRecent && last!.waits) || new Float64Array()
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
    const wait = slot * WAIT_COUNTERS
    waitCounters.set([Number(sample.cpuWaitNs ?? NaN), Number(sample.diskRequests), Number(sample.diskNs)], wait)
    if (isKnown) waits.set(waitsOf(sample.vcpu, seconds, waitCounters.subarray(wait), waitsBefore.subarray(wait)), slot * WAIT)
  }
  return { points, waits, counters, waitCounters }
}

/** Each is unknown where its counter is, or has become lower: a CPU or a disk was taken away. */
function waitsOf(vcpu: number, seconds: number, now: Float64Array, before: Float64Array): number[] {
  const [cpuNs, requests, diskNs] = Array.from({ length: WAIT_COUNTERS }, (_, i) => (now[i]! >= before[i]! ? now[i]! - before[i]! : NaN))
  return [Math.min(100, cpuNs! / (1e7 * vcpu * seconds)), requests! / seconds, requests === 0 ? NaN : diskNs! / 1e6 / requests!]
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Of a VM that was not there. */
export const NOTHING = bytesOf(new Float32Array(POINT).fill(NaN))

/** Copies: a typed array must begin at a multiple of its elements' size. */
export const pointsFrom = (bytes: Buffer): Float32Array => new Float32Array(new Uint8Array(bytes).buffer)
export const minuteFrom = ({ points, waits }: { points: Buffer; waits: Buffer | null }): Minute => ({
  points: pointsFrom(points),
  waits: waits && pointsFrom(waits),
})
export const countersFrom = (bytes: Buffer): Float64Array => new Float64Array(new Uint8Array(bytes).buffer)

/** Which of the counts an average is over, in the order of a point and then of its waits. Null: it is none. */
const ORDER = [
  ['cpu_percent', 'rate_samples'],
  ['disk_read_rate', 'rate_samples'],
  ['disk_write_rate', 'rate_samples'],
  ['network_in_rate', 'rate_samples'],
  ['network_out_rate', 'rate_samples'],
  ['ram_used_mib', 'ram_samples'],
  null, // memory in all
  ['cpu_steal_percent', 'cpu_steal_samples'],
  ['disk_request_rate', 'disk_request_samples'],
  ['disk_wait_ms', 'disk_wait_samples'],
] as const
const MEANS = ORDER.flatMap((each, index) => (each ? [{ name: each[0], samples: each[1], index }] : []))
const SAMPLES = ['rate_samples', 'ram_samples', 'cpu_steal_samples', 'disk_request_samples', 'disk_wait_samples'] as const

const valueOf = ({ points, waits }: Minute, slot: number, i: number): number =>
  i < POINT ? points[slot * POINT + i]! : waits ? waits[slot * WAIT + i - POINT]! : NaN

/** Averages and maxima of a slot over minutes; null where it is in none. */
export function summarise(minutes: Minute[], slot: number): Summary | null {
  const there = minutes.filter((minute) => valueOf(minute, slot, TOTAL) >= 0)
  if (there.length === 0) return null
  const summary = { ram_mib: there.reduce((most, minute) => Math.max(most, valueOf(minute, slot, TOTAL)), 0) } as Summary
  for (const { name, samples, index } of MEANS) {
    let [count, sum, most] = [0, 0, 0]
    for (const minute of there) {
      const value = valueOf(minute, slot, index)
      if (!(value >= 0)) continue
      count++
      sum += value
      if (value > most) most = value
    }
    summary[samples] = count // the same for all that are known together
    summary[name] = count === 0 ? null : sum / count
    summary[`${name}_max`] = count === 0 ? null : most
  }
  return summary
}

/** Of two times that do not overlap. */
export function merge(a: Summary, b: Summary): Summary {
  const both = { ram_mib: Math.max(a.ram_mib, b.ram_mib) } as Summary
  for (const name of SAMPLES) both[name] = a[name] + b[name]
  for (const { name, samples } of MEANS) {
    const isKnown = both[samples] > 0
    both[name] = isKnown ? ((a[name] ?? 0) * a[samples] + (b[name] ?? 0) * b[samples]) / both[samples] : null
    both[`${name}_max`] = isKnown ? Math.max(a[`${name}_max`] ?? 0, b[`${name}_max`] ?? 0) : null
  }
  return both
}
