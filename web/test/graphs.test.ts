// What graphs are drawn from.
import { describe, expect, test } from 'vitest'
import { beginOf, canCompare, rangeText, readRange, shifted, toRows, topOf, zoomed } from '../src/screens/vm/graphs/series.ts'

const times = Array.from({ length: 60 }, (_, index) => index * 60)

describe('a graph', () => {
  test('begins where there are values, unless almost all of it has some', () => {
    const from = (index: number) => times.map((_, each) => (each < index ? null : 1))
    expect(beginOf(times, [from(36), from(34)])).toBe(34)
    expect(beginOf(times, [from(3)])).toBe(0)
    expect(beginOf(times, [from(59)])).toBe(45)
    expect(beginOf(times, [from(99)])).toBe(0)
    expect(beginOf(times.slice(0, 10), [from(8)])).toBe(0)
  })

  test('reaches up to its limit where that is near or wanted', () => {
    expect(topOf(50, 100, false)).toBeCloseTo(104)
    expect(topOf(1, 100, false)).toBeCloseTo(1.12)
    expect(topOf(1, 100, true)).toBeCloseTo(104)
    expect(topOf(120, 100, true)).toBeCloseTo(134.4)
    expect(topOf(0, null, false)).toBeGreaterThan(0)
  })

  test('has the values of another time at its own times, also where those have longer steps', () => {
    const other = { times: [-900, -0], values: [5, 7], step: 900 }
    expect(shifted([0, 60, 840, 900], other, 900)).toEqual([5, 5, 5, 7])
    expect(shifted([0, 60], { times: [-900], values: [null], step: 60 }, 900)).toEqual([null, null])
    expect(shifted([0, 60], { times: [-900], values: [3], step: 60 }, 900)).toEqual([3, null])
  })

  test('is a table of averages, the newest first, without empty rows', () => {
    expect(toRows([0, 1, 2, 3, 4, 5], [[1, 3, null, null, 5, null]], 3)).toEqual([
      { time: 4, values: [5] },
      { time: 0, values: [2] },
    ])
  })
})

describe('a range', () => {
  test('is zoomed within itself and to a quarter of an hour at the least', () => {
    expect(zoomed({ from: 0, to: 10_000 }, 9_000, 20_000)).toEqual({ from: 9_000, to: 10_000 })
    expect(zoomed({ from: 0, to: 10_000 }, 5_060, 5_000)).toEqual({ from: 4_580, to: 5_480 })
    expect(zoomed({ from: 0, to: 10_000 }, 20_000, 30_000)).toBeNull()
  })

  test('is in the URL', () => {
    expect(readRange(rangeText({ from: 1_700_000_000, to: 1_700_003_600 }))).toEqual({ from: 1_700_000_000, to: 1_700_003_600 })
    expect([readRange('1h'), readRange(undefined), readRange('1700000001-1700000000')]).toEqual([null, null, null])
  })

  test('is compared while metrics are kept', () => {
    const now = 100 * 86_400
    expect(canCompare({ from: now - 7 * 86_400, to: now }, 'week', now)).toBe(true)
    expect(canCompare({ from: now - 30 * 86_400, to: now }, 'day', now)).toBe(false)
  })
})
