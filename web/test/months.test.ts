import { expect, test } from 'vitest'
import { isMonth, monthOf, shiftMonth } from '../src/screens/operator/months.ts'

test('months follow each other over the turn of the year', () => {
  expect([shiftMonth('2027-01', -1), shiftMonth('2026-12', 1), shiftMonth('2027-03', 0)]).toEqual(['2026-12', '2027-01', '2027-03'])
  expect(monthOf(Date.parse('2027-01-31T23:59:59.999Z'))).toBe('2027-01')
  expect(['2027-01', '2027-13', '27-01', undefined].map((each) => isMonth(each))).toEqual([true, false, false, false])
})
