import type { Queries } from '../../kernel/database/db.ts'
import type { Deps } from '../deps.ts'
import { requireVm } from '../vms/service.ts'
import { merge, minuteFrom, pointsFrom, summarise, type Summary } from './points.ts'
import type { RecentVmMetrics, VmMetrics } from './schema.ts'
import * as sql from './sql.ts'
import { RECENT_POINTS, toMetrics, toRecent } from './view.ts'
import { QUARTER, readWindow, type WindowQuery } from './time-range.ts'

export async function getMetrics(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  accountId: string,
  vmId: string,
  query: WindowQuery,
): Promise<VmMetrics> {
  const window = readWindow(query, clock.now())
  const vm = await requireVm(db, accountId, vmId)
  const [rows, minutes] = await Promise.all([sql.readSummaries(db, vm.id, window), sql.readMinutes(db, vm.id, window)])
  const steps = new Map<number, Summary>(rows.map(({ at, ...summary }) => [at.getTime(), summary]))
  const stepMs = window.step * 1000
  const stepOf = (at: Date): number => at.getTime() - ((at.getTime() - window.from.getTime()) % stepMs)
  for (const [time, each] of Map.groupBy(minutes, ({ at }) => stepOf(at))) {
    const summary = summarise(each.map(minuteFrom), 0)
    const other = steps.get(time)
    if (summary) steps.set(time, other ? merge(other, summary) : summary)
  }
  return toMetrics(window, steps)
}

export { readHostLoad } from './host-load.ts'

/** For a list of VMs: few points of each, by one statement. */
export async function getRecentMetrics(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  accountId: string,
  ids: string,
): Promise<RecentVmMetrics> {
  const vmIds = [...new Set(ids.split(','))]
  const stepMs = QUARTER * 1000
  const to = new Date(Math.ceil((clock.now().getTime() + 1) / stepMs) * stepMs)
  const from = new Date(to.getTime() - RECENT_POINTS * stepMs)
  const rows = await sql.readRecent(db, accountId, vmIds, from, to)
  return toRecent({ from, to, step: QUARTER }, vmIds, rows.map(withoutPoint))
}

function withoutPoint({ point, ...row }: sql.RecentRow) {
  if (!point) return row
  const { cpuPercent, networkIn, networkOut } = toMinute({ at: row.at!, point })
  const isKnown = cpuPercent >= 0
  return { ...row, samples: isKnown ? 1 : 0, cpu: isKnown ? cpuPercent : null, network: isKnown ? networkIn + networkOut : null }
}

/** NaN: unknown. */
export interface MinuteOfVm {
  at: Date
  cpuPercent: number
  ramUsed: number
  ramTotal: number
  diskRead: number
  diskWrite: number
  networkIn: number
  networkOut: number
}

/** The minutes of these VMs that there are, by VM. */
export async function readMinutesOf(db: Queries, vmIds: string[], from: Date, to: Date): Promise<Map<string, MinuteOfVm[]>> {
  const rows = vmIds.length === 0 ? [] : await sql.readMinutesOf(db, vmIds, from, to)
  const groups = Map.groupBy(rows, ({ vm_id }) => vm_id)
  return new Map([...groups].map(([vmId, minutes]) => [vmId, minutes.map(toMinute)]))
}

function toMinute({ at, point }: { at: Date; point: Buffer }): MinuteOfVm {
  const [cpuPercent, diskRead, diskWrite, networkIn, networkOut, ramUsed, ramTotal] = pointsFrom(point) as unknown as number[]
  return {
    at,
    cpuPercent: cpuPercent!,
    ramUsed: ramUsed!,
    ramTotal: ramTotal!,
    diskRead: diskRead!,
    diskWrite: diskWrite!,
    networkIn: networkIn!,
    networkOut: networkOut!,
  }
}
