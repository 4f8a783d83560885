import { expect, test } from 'vitest'
import { createBandwidthLimit } from './bandwidth.ts'

const { signal } = new AbortController()

function fakeTime() {
  const time = { nowMs: 0, waits: [] as number[] }
  const pause = async (ms: number): Promise<void> => void time.waits.push(ms)
  return { time, limit: (rate: number | null) => createBandwidthLimit(rate, () => time.nowMs, pause) }
}

test('each sender waits for the bytes of those before it', async () => {
  const { time, limit } = fakeTime()
  const send = limit(1_000)
  await send(500, signal)
  await send(500, signal)
  await send(1_000, signal)
  expect(time.waits).toEqual([500, 1_000])
})

test('idle time is not saved up', async () => {
  const { time, limit } = fakeTime()
  const send = limit(1_000)
  await send(1_000, signal)
  time.nowMs = 60_000
  await send(1_000, signal)
  await send(1_000, signal)
  expect(time.waits).toEqual([1_000])
})

test('without a limit nobody waits', async () => {
  const { time, limit } = fakeTime()
  const send = limit(null)
  await send(1e12, signal)
  await send(1e12, signal)
  expect(time.waits).toEqual([])
})

test('an aborted sender stops waiting', async () => {
  const send = createBandwidthLimit(1)
  await send(1_000, signal)
  await expect(send(1, AbortSignal.abort())).rejects.toThrow('aborted')
})
