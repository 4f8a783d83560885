import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatch } from '../src/live/batch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('what becomes stale soon after another is in one batch', async () => {
  const batches: string[][] = []
  const batch = createBatch(async (keys) => batches.push(keys))
  for (const key of ['vms', 'vm', 'vms']) batch.add(key)
  await vi.advanceTimersByTimeAsync(300)
  expect(batches).toEqual([['vms', 'vm']])
  batch.stop()
})

test('a batch that takes long is followed by a rest, and what became stale meanwhile by another batch', async () => {
  const batches: string[][] = []
  const batch = createBatch(
    (keys) => {
      batches.push(keys)
      return new Promise((resolve) => setTimeout(resolve, 200))
    },
    () => Date.now(),
  )
  batch.add('vms')
  await vi.advanceTimersByTimeAsync(300)
  batch.add('vm')
  await vi.advanceTimersByTimeAsync(600)
  expect(batches).toEqual([['vms']])
  await vi.advanceTimersByTimeAsync(300)
  expect(batches).toEqual([['vms'], ['vm']])
  batch.stop()
})

test('a request without an answer holds nothing up for more than two seconds', async () => {
  const batches: string[][] = []
  const batch = createBatch((keys) => {
    batches.push(keys)
    return new Promise(() => {})
  })
  batch.add('vms')
  await vi.advanceTimersByTimeAsync(300)
  batch.add('vm')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(batches).toEqual([['vms'], ['vm']])
  batch.stop()
})
