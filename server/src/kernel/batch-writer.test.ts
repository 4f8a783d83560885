import { describe, expect, test } from 'vitest'
import { createBatchWriter } from './batch-writer.ts'

const options = { tries: 3, pauseMs: 1, onError: () => {} }

describe('createBatchWriter', () => {
  test('writes the first item immediately and batches those that arrive meanwhile', async () => {
    const batches: number[][] = []
    const gate = Promise.withResolvers<void>()
    const write = createBatchWriter<number>(async (items) => {
      batches.push(items)
      await gate.promise
    }, options)
    const all = [1, 2, 3].map((item) => write(item))
    expect(batches).toEqual([[1]])
    gate.resolve()
    await Promise.all(all)
    expect(batches).toEqual([[1], [2, 3]])
  })

  test('retries a batch and continues with the next after the last retry', async () => {
    const [tried, errors]: [number[][], unknown[]] = [[], []]
    const write = createBatchWriter<number>(
      async (items) => {
        tried.push(items)
        if (items.includes(1)) throw new Error('planted')
      },
      { ...options, onError: (error) => void errors.push(error) },
    )
    await Promise.all([write(1), write(2)])
    expect(tried).toEqual([[1], [1], [1], [2]])
    expect(errors).toHaveLength(3)
  })
})
