import { describe, expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { nextBackupTime } from './schedule.ts'

describe('the nightly backup time', () => {
  const ids = Array.from({ length: 1000 }, newId)
  const noon = new Date('2026-03-10T12:00:00Z')

  test('is between 22:00 and 06:00 UTC within the next day', () => {
    for (const id of ids) {
      const at = nextBackupTime(id, noon)
      expect(at.getTime()).toBeGreaterThan(noon.getTime())
      expect(at >= new Date('2026-03-10T22:00:00Z') && at < new Date('2026-03-11T06:00:00Z')).toBe(true)
    }
  })

  test('is within the hour of the policy', () => {
    for (const id of ids.slice(0, 100)) {
      const at = nextBackupTime(id, noon, 13)
      expect(at >= new Date('2026-03-10T13:00:00Z') && at < new Date('2026-03-10T14:00:00Z')).toBe(true)
      expect(nextBackupTime(id, at, 13).getTime() - at.getTime()).toBe(86_400_000)
    }
  })

  test('is spread over the night across VMs', () => {
    const hours = Map.groupBy(ids, (id) => nextBackupTime(id, noon).getUTCHours())
    expect([...hours.keys()].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 22, 23])
    for (const [, some] of hours) expect(some.length).toBeGreaterThan(60)
  })

  test('is the same every night for one VM', () => {
    for (const id of ids.slice(0, 20)) {
      const first = nextBackupTime(id, noon)
      expect(nextBackupTime(id, first).getTime() - first.getTime()).toBe(86_400_000)
      expect(nextBackupTime(id, new Date(first.getTime() - 1))).toEqual(first)
    }
  })
})
