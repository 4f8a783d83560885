// Rates from two samples of a host. A rate needs a sample of about a minute ago from the same boot whose counters are not higher: there is none after a
// restart, a gap or a clock change.
import type { MetricsSample } from '../../hypervisor/driver.ts'

export interface Point {
  vmId: string
  cpuPercent: number | null
  ramUsedMiB: number | null
  ramMiB: number
  diskReadRate: number | null
  diskWriteRate: number | null
  networkInRate: number | null
  networkOutRate: number | null
}

/** CPU nanoseconds, then bytes read, written, received and sent. */
type Counters = [bigint, bigint, bigint, bigint, bigint]

/** Of a host, by VM. */
export type CountersOfHost = Map<string, { epoch: string; counters: Counters }>

export interface Sampled {
  at: Date
  vms: CountersOfHost
}

const [SHORTEST_S, LONGEST_S] = [10, 150]

const countersOf = (sample: MetricsSample): Counters => [
  sample.cpuNs,
  sample.diskReadBytes,
  sample.diskWrittenBytes,
  sample.receivedBytes,
  sample.sentBytes,
]

export const toSampled = (at: Date, samples: MetricsSample[]): Sampled => ({
  at,
  vms: new Map(samples.map((sample) => [sample.vmId, { epoch: sample.epoch, counters: countersOf(sample) }])),
})

export function toPoint(sample: MetricsSample, at: Date, last: Sampled | null): Point {
  const [cpu, read, written, received, sent] = ratesOf(sample, at, last)
  return {
    vmId: sample.vmId,
    cpuPercent: cpu === null ? null : Math.min(100, cpu / (1e7 * sample.vcpu)),
    ramUsedMiB: sample.ramUsedMiB,
    ramMiB: sample.ramMiB,
    diskReadRate: read,
    diskWriteRate: written,
    networkInRate: received,
    networkOutRate: sent,
  }
}

type Rates = [number, number, number, number, number] | [null, null, null, null, null]

function ratesOf(sample: MetricsSample, at: Date, last: Sampled | null): Rates {
  const before = last?.vms.get(sample.vmId)
  const seconds = last ? (at.getTime() - last.at.getTime()) / 1000 : 0
  const steps = before?.epoch === sample.epoch ? countersOf(sample).map((value, i) => Number(value - before.counters[i]!)) : []
  const isKnown = steps.length > 0 && seconds >= SHORTEST_S && seconds <= LONGEST_S && steps.every((step) => step >= 0)
  return isKnown ? (steps.map((step) => step / seconds) as Rates) : [null, null, null, null, null]
}

/** For another worker, which may sample this host in the next minute. */
export const toText = ({ vms }: Sampled): string =>
  JSON.stringify([...vms].map(([vmId, { epoch, counters }]) => [vmId, epoch, ...counters.map(String)]))

export function fromText(at: Date, text: string): Sampled {
  const rows = JSON.parse(text) as [string, string, ...string[]][]
  return { at, vms: new Map(rows.map(([vmId, epoch, ...counters]) => [vmId, { epoch, counters: counters.map(BigInt) as Counters }])) }
}
