import { describe, expect, test } from 'vitest'
import { readWindow } from './time-range.ts'

const NOW = new Date('2026-03-31T12:34:56Z')
const shown = (query: Parameters<typeof readWindow>[0]) => {
  const { from, to, step } = readWindow(query, NOW)
  return [from.toISOString(), to.toISOString(), step, (to.getTime() - from.getTime()) / step / 1000]
}

describe('resolved time range', () => {
  test.each([
    ['the last hour unless told', {}, '2026-03-31T11:34:00.000Z', '2026-03-31T12:35:00.000Z', 60, 61],
    ['a day by minutes', { from: '2026-03-30T12:34:56Z' }, '2026-03-30T12:34:00.000Z', '2026-03-31T12:35:00.000Z', 60, 1441],
    ['a week by quarters of an hour', { from: '2026-03-24T12:34:56Z' }, '2026-03-24T12:30:00.000Z', '2026-03-31T12:45:00.000Z', 900, 673],
    ['thirty days by hours', { from: '2026-03-01T12:34:56Z' }, '2026-03-01T12:00:00.000Z', '2026-03-31T13:00:00.000Z', 3600, 721],
    [
      'an old hour by quarters',
      { from: '2026-03-20T10:00:00Z', to: '2026-03-20T11:00:00Z' },
      '2026-03-20T10:00:00.000Z',
      '2026-03-20T11:00:00.000Z',
      900,
      4,
    ],
    [
      'other zones',
      { from: '2026-03-31T12:00:00+02:00', to: '2026-03-31T12:30:00+02:00' },
      '2026-03-31T10:00:00.000Z',
      '2026-03-31T10:30:00.000Z',
      60,
      30,
    ],
    [
      'what is told',
      { from: '2026-03-31T10:00:00Z', to: '2026-03-31T11:00:00Z', step: 120 },
      '2026-03-31T10:00:00.000Z',
      '2026-03-31T11:00:00.000Z',
      120,
      30,
    ],
    [
      'no further than now',
      { to: '2027-01-01T00:00:00Z', from: '2026-03-31T12:30:00Z' },
      '2026-03-31T12:30:00.000Z',
      '2026-03-31T12:35:00.000Z',
      60,
      5,
    ],
    [
      'all that is kept, finely',
      { from: '2026-03-01T12:34:56Z', step: 900 },
      '2026-03-01T12:30:00.000Z',
      '2026-03-31T12:45:00.000Z',
      900,
      2881,
    ],
  ])('is %s', (_, query, ...expected) => {
    expect(shown(query)).toEqual(expected)
  })

  test.each([
    [{ from: '2026-03-31T12:00:00Z', to: '2026-03-31T12:00:00Z' }, 'from must be earlier than to'],
    [{ from: '2026-03-31T12:00:00Z', to: '2026-03-30T12:00:00Z' }, 'from must be earlier than to'],
    [{ from: '2026-04-01T00:00:00Z', to: '2026-04-02T00:00:00Z' }, 'from must not lie in the future'],
    [{ from: '2026-02-28T00:00:00Z' }, 'from must lie within the last 30 days: metrics are kept no longer'],
    [{ to: '2026-01-01T00:00:00Z' }, 'from must lie within the last 30 days: metrics are kept no longer'],
    [{ from: '2026-03-31T12:00:60Z' }, 'from must be a date-time such as 2026-01-31T12:00:00Z'],
    [{ step: 61 }, 'step must be a multiple of 60 seconds'],
    [{ from: '2026-03-20T00:00:00Z', step: 60 }, 'step must be a multiple of 900 seconds for a range that begins more than 24h ago'],
  ])('is rejected for %j', (query, sentence) => {
    expect(() => readWindow(query, NOW)).toThrow(`Validation failed: ${sentence}`)
  })
})
