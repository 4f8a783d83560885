import { expect, test } from 'vitest'
import { createFairQueue } from './fair-queue.ts'

const queueOf = (slots: number, maxWaitingPerClient = 100) =>
  createFairQueue({
    slots,
    turns: ['home', 'elsewhere', 'new'],
    maxWaitingPerLane: 5,
    maxWaitingPerClient,
    full: (because) => new Error(`full: ${because}`),
  })

function gated() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, work: () => promise }
}

test('at most so many run at a time', async () => {
  const inTurn = queueOf(2)
  let [running, most] = [0, 0]
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
  }
  await Promise.all(Array.from({ length: 7 }, (_, i) => inTurn('new', `client ${i}`, work)))
  expect(most).toBe(2)
})

test('a lane waits for its turn, not for those who came before in another', async () => {
  const inTurn = queueOf(1)
  const gate = gated()
  const done: string[] = []
  const first = inTurn('elsewhere', 'a', gate.work)
  const flood = Array.from({ length: 5 }, (_, i) => inTurn('elsewhere', 'b', async () => void done.push(`flood ${i}`)))
  const others = [inTurn('new', 'c', async () => void done.push('new')), inTurn('home', 'd', async () => void done.push('home'))]
  gate.open()
  await Promise.all([first, ...flood, ...others])
  expect(done).toEqual(['home', 'flood 0', 'new', 'flood 1', 'flood 2', 'flood 3', 'flood 4'])
})

test('a full lane takes no more, while others do', async () => {
  const inTurn = queueOf(1)
  const gate = gated()
  const taken = Array.from({ length: 6 }, () => inTurn('elsewhere', 'a', gate.work))
  await expect(inTurn('elsewhere', 'b', async () => 'in')).rejects.toThrow('full: lane')
  const other = inTurn('home', 'c', async () => 'in')
  gate.open()
  await Promise.all(taken)
  expect(await other).toBe('in')
  expect(await inTurn('elsewhere', 'b', async () => 'in')).toBe('in')
})

test('one client fills a part of a lane only', async () => {
  const inTurn = queueOf(1, 2)
  const gate = gated()
  const taken = Array.from({ length: 3 }, () => inTurn('elsewhere', 'a', gate.work))
  await expect(inTurn('elsewhere', 'a', async () => 'in')).rejects.toThrow('full: client')
  const other = inTurn('elsewhere', 'b', async () => 'in')
  gate.open()
  await Promise.all(taken)
  expect(await other).toBe('in')
})

test('failed work frees its place', async () => {
  const inTurn = queueOf(1)
  await expect(inTurn('new', 'a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await inTurn('new', 'a', async () => 'in')).toBe('in')
})

test('says beforehand that there is no room', async () => {
  const inTurn = queueOf(1, 2)
  const gate = gated()
  const running = Array.from({ length: 3 }, () => inTurn('new', 'a', gate.work))
  expect(() => inTurn.requireRoom('new', 'a')).toThrow('full: client')
  expect(() => inTurn.requireRoom('new', 'b')).not.toThrow()
  const others = [1, 2, 3].map((i) => inTurn('new', `b${i}`, gate.work))
  expect(() => inTurn.requireRoom('new', 'c')).toThrow('full: lane')
  gate.open()
  await Promise.all([...running, ...others])
  expect(() => inTurn.requireRoom('new', 'c')).not.toThrow()
})
