import { afterAll, expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { openDb } from './db.ts'
import { createTestClock, advanceClock, readClock } from './test-clock.ts'

const DAY_MS = 86_400_000

test('time is moved ahead, and stays as it is when asked for one that has just passed', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 1, onError: () => {} })
  afterAll(() => db.close())
  await createTestClock(db, true)
  const tomorrow = new Date((await readClock(db, true)).getTime() + DAY_MS)
  await advanceClock(db, tomorrow)
  const moved = await readClock(db, true)
  expect(moved >= tomorrow).toBe(true)
  await advanceClock(db, new Date(moved.getTime() - 1))
  expect((await readClock(db, true)) >= moved).toBe(true)
})
