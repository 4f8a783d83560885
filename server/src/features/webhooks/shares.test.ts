import { describe, expect, test } from 'vitest'
import type { Claim, Lane } from './queue-sql.ts'
import { shareOut } from './shares.ts'

const lane = (webhook: string, options: Partial<Lane> = {}): Lane => ({
  webhook_id: webhook,
  account_id: `account of ${webhook}`,
  is_active: true,
  failing: false,
  ...options,
})
const lanes = (count: number, options: Partial<Lane> = {}): Lane[] => Array.from({ length: count }, (_, i) => lane(`w${i}`, options))
const inFlight = (from: Lane, count: number): Claim[] => Array.from({ length: count }, () => from as unknown as Claim)
const sum = (shares: { count: number }[]): number => shares.reduce((total, { count }) => total + count, 0)

describe('shareOut', () => {
  test('gives one receiver eight, and two while it fails', () => {
    expect(shareOut([lane('a'), lane('b', { failing: true })], [])).toEqual([
      { webhookId: 'a', count: 8 },
      { webhookId: 'b', count: 2 },
    ])
  })

  test('counts what is under way', () => {
    expect(shareOut([lane('a')], inFlight(lane('a'), 5))).toEqual([{ webhookId: 'a', count: 3 }])
    expect(shareOut([lane('a')], inFlight(lane('a'), 8))).toEqual([])
  })

  test('deals out evenly what is scarce', () => {
    const shares = shareOut(lanes(100), [])
    expect(sum(shares)).toBe(256)
    expect(shares).toHaveLength(100)
    expect(new Set(shares.map(({ count }) => count))).toEqual(new Set([2, 3]))
  })

  test('leaves room for others beside one account', () => {
    expect(sum(shareOut(lanes(50, { account_id: 'greedy' }), []))).toBe(24)
  })

  test('leaves room for those that work beside any number of those that fail', () => {
    const failing = lanes(500, { failing: true })
    expect(sum(shareOut(failing, []))).toBe(96)
    expect(shareOut([...failing, lane('works')], [])).toContainEqual({ webhookId: 'works', count: 8 })
  })
})
