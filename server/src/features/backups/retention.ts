// Which daily backups of a VM are kept: the newest few, and of each of the latest weeks and months that have one the newest.
import { addDuration } from '../../kernel/clock.ts'
import type { BackupPolicy } from '../vms/schema.ts'

interface DailyBackup {
  id: string
  completed_at: Date
}

const DAY_MS = 86_400_000
/** From the epoch, which was a Thursday, to a Monday. */
const TO_MONDAY = 3

const weekOf = (at: Date): number => Math.floor((Math.floor(at.getTime() / DAY_MS) + TO_MONDAY) / 7)
const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

/** Of backups in order, newest first: those to keep, with the date until which they are, if no more are made. */
export function chooseKept(backups: DailyBackup[], { keepDaily, keepWeekly, keepMonthly }: Omit<BackupPolicy, 'hour'>): Map<string, Date> {
  const kept = new Map<string, Date>()
  const keep = (chosen: DailyBackup[], days: number): void => {
    for (const { id, completed_at } of chosen) {
      const until = addDuration(completed_at, `${days}d`)
      if ((kept.get(id) ?? until) <= until) kept.set(id, until)
    }
  }
  const newestOfEach = (periodOf: (at: Date) => unknown): DailyBackup[] =>
    backups.filter(({ completed_at }, i) => i === 0 || periodOf(backups[i - 1]!.completed_at) !== periodOf(completed_at))
  keep(backups.slice(0, keepDaily), keepDaily)
  keep(newestOfEach(weekOf).slice(0, keepWeekly), 7 * keepWeekly)
  keep(newestOfEach(monthOf).slice(0, keepMonthly), 31 * keepMonthly)
  return kept
}
