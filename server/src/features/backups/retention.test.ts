import { describe, expect, test } from 'vitest'
import { chooseKept } from './retention.ts'

/** One a day, named by its date, newest first. */
const daily = (last: string, days: number) =>
  Array.from({ length: days }, (_, i) => {
    const completed_at = new Date(Date.parse(`${last}T03:00:00Z`) - i * 86_400_000)
    return { id: completed_at.toISOString().slice(0, 10), completed_at }
  })
const keptOf = (...args: Parameters<typeof chooseKept>) => [...chooseKept(...args).keys()].toSorted().toReversed()

describe('of daily backups', () => {
  test('the newest are kept, as long as so many days', () => {
    const kept = chooseKept(daily('2026-03-10', 20), { keepDaily: 3, keepWeekly: 0, keepMonthly: 0 })
    expect([...kept.keys()]).toEqual(['2026-03-10', '2026-03-09', '2026-03-08'])
    expect(kept.get('2026-03-10')).toEqual(new Date('2026-03-13T03:00:00Z'))
  })

  test('the newest of each week, from Monday to Sunday, and of each month', () => {
    const policy = { keepDaily: 2, keepWeekly: 3, keepMonthly: 3 }
    // 2026-03-10 is a Tuesday.
    expect(keptOf(daily('2026-03-10', 100), policy)).toEqual([
      '2026-03-10',
      '2026-03-09',
      '2026-03-08',
      '2026-03-01',
      '2026-02-28',
      '2026-01-31',
    ])
  })

  test('weeks and months without one are skipped', () => {
    const backups = [...daily('2026-03-10', 1), ...daily('2025-11-02', 3)]
    expect(keptOf(backups, { keepDaily: 1, keepWeekly: 2, keepMonthly: 2 })).toEqual(['2026-03-10', '2025-11-02'])
    expect(keptOf([], { keepDaily: 7, keepWeekly: 4, keepMonthly: 12 })).toEqual([])
  })

  test('one that counts twice is kept for the longer time', () => {
    const kept = chooseKept(daily('2026-03-08', 1), { keepDaily: 7, keepWeekly: 4, keepMonthly: 0 })
    expect(kept.get('2026-03-08')).toEqual(new Date('2026-04-05T03:00:00Z'))
  })

  test('day by day the policy converges: what a week has left is its Sunday', () => {
    const policy = { keepDaily: 2, keepWeekly: 3, keepMonthly: 0 }
    let stored: ReturnType<typeof daily> = []
    for (const backup of daily('2026-03-10', 60).toReversed()) {
      const all = [backup, ...stored]
      const kept = chooseKept(all, policy)
      stored = all.filter(({ id }) => kept.has(id))
    }
    expect(stored.map(({ id }) => id)).toEqual(['2026-03-10', '2026-03-09', '2026-03-08', '2026-03-01'])
  })
})
