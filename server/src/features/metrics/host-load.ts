// What the VMs of a host use of it, from their minutes: the sum over all of them.
import type { Queries } from '../../kernel/database/db.ts'
import { pointsFrom } from './points.ts'
import * as sql from './sql.ts'

interface HostLoad {
  at: Date
  /** Of its CPUs, as many as are busy. */
  cpus: number
  ramUsedMiB: number
  diskBytesPerSecond: number
  networkInBytesPerSecond: number
  networkOutBytesPerSecond: number
  vms: number
}

const POINT = 7
const STEP_MS = 300_000

/** Averages of five minutes; steps of which nothing is known are missing. A VM counts with the vCPU that it has now. */
export async function readHostLoad(db: Queries, hostId: string, from: Date, to: Date): Promise<HostLoad[]> {
  const [minutes, slots] = await Promise.all([sql.minutesOfHost(db, hostId, from, to), sql.sizesOfSlots(db, hostId, from)])
  const steps = Map.groupBy(minutes, ({ at }) => at.getTime() - (at.getTime() % STEP_MS))
  return [...steps].map(([time, rows]) => averageOf(new Date(time), rows, slots))
}

function averageOf(at: Date, rows: { at: Date; points: Buffer }[], slots: SlotSize[]): HostLoad {
  const sums = { cpus: 0, ramUsedMiB: 0, diskBytesPerSecond: 0, networkInBytesPerSecond: 0, networkOutBytesPerSecond: 0, vms: 0 }
  for (const row of rows) {
    const points = pointsFrom(row.points)
    for (const { slot, vcpu, since, left_at } of slots) {
      if (row.at < since || (left_at !== null && row.at >= left_at) || (slot + 1) * POINT > points.length) continue
      const [cpuPercent, read, written, received, sent, used, total] = points.subarray(slot * POINT, (slot + 1) * POINT)
      if (!known(cpuPercent) && !known(total)) continue
      sums.vms++
      sums.cpus += (or0(cpuPercent) * (vcpu ?? 1)) / 100
      sums.ramUsedMiB += known(used) ? used : or0(total)
      sums.diskBytesPerSecond += or0(read) + or0(written)
      sums.networkInBytesPerSecond += or0(received)
      sums.networkOutBytesPerSecond += or0(sent)
    }
  }
  const averages = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / rows.length])) as typeof sums
  return { at, ...averages, vms: Math.round(averages.vms) }
}

type SlotSize = Awaited<ReturnType<typeof sql.sizesOfSlots>>[number]

const known = (value: number | undefined): value is number => value !== undefined && !Number.isNaN(value)
const or0 = (value: number | undefined): number => (known(value) ? value : 0)
