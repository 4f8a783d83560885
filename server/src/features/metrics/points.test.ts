import { expect, test } from 'vitest'
import type { MetricsSample } from '../../hypervisor/driver.ts'
import { measure, merge, summarise, type Sampled } from './points.ts'

const SAMPLE: MetricsSample = {
  vmId: 'a',
  epoch: '1',
  vcpu: 2,
  cpuNs: 0n,
  cpuWaitNs: 0n,
  ramMiB: 1024,
  ramUsedMiB: null,
  diskReadBytes: 0n,
  diskWrittenBytes: 0n,
  diskRequests: 0n,
  diskNs: 0n,
  receivedBytes: 0n,
  sentBytes: 0n,
}
const SLOTS = new Map([['a', 1]])

/** A minute of it between two samples. */
function minuteOf(first: Partial<MetricsSample>, second: Partial<MetricsSample>, forget: Partial<Sampled> = {}) {
  const at = new Date(60_000)
  const before = measure([{ ...SAMPLE, ...first }], SLOTS, new Date(0), null)
  return measure([{ ...SAMPLE, ...second }], SLOTS, at, {
    at: new Date(0),
    counters: before.counters,
    waits: before.waitCounters,
    ...forget,
  })
}
const summaryOf = (...minutes: ReturnType<typeof minuteOf>[]) => summarise(minutes, 1)!

test('waits are rates of their own', () =>
  expect(summaryOf(minuteOf({}, { cpuWaitNs: 12_000_000_000n, diskRequests: 600n, diskNs: 1_200_000_000n }))).toMatchObject({
    cpu_steal_percent: 10,
    disk_request_rate: 10,
    disk_wait_ms: 2,
    disk_wait_samples: 1,
  }))

test.each<[string, Partial<MetricsSample>, Partial<MetricsSample>, object]>([
  ['a host that does not count them', { cpuWaitNs: null }, { cpuWaitNs: null }, { cpu_steal_percent: null, disk_request_rate: 0 }],
  ['no requests', { diskRequests: 5n }, { diskRequests: 5n }, { disk_request_rate: 0, disk_wait_ms: null, disk_wait_samples: 0 }],
  ['a CPU that was taken away', { cpuWaitNs: 9n }, { cpuWaitNs: 5n }, { cpu_steal_percent: null, cpu_percent: 0 }],
  ['a disk that was taken away', { diskRequests: 9n }, { diskRequests: 5n, diskNs: 9n }, { disk_request_rate: null, disk_wait_ms: null }],
  ['a restart', { epoch: '0' }, { cpuWaitNs: 9n }, { cpu_steal_percent: null, disk_request_rate: null, disk_wait_ms: null }],
])('what is unknown after %s is null', (_, first, second, summary) => expect(summaryOf(minuteOf(first, second))).toMatchObject(summary))

test('without waits in the sample before there are rates, and no waits', () =>
  expect(summaryOf(minuteOf({}, { cpuNs: 60_000_000_000n, diskRequests: 600n }, { waits: null }))).toMatchObject({
    cpu_percent: 50,
    disk_request_rate: null,
  }))

test('minutes without a value weigh nothing in its average', () => {
  const slow = minuteOf({}, { cpuWaitNs: 12_000_000_000n, diskRequests: 600n, diskNs: 1_200_000_000n })
  const idle = minuteOf({ cpuWaitNs: null }, { cpuWaitNs: null })
  const together = {
    cpu_steal_percent: 10,
    cpu_steal_samples: 1,
    disk_request_rate: 5,
    disk_request_samples: 2,
    disk_wait_ms: 2,
    disk_wait_samples: 1,
  }
  expect(summaryOf(slow, idle)).toMatchObject(together)
  expect(merge(summaryOf(slow), summaryOf(idle))).toMatchObject(together)
  expect(merge(summaryOf(idle), summaryOf(slow))).toMatchObject({ ...together, cpu_steal_percent_max: 10, disk_wait_ms_max: 2 })
})
