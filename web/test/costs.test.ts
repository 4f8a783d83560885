import { describe, expect, test } from 'vitest'
import { toSeries, uncoveredFrom } from '../src/screens/wallet/balance-series.ts'
import { groupingOf, nameOfGroup, searchOfGroup, shareOf, type CostGroup } from '../src/screens/wallet/cost-groups.ts'
import { daysOf, isMonth, latestMonths } from '../src/screens/wallet/months.ts'

const group = (change: Partial<CostGroup>): CostGroup => ({
  key: 'cvm000001',
  name: 'web-1',
  resourceType: 'VM',
  deleted: false,
  charged: '12.00',
  refunded: '2.00',
  amount: '10.00',
  entries: 2,
  ...change,
})

describe('a month', () => {
  test('has a first and a last day', () => {
    expect(daysOf('2026-02')).toEqual({ dateFrom: '2026-02-01', dateTo: '2026-02-28' })
    expect(daysOf('2028-02').dateTo).toBe('2028-02-29')
    expect(daysOf('2026-12').dateTo).toBe('2026-12-31')
  })

  test('is one of the last twelve, also in January', () => {
    const months = latestMonths(new Date('2026-01-31T23:59:59Z'))
    expect([months.length, months[0], months[1], months.at(-1)]).toEqual([12, '2026-01', '2025-12', '2025-02'])
    expect(['2026-10', '2026-13', 'x', undefined].map(isMonth)).toEqual([true, false, false, false])
  })
})

describe('a group of costs', () => {
  test.each([
    ['resource', group({}), 'web-1', { referenceId: 'cvm000001' }],
    ['resource', group({ deleted: true }), 'web-1 (deleted)', { referenceId: 'cvm000001' }],
    ['resource', group({ name: null }), 'cvm000001 (deleted)', { referenceId: 'cvm000001' }],
    ['type', group({ key: 'VM_RENEWAL', name: null }), 'Renewal', { type: 'VM_RENEWAL' }],
    ['type', group({ key: 'OF_THE_FUTURE', name: null }), 'OF_THE_FUTURE', { type: 'OF_THE_FUTURE' }],
    ['project', group({ key: null, name: null }), 'The account itself', { projectId: 'none' }],
    ['project', group({ key: 'cshop0001', name: 'shop' }), 'shop', { projectId: 'cshop0001' }],
    ['label:env', group({ key: 'prod', name: null }), 'env=prod', { labels: 'env=prod' }],
    ['label:env', group({ key: '', name: null }), 'env', { labels: 'env=' }],
    ['label:env', group({ key: null, name: null }), 'Without label env', { labels: '!env' }],
  ])('by %s leads to its transactions', (by, of, name, search) => {
    expect(nameOfGroup(of, by)).toBe(name)
    expect(searchOfGroup(of, by, '2026-10')).toEqual({
      tab: 'transactions',
      kind: 'COST',
      dateFrom: '2026-10-01',
      dateTo: '2026-10-31',
      ...search,
    })
  })

  test('is asked for only by what there is', () => {
    for (const by of ['resource', 'type', 'project', 'label:env']) expect(groupingOf(by)).toBe(by)
    for (const by of [undefined, '', 'vm', 'label:', "label:a'b"]) expect(groupingOf(by)).toBe('resource')
  })

  test('has a share of what costs something', () => {
    const all = [{ amount: '7.50' }, { amount: '2.50' }, { amount: '-1.00' }]
    expect(all.map(({ amount }) => shareOf(amount, all))).toEqual([75, 25, 0])
    expect(shareOf('0.00', [])).toBe(0)
  })
})

test('the lines of the balance meet at the present day', () => {
  const past = [
    { date: '2026-10-01', balance: '0.00' },
    { date: '2026-10-02', balance: '10.00' },
  ]
  const upcoming = [
    { date: '2026-10-02', charge: '4.00', balance: '6.00' },
    { date: '2026-10-03', charge: '8.00', balance: '-2.00' },
  ]
  const series = toSeries({ past, upcoming })
  expect(series.past).toEqual([0, 10, null])
  expect(series.upcoming).toEqual([null, 6, -2])
  expect(series.times.map((at) => at - series.times[0]!)).toEqual([0, 86_400, 172_800])
  expect(uncoveredFrom({ upcoming })).toBe('2026-10-03')
  expect(uncoveredFrom({ upcoming: upcoming.slice(0, 1) })).toBeNull()
})
