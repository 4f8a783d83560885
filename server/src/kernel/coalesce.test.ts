import { expect, test } from 'vitest'
import { coalesce } from './coalesce.ts'

/** Doubles numbers, batch by batch as the test allows it. */
function doubler(atATime: number, most = 100) {
  const batches: { numbers: number[]; end: (error?: Error) => void }[] = []
  const double = coalesce(
    (numbers: number[]) =>
      new Promise<number[]>((resolve, reject) =>
        batches.push({ numbers, end: (error) => (error ? reject(error) : resolve(numbers.map((each) => 2 * each))) }),
      ),
    { atATime, most },
  )
  return { double, batches }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('asks what arrives meanwhile together, and gives each its own answer', async () => {
  const { double, batches } = doubler(1)
  const first = double(1)
  await turn()
  const others = [2, 3, 4].map(double)
  await turn()
  expect(batches.map(({ numbers }) => numbers)).toEqual([[1]])
  batches[0]!.end()
  expect(await first).toBe(2)
  await turn()
  expect(batches.map(({ numbers }) => numbers)).toEqual([[1], [2, 3, 4]])
  batches[1]!.end()
  expect(await Promise.all(others)).toEqual([4, 6, 8])
})

test('what is asked at once is one batch, of at most so many', async () => {
  const { double, batches } = doubler(2, 3)
  const all = [1, 2, 3, 4, 5].map(double)
  await turn()
  expect(batches.map(({ numbers }) => numbers)).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
  batches.forEach(({ end }) => end())
  expect(await Promise.all(all)).toEqual([2, 4, 6, 8, 10])
})

test('a failure is that of its batch only', async () => {
  const { double, batches } = doubler(1)
  const failing = double(1)
  await turn()
  const next = double(2)
  batches[0]!.end(new Error('away'))
  await expect(failing).rejects.toThrow('away')
  await turn()
  batches[1]!.end()
  expect(await next).toBe(4)
})
