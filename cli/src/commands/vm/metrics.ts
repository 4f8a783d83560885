import type { VmMetrics } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { bytes, time } from '../../format.ts'
import { given, whole } from '../../options.ts'

export const metrics = verb<{ from?: string; to?: string; step?: string }>({
  name: 'metrics',
  about: 'CPU, memory, disk and network over time',
  args: '<vm>',
  options: [
    ['--from <time>', 'ISO 8601; an hour ago unless given'],
    ['--to <time>', 'ISO 8601; now unless given'],
    ['--step <seconds>', 'between two points'],
  ],
  example: 'vm metrics web-1 --from 2027-01-31T12:00:00Z',
  async run(call, { from, to, step }, vm: string) {
    const query = given({ from, to, step: step === undefined ? undefined : whole('--step', step) })
    const measured = await call.berth.vms.metrics(await call.id('vm', vm), query)
    return {
      ...rows(pointsOf(measured), COLUMNS, 'Nothing was measured in that time', ({ at }: Partial<Point>) => at ?? ''),
      data: measured,
    }
  },
})

const pointsOf = ({ timestamps, series }: VmMetrics) =>
  timestamps.map((at, i) => ({
    at,
    cpu: series.cpuPercent[i] ?? null,
    ram: series.ramUsed[i] ?? null,
    read: series.diskReadBytesPerSecond[i] ?? null,
    written: series.diskWriteBytesPerSecond[i] ?? null,
    received: series.networkInBytesPerSecond[i] ?? null,
    sent: series.networkOutBytesPerSecond[i] ?? null,
  }))

type Point = ReturnType<typeof pointsOf>[number]

const rate = (value: number | null): string | null => (value === null ? null : `${bytes(Math.round(value))}/s`)

const COLUMNS = {
  TIME: ({ at }: Point) => time(at),
  CPU: ({ cpu }: Point) => (cpu === null ? null : `${cpu.toFixed(1)} %`),
  RAM: ({ ram }: Point) => (ram === null ? null : `${Math.round(ram)} MiB`),
  'DISK READ': ({ read }: Point) => rate(read),
  'DISK WRITE': ({ written }: Point) => rate(written),
  'NET IN': ({ received }: Point) => rate(received),
  'NET OUT': ({ sent }: Point) => rate(sent),
}
