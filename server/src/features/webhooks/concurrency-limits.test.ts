import { describe, expect, test } from 'vitest'
import type { Claim, Lane } from './delivery-queue.sql.ts'
import { allocateSlots } from './concurrency-limits.ts'

const lane = (webhook: string, options: Partial<Lane> = {}): Lane => ({
  webhook_id: webhook,
  account_id: `account of ${webhook}`,
  is_active: true,
  failing: false,
  ...options,
})
const lanes = (count: number, options: Partial<Lane> = {}): Lane[] => Array.from({ length: count }, (_, i) => lane(`w${i}`, options))
const inFlight = (from: Lane, count: number): Claim[] => Array.from({ length: count }, () => from as unknown as Claim)
const [never, always] = [() => false, () => true]
const sum = (shares: { count: number }[]): number => shares.reduce((total, { count }) => total + count, 0)

describe('shareOut', () => {
  test('gives a receiver eight slots, and two while it fails', () => {
    expect(allocateSlots([lane('a'), lane('b', { failing: true })], [], never)).toEqual([
      { webhookId: 'a', count: 8 },
      { webhookId: 'b', count: 2 },
    ])
  })

  test('subtracts attempts in flight', () => {
    expect(allocateSlots([lane('a')], inFlight(lane('a'), 5), never)).toEqual([{ webhookId: 'a', count: 3 }])
    expect(allocateSlots([lane('a')], inFlight(lane('a'), 8), never)).toEqual([])
  })

  test('shares scarce slots evenly', () => {
    const shares = allocateSlots(lanes(100), [], never)
    expect(sum(shares)).toBe(512)
    expect(shares).toHaveLength(100)
    expect(new Set(shares.map(({ count }) => count))).toEqual(new Set([5, 6]))
  })

  test('caps one account to leave slots for others', () => {
    expect(sum(allocateSlots(lanes(50, { account_id: 'greedy' }), [], never))).toBe(32)
  })

  test('caps failing receivers to leave slots for healthy ones', () => {
    const failing = lanes(500, { failing: true })
    expect(sum(allocateSlots(failing, [], never))).toBe(192)
    expect(allocateSlots([...failing, lane('works')], [], never)).toContainEqual({ webhookId: 'works', count: 8 })
  })

  test('slow receivers do not reduce the slots of their account', () => {
    const [hanging, working] = [lanes(4, { account_id: 'one' }), Array.from({ length: 9 }, (_, i) => lane(`x${i}`, { account_id: 'one' }))]
    const held = hanging.flatMap((each) => inFlight(each, 6))
    expect(sum(allocateSlots([...hanging, ...working], held, never))).toBe(8)
    const shares = allocateSlots([...hanging, ...working], held, always)
    expect(sum(shares)).toBe(32)
    expect(shares.map(({ webhookId }) => webhookId)).toEqual(working.map(({ webhook_id: id }) => id))
  })

  test('gives slow receivers more only within the slots for failing and slow ones', () => {
    const [few, many] = [inFlight(lane('w0', { account_id: 'one' }), 3), inFlight(lane('w1', { account_id: 'one' }), 24)]
    expect(allocateSlots([lane('w0', { account_id: 'one' })], few, always)).toEqual([{ webhookId: 'w0', count: 5 }])
    expect(allocateSlots([lane('w0', { account_id: 'one' })], [...few, ...many], always)).toEqual([])
  })

  test('caps an account whose receivers become slow one after the other', () => {
    const held: Claim[] = []
    for (let wave = 0; wave < 5; wave++) {
      const next = Array.from({ length: 4 }, (_, i) => lane(`${wave}-${i}`, { account_id: 'greedy' }))
      for (const { webhookId, count } of allocateSlots(next, held, always))
        held.push(...inFlight(lane(webhookId, { account_id: 'greedy' }), count))
    }
    expect(held).toHaveLength(56)
  })
})
