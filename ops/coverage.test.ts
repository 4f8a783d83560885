import { expect, test } from 'vitest'
import { belowFloor, byFolder, raiseFloors } from './coverage.ts'

const file = (lines: [number, number], branches: [number, number]) => ({
  lines: { covered: lines[0], total: lines[1] },
  branches: { covered: branches[0], total: branches[1] },
})

test('files are summed by folder, and percentages are rounded down', () => {
  const summary = {
    total: file([1, 1], [1, 1]),
    '/r/server/src/http/api/mount.ts': file([2, 3], [0, 0]),
    '/r/server/src/http/docs/docs.ts': file([4, 6], [1, 2]),
    '/r/server/src/config.ts': file([1, 1], [0, 0]),
    '/r/sdk/src/pipeline/retry.ts': file([9, 10], [3, 4]),
  }
  expect(byFolder(summary, '/r')).toEqual({
    'sdk/src': { lines: 90, branches: 75 },
    'server/src': { lines: 100, branches: 100 },
    'server/src/http': { lines: 66.6, branches: 50 },
  })
})

test('a folder below its floor fails, and so does one that has disappeared', () => {
  const floors = { 'sdk/src': { lines: 90, branches: 75 }, 'cli/src': { lines: 50, branches: 50 } }
  expect(belowFloor({ 'sdk/src': { lines: 90, branches: 75 }, 'cli/src': { lines: 50, branches: 50 } }, floors)).toEqual([])
  expect(belowFloor({ 'sdk/src': { lines: 90, branches: 74.9 } }, floors)).toEqual([
    expect.stringContaining('sdk/src: 74.9 % of branches are covered, below the floor of 75 %'),
    expect.stringContaining('cli/src: 0 % of lines'),
    expect.stringContaining('cli/src: 0 % of branches'),
  ])
})

test('floors rise to whole percents a point below the measurement, and never fall', () => {
  const floors = { 'sdk/src': { lines: 90, branches: 75 } }
  expect(raiseFloors({ 'sdk/src': { lines: 95.3, branches: 75.9 }, 'cli/src': { lines: 40.9, branches: 0 } }, floors)).toEqual({
    'cli/src': { lines: 39, branches: 0 },
    'sdk/src': { lines: 94, branches: 75 },
  })
})
