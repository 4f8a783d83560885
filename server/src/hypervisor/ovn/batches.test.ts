import { expect, test } from 'vitest'
import { inBatches } from './batches.ts'

interface Change {
  what: string
  /** Operations that it is planned to. */
  size: () => number
  signal: AbortSignal
}

/** Transactions that end when the test lets them, what was written by each, and how often a change was planned. */
function given() {
  const written: string[][] = []
  const ends: (() => void)[] = []
  let plans = 0
  const write = inBatches<Change>(
    async (asked) => {
      plans += asked.length
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.push(resolve)
      written.push(asked.map(({ what }) => what))
      await promise
      return written.length
    },
    ({ size }) => {
      plans++
      return size()
    },
  )
  const ask = (what: string, size: number | (() => number), signal = new AbortController().signal) =>
    write({ what, size: typeof size === 'number' ? () => size : size, signal })
  /** The next transaction has begun: everything asked for from now on waits for its end. */
  const begun = async (count: number) => {
    await expect.poll(() => written.length, { interval: 1 }).toBe(count)
  }
  const endAll = async (all: Promise<unknown>[]) => {
    let isOver = false
    const over = Promise.all(all).finally(() => (isOver = true))
    const endBegun = (): boolean => {
      for (const end of ends.splice(0)) end()
      return isOver
    }
    await expect.poll(endBegun, { interval: 1 }).toBe(true)
    return over
  }
  return { ask, begun, endAll, end: () => ends.shift()!(), written, plans: () => plans }
}

test.each([
  ['small', 2_000, 5],
  ['large', 100, 500],
  ['two of each', 1_000, 20],
])('a change is planned a few times, however many wait: %s', async (kind, count, size) => {
  const { ask, begun, endAll, plans, written } = given()
  const first = ask('first', 1)
  await begun(1)
  const others = Array.from({ length: count }, (_, i) => ask(`change ${kind === 'two of each' ? i % (count / 2) : i}`, size))
  await endAll([first, ...others])
  expect(written.flat()).toHaveLength(count + 1)
  // To know whether it is small, for its transaction, whether another of the same may follow in that, and when it is written.
  expect(plans()).toBeLessThanOrEqual(4 * count + written.length)
})

test('small changes and large ones take turns, and what shares a transaction is in the order of the requests', async () => {
  const { ask, begun, endAll, written } = given()
  const first = ask('first', 1)
  await begun(1)
  const sizes = { a: 600, b: 50, c: 600, d: 0, e: 100 }
  await endAll([first, ...Object.entries(sizes).map(([what, size]) => ask(what, size))])
  expect(written).toEqual([['first'], ['b', 'd', 'e'], ['a'], ['c']])
})

test('changes of the same are written in the order of the requests, one of them in a transaction', async () => {
  const { ask, begun, end, endAll, written } = given()
  const all = [ask('first', 1)]
  await begun(1)
  all.push(ask('small', 1), ask('large', 500))
  end()
  await begun(2)
  // Nothing differs when the first of them is planned, so it is a small one.
  all.push(ask('same', 0), ask('same', 400), ask('same', 1))
  await endAll(all)
  expect(written).toEqual([['first'], ['small'], ['large'], ['same'], ['same'], ['same']])
})

test('one that has become large while it waited is not written among small ones', async () => {
  const { ask, begun, end, endAll, written } = given()
  let size = 1
  const all = [ask('first', 1)]
  await begun(1)
  for (let i = 0; i < 10; i++) all.push(ask(`full ${i}`, 100))
  all.push(
    ask('changed', () => size),
    ask('other', 1),
  )
  end()
  await begun(2)
  expect(written[1]).toHaveLength(10)
  size = 500
  await endAll(all)
  expect(written.slice(2)).toEqual([['other'], ['changed']])
})

test('what is given up is not written, and nobody waits for it', async () => {
  const { ask, begun, endAll, written } = given()
  const first = ask('first', 1)
  await begun(1)
  const { signal, abort } = (() => {
    const controller = new AbortController()
    return { signal: controller.signal, abort: () => controller.abort(new Error('given up')) }
  })()
  const [givenUp, same] = [ask('same', 400, signal), ask('same', 1)]
  abort()
  await expect(givenUp).rejects.toThrow('given up')
  await endAll([first, same])
  expect(written).toEqual([['first'], ['same']])
})
