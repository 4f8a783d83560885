import { describe, expect, test } from 'vitest'
import { csvCell } from '../src/ui/csv.ts'
import { readSearch } from '../src/ui/paging.ts'
import { isChosen, withChosen } from '../src/ui/selection.ts'
import { directionOf, nextSort, sortRows } from '../src/ui/sorting.ts'
import { sparkPath } from '../src/ui/spark-path.ts'
import { pagesOf, windowOf } from '../src/ui/virtual.ts'

describe('sorting', () => {
  interface Row {
    name: string
    size: number | null
  }
  const rows: Row[] = [
    { name: 'web-10', size: 2 },
    { name: 'web-2', size: null },
    { name: 'Äpfel', size: 30 },
    { name: 'db', size: 2 },
  ]
  const columns = [
    { sort: 'name', value: ({ name }: Row) => name },
    { sort: 'size', value: ({ size }: Row) => size },
  ]
  const names = (sort: string | undefined) => sortRows(rows, columns, sort).map(({ name }) => name)

  test('goes up, down and back', () => {
    expect([nextSort(undefined, 'name'), nextSort('name', 'name'), nextSort('-name', 'name')]).toEqual(['name', '-name', undefined])
    expect(nextSort('size', 'name')).toBe('name')
    expect([directionOf('name', 'name'), directionOf('-name', 'name'), directionOf('size', 'name')]).toEqual([
      'ascending',
      'descending',
      'none',
    ])
  })

  test('numbers within names count, and what is unknown is last in both directions', () => {
    expect(names('name')).toEqual(['Äpfel', 'db', 'web-2', 'web-10'])
    expect(names('size')).toEqual(['web-10', 'db', 'Äpfel', 'web-2'])
    expect(names('-size')).toEqual(['Äpfel', 'web-10', 'db', 'web-2'])
  })

  test('nothing else in the URL changes the order', () => {
    for (const sort of [undefined, '', '-', 'size;drop', '--name']) expect(names(sort)).toEqual(rows.map(({ name }) => name))
  })
})

describe('the rows in view', () => {
  const of = (scrollTop: number, total = 10_000) => windowOf({ scrollTop, height: 640, rowHeight: 64, total })

  test('are few, wherever one scrolls, and never beyond the end', () => {
    expect(of(0)).toEqual({ first: 0, end: 20 })
    expect(of(64 * 5_000)).toEqual({ first: 4_990, end: 5_020 })
    expect(of(64 * 9_990)).toEqual({ first: 9_980, end: 10_000 })
    expect(of(1e9)).toEqual({ first: 9_999, end: 10_000 })
    expect(of(-50)).toEqual({ first: 0, end: 20 })
    expect(of(0, 0)).toEqual({ first: 0, end: 0 })
  })

  test('are on the pages that hold them', () => {
    expect(pagesOf({ first: 0, end: 20 }, 100)).toEqual([1])
    expect(pagesOf({ first: 90, end: 120 }, 100)).toEqual([1, 2])
    expect(pagesOf({ first: 9_980, end: 10_000 }, 100)).toEqual([100])
    expect(pagesOf({ first: 0, end: 0 }, 100)).toEqual([])
  })
})

test('a selection is all, some or none of what is shown', () => {
  const ids = withChosen(new Set(['a']), ['b', 'c'], true)
  expect([...ids]).toEqual(['a', 'b', 'c'])
  expect([isChosen({ ids }, ['a', 'b']), isChosen({ ids }, ['a', 'z']), isChosen({ ids }, ['z']), isChosen({ ids }, [])]).toEqual([
    'all',
    'some',
    'none',
    'none',
  ])
  expect([...withChosen(ids, ['a', 'z'], false)]).toEqual(['b', 'c'])
})

describe('a small graph', () => {
  const box = { width: 10, height: 12 }

  test('draws each run of known values, and ends in a dot', () => {
    const { line, area, dot } = sparkPath([null, 0, 50, null, 100], { ...box, most: 100 })
    expect(line).toBe('M2.5 11L5 6.5M10 2')
    expect(area).toBe('M2.5 12L2.5 11L5 6.5L5 12Z')
    expect(dot).toEqual({ x: 10, y: 2 })
  })

  test('has nothing to draw without values, and no NaN', () => {
    expect(sparkPath([null, null], box)).toEqual({ line: '', area: '', dot: null })
    expect(sparkPath([0, 0], box).line).toBe('M0 11L10 11')
    expect(sparkPath([], box).line).toBe('')
  })
})

test.each([
  ['web-1', 'web-1'],
  ['-12.50', '-12.50'],
  ['=1+1', "'=1+1"],
  ['+49 30', "'+49 30"],
  ['@sum(a1)', "'@sum(a1)"],
  ["-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"],
  ['\t=1', "'\t=1"],
  [' =1', "' =1"],
  ['＝1', "'＝1"],
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['say "x"', '"say ""x"""'],
  ['=1\n,2', '"\'=1\n,2"'],
])('the CSV cell of %j executes nothing', (text, cell) => expect(csvCell(text)).toBe(cell))

test('a URL keeps the filters and the order of a list, and nothing that is none', () => {
  expect(readSearch({ sort: '-name', q: 'web', region: 'fra1', page: '2', evil: 'x', plan: ['a'], labels: '' })).toEqual({
    sort: '-name',
    q: 'web',
    region: 'fra1',
    page: 2,
  })
})
