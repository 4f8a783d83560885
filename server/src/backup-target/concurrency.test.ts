import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { forEachConcurrently, mapOrdered } from './concurrency.ts'

test('items are worked on a few at a time, and one that takes longer holds up no other', async () => {
  let running = 0
  let most = 0
  const ended: number[] = []
  await forEachConcurrently([50, 1, 1, 1, 1, 1], 2, async (ms) => {
    most = Math.max(most, ++running)
    await sleep(ms)
    running--
    ended.push(ms)
  })
  expect(most).toBe(2)
  expect(ended).toEqual([1, 1, 1, 1, 1, 50])
})

test('after a failure no further item is begun, those under way end, and the items are closed', async () => {
  const begun: number[] = []
  const ended: number[] = []
  let isClosed = false
  async function* items(): AsyncGenerator<number> {
    try {
      for (let i = 0; ; i++) yield i
    } finally {
      isClosed = true
    }
  }
  const work = async (item: number): Promise<void> => {
    begun.push(item)
    await sleep(item === 1 ? 1 : 20)
    if (item === 1) throw new Error('no')
    ended.push(item)
  }
  await expect(forEachConcurrently(items(), 3, work)).rejects.toThrow('no')
  expect({ begun, ended, isClosed }).toEqual({ begun: [0, 1, 2], ended: [0, 2], isClosed: true })
})

test('mapped items keep their order', async () => {
  const results = await Array.fromAsync(mapOrdered([20, 1, 10], 3, async (ms) => (await sleep(ms), ms)))
  expect(results).toEqual([20, 1, 10])
})
