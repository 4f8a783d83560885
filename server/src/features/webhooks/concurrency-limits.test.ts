import { describe, expect, test } from 'vitest'
import type { Claim, Lane } from './delivery-queue.sql.ts'
import { allocateSlots, createPacer } from './concurrency-limits.ts'

const lane = (webhook: string, options: Partial<Lane> = {}): Lane => ({
  webhook_id: webhook,
  payer_id: `account of ${webhook}`,
  is_active: true,
  failing: false,
  url: 'http://127.0.0.1/hook',
  ...options,
})
const lanes = (count: number, options: Partial<Lane> = {}): Lane[] => Array.from({ length: count }, (_, i) => lane(`w${i}`, options))
const inFlight = (from: Lane, count: number): Claim[] => Array.from({ length: count }, () => from as unknown as Claim)
const [never, always] = [() => false, () => true]
const unpaced = () => Infinity
const sum = (shares: { count: number }[]): number => shares.reduce((total, { count }) => total + count, 0)

describe('shareOut', () => {
  test('gives a receiver eight slots, and two while it fails', () => {
    expect(allocateSlots([lane('a'), lane('b', { failing: true })], [], never, unpaced)).toEqual([
      { webhookId: 'a', count: 8 },
      { webhookId: 'b', count: 2 },
    ])
  })

  test('subtracts attempts in flight', () => {
    expect(allocateSlots([lane('a')], inFlight(lane('a'), 5), never, unpaced)).toEqual([{ webhookId: 'a', count: 3 }])
    expect(allocateSlots([lane('a')], inFlight(lane('a'), 8), never, unpaced)).toEqual([])
  })

  test('shares scarce slots evenly', () => {
    const shares = allocateSlots(lanes(100), [], never, unpaced)
    expect(sum(shares)).toBe(512)
    expect(shares).toHaveLength(100)
    expect(new Set(shares.map(({ count }) => count))).toEqual(new Set([5, 6]))
  })

  test('caps one account to leave slots for others', () => {
    expect(sum(allocateSlots(lanes(50, { payer_id: 'greedy' }), [], never, unpaced))).toBe(32)
  })

  test('caps failing receivers to leave slots for healthy ones', () => {
    const failing = lanes(500, { failing: true })
    expect(sum(allocateSlots(failing, [], never, unpaced))).toBe(192)
    expect(allocateSlots([...failing, lane('works')], [], never, unpaced)).toContainEqual({ webhookId: 'works', count: 8 })
  })

  test('slow receivers do not reduce the slots of their account', () => {
    const [hanging, working] = [lanes(4, { payer_id: 'one' }), Array.from({ length: 9 }, (_, i) => lane(`x${i}`, { payer_id: 'one' }))]
    const held = hanging.flatMap((each) => inFlight(each, 6))
    expect(sum(allocateSlots([...hanging, ...working], held, never, unpaced))).toBe(8)
    const shares = allocateSlots([...hanging, ...working], held, always, unpaced)
    expect(sum(shares)).toBe(32)
    expect(shares.map(({ webhookId }) => webhookId)).toEqual(working.map(({ webhook_id: id }) => id))
  })

  test('gives slow receivers more only within the slots for failing and slow ones', () => {
    const [few, many] = [inFlight(lane('w0', { payer_id: 'one' }), 3), inFlight(lane('w1', { payer_id: 'one' }), 24)]
    expect(allocateSlots([lane('w0', { payer_id: 'one' })], few, always, unpaced)).toEqual([{ webhookId: 'w0', count: 5 }])
    expect(allocateSlots([lane('w0', { payer_id: 'one' })], [...few, ...many], always, unpaced)).toEqual([])
  })

  test('caps an account whose receivers become slow one after the other', () => {
    const held: Claim[] = []
    for (let wave = 0; wave < 5; wave++) {
      const next = Array.from({ length: 4 }, (_, i) => lane(`${wave}-${i}`, { payer_id: 'greedy' }))
      for (const { webhookId, count } of allocateSlots(next, held, always, unpaced))
        held.push(...inFlight(lane(webhookId, { payer_id: 'greedy' }), count))
    }
    expect(held).toHaveLength(56)
  })
  test('caps what an account sends to one host, whatever the port, path and spelling', () => {
    const spelled = ['https://victim.example/a', 'https://VICTIM.example./b', 'https://victim.example:8443/c']
    const hooks = Array.from({ length: 20 }, (_, i) => lane(`w${i}`, { payer_id: 'one', url: spelled[i % 3]! }))
    expect(sum(allocateSlots(hooks, [], never, unpaced))).toBe(16)
    expect(allocateSlots(hooks, inFlight(hooks[0]!, 16), always, unpaced)).toEqual([])
    const elsewhere = lane('x', { payer_id: 'one', url: 'https://own.example/' })
    const foreign = lane('y', { url: 'https://victim.example/' })
    expect(allocateSlots([elsewhere, foreign], inFlight(hooks[0]!, 16), never, unpaced)).toEqual([
      { webhookId: 'x', count: 8 },
      { webhookId: 'y', count: 8 },
    ])
  })

  test('sends no more than the pace of account and host has left', () => {
    const hooks = Array.from({ length: 20 }, (_, i) => lane(`w${i}`, { payer_id: 'one', url: 'https://victim.example/' }))
    expect(sum(allocateSlots(hooks, inFlight(hooks[0]!, 2), never, () => 5))).toBe(5)
    expect(allocateSlots(hooks, [], never, () => 0)).toEqual([])
    expect(sum(allocateSlots(lanes(1), [], never, () => 0))).toBe(8) // a private address, which only development allows
  })
})

test('the pace allows 60 at once and 10 a second', () => {
  let now = 0
  const pacer = createPacer(() => now)
  for (let n = 0; n < 60; n++) pacer.spend('one')
  expect([pacer.left('one'), pacer.left('two')]).toEqual([0, 60])
  now = 1_000
  expect(pacer.left('one')).toBe(10)
  now = 3_600_000
  expect(pacer.left('one')).toBe(60)
})
