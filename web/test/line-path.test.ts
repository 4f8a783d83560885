import { expect, test } from 'vitest'
import { highest, linePath } from '../src/screens/operator/line-path.ts'
import { momentOf, partsOf } from '../src/screens/operator/moment.ts'

const window = { from: 0, to: 100 * 60_000, most: 10 }

test('a line reaches from the oldest to the newest point, and no higher than its ceiling', () => {
  const points = [
    { at: 0, value: 0 },
    { at: 5 * 60_000, value: 5 },
    { at: 10 * 60_000, value: 20 },
  ]
  expect(linePath(points, window).line).toBe('M0 100L5 50L10 0')
  expect(linePath(points, window).area).toBe('M0 100L5 50L10 0L10 100L0 100Z')
  expect(highest(points)).toBe(20)
})

test('a line breaks where nothing was measured', () => {
  const points = [
    { at: 0, value: 10 },
    { at: 60 * 60_000, value: 10 },
  ]
  expect(linePath(points, window).line).toBe('M0 0M60 0')
  expect(linePath([], window)).toEqual({ line: '', area: '' })
})

test('a moment is shown in the fields that it was read from', () => {
  const at = momentOf('2027-03-01', '14:05:09')!
  expect(partsOf(at)).toEqual({ day: '2027-03-01', time: '14:05:09' })
  expect(momentOf('2027-03-01', '')).toBe(new Date('2027-03-01T00:00:00').toISOString())
  expect([momentOf('', '14:00'), momentOf('2027-13-01', ''), partsOf('spam'), partsOf(undefined)]).toEqual([
    undefined,
    undefined,
    { day: '', time: '' },
    { day: '', time: '' },
  ])
})
