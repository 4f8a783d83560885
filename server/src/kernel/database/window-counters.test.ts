import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { manualClock } from '../clock.ts'
import type { Sql } from './db.ts'
import { memoryCounters, postgresCounters } from './window-counters.ts'

const WINDOW_MS = 60_000

test('counters in memory stay bounded when every request has another key: the oldest are forgotten, long windows last', async () => {
  const counters = memoryCounters(manualClock())
  await counters.add('tries:ada', 50, 15 * WINDOW_MS)
  for (let i = 1; i <= 200_000; i++) await counters.add(`ip:${i}`, 1, WINDOW_MS)
  const countOf = async (key: string): Promise<number> => (await counters.add(key, 0, WINDOW_MS)).count
  expect(await Promise.all(['ip:1', 'ip:90000', 'ip:200000', 'tries:ada'].map(countOf))).toEqual([0, 0, 1, 50])
})

describe('counters in PostgreSQL', async () => {
  const app = await testApp()
  const statements: string[] = []
  const db = Object.assign(Object.create(app.db) as typeof app.db, {
    many: (statement: Sql) => (statements.push(statement.text), app.db.many(statement)),
  })

  test('that are added to at once cost few statements, and each addition knows its own count', async () => {
    const counters = postgresCounters(db, app.clock)
    const adding = Array.from({ length: 1_000 }, (_, i) => counters.add(i % 2 === 0 ? 'even' : `odd ${i}`, 1, WINDOW_MS))
    const counts = (await Promise.all(adding)).map(({ count }) => count)
    expect(counts.filter((_, i) => i % 2 === 0)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1))
    expect(counts.filter((_, i) => i % 2 === 1)).toEqual(Array.from({ length: 500 }, () => 1))
    expect(statements.length).toBeLessThanOrEqual(4)
  })

  test('begin again when their window has ended', async () => {
    const counters = postgresCounters(db, app.clock)
    expect(await Promise.all([counters.add('a', 2, WINDOW_MS), counters.add('a', 3, WINDOW_MS)])).toMatchObject([
      { count: 2 },
      { count: 5 },
    ])
    app.clock.advance('61s')
    expect(await Promise.all([counters.add('a', 1, WINDOW_MS), counters.add('a', -1, WINDOW_MS)])).toEqual([
      { count: 1, resetMs: WINDOW_MS },
      { count: 0, resetMs: WINDOW_MS },
    ])
  })

  test('of several processes are added to in any order without a deadlock', async () => {
    const processes = [postgresCounters(db, app.clock), postgresCounters(db, app.clock)]
    const keys = Array.from({ length: 200 }, (_, i) => `shared ${i}`)
    await Promise.all(
      processes.map((counters, n) => Promise.all((n === 0 ? keys : keys.toReversed()).map((key) => counters.add(key, 1, WINDOW_MS)))),
    )
    expect(await Promise.all(keys.map((key) => processes[0]!.add(key, 0, WINDOW_MS)))).toEqual(
      keys.map(() => expect.objectContaining({ count: 2 })),
    )
  })
})
