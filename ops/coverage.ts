// npm run coverage [-- --raise]: runs the tests with V8 coverage, prints lines and branches per folder and fails when a folder is below its floor
// in ops/coverage-floors.json. --raise lifts the floors to a point below what was measured; no command lowers them.
//
// Counted is what runs in the processes of the tests. Not counted: processes that tests start (berthd, berth, libvirtd), and the dashboard, which runs
// in a browser. A folder that is tested mostly through berthd therefore shows less than is tested.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const METRICS = ['lines', 'branches'] as const
type Metric = (typeof METRICS)[number]
type Counts = Record<Metric, { covered: number; total: number }>
/** Percentages by folder. */
type Coverage = Record<string, Record<Metric, number>>

const both = <T>(valueOf: (metric: Metric) => T): Record<Metric, T> => ({ lines: valueOf('lines'), branches: valueOf('branches') })

function main(args: string[]): number {
  const root = join(import.meta.dirname, '..')
  const report = join(root, 'coverage/coverage-summary.json')
  const file = join(root, 'ops/coverage-floors.json')
  const read = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T
  rmSync(report, { force: true })
  const options = ['run', '--project=test', '--coverage.enabled', ...args.filter((arg) => arg !== '--raise')]
  const { status } = spawnSync('node_modules/.bin/vitest', options, { cwd: root, stdio: 'inherit' })
  if (status !== 0) return status ?? 1
  const measured = byFolder(read<Record<string, Counts>>(report), root)
  const floors = read<Coverage>(file)
  console.log(`\n${table(measured, floors)}\n`)
  if (args.includes('--raise')) writeFileSync(file, `${JSON.stringify(raiseFloors(measured, floors), null, 2)}\n`)
  const failures = belowFloor(measured, floors)
  for (const failure of failures) console.error(failure)
  return failures.length > 0 ? 1 : 0
}

/** Sums a json-summary report by folder: `server/src/<folder>` for the server, the package's `src` for the others. In percent, rounded down to 0.1. */
export function byFolder(summary: Record<string, Counts>, root: string): Coverage {
  const sums: Record<string, Counts> = {}
  for (const [path, counts] of Object.entries(summary)) {
    if (path === 'total') continue
    const parts = relative(root, path).split('/')
    const folder = parts.slice(0, parts[0] === 'server' && parts.length > 3 ? 3 : 2).join('/')
    const sum = (sums[folder] ??= both(() => ({ covered: 0, total: 0 })))
    for (const metric of METRICS) {
      sum[metric].covered += counts[metric].covered
      sum[metric].total += counts[metric].total
    }
  }
  const percent = ({ covered, total }: Counts[Metric]): number => (total === 0 ? 100 : Math.floor((1000 * covered) / total) / 10)
  const folders = Object.keys(sums).sort()
  return Object.fromEntries(folders.map((folder) => [folder, both((metric) => percent(sums[folder]![metric]))]))
}

export function belowFloor(measured: Coverage, floors: Coverage): string[] {
  return Object.entries(floors).flatMap(([folder, floor]) =>
    METRICS.flatMap((metric) => {
      const percent = measured[folder]?.[metric] ?? 0
      if (percent >= floor[metric]) return []
      return `${folder}: ${percent} % of ${metric} are covered, below the floor of ${floor[metric]} %. Add tests; rename the floor of a folder that moved.`
    }),
  )
}

/** Percent between a measurement and its floor: which branches of waits and retries run differs from run to run. */
const MARGIN = 1

/** Floors only rise. */
export function raiseFloors(measured: Coverage, floors: Coverage): Coverage {
  const folders = [...new Set([...Object.keys(floors), ...Object.keys(measured)])].sort()
  const highest = (folder: string) =>
    both((metric) => Math.max(Math.floor((measured[folder]?.[metric] ?? 0) - MARGIN), floors[folder]?.[metric] ?? 0))
  return Object.fromEntries(folders.map((folder) => [folder, highest(folder)]))
}

function table(measured: Coverage, floors: Coverage): string {
  const cells = (value: Record<Metric, number> | undefined): string[] => METRICS.map((metric) => (value ? `${value[metric]} %` : '-'))
  const rows = Object.entries(measured).map(([folder, value]) => [folder, ...cells(value), ...cells(floors[folder])])
  return [['Coverage', 'lines', 'branches', 'floor', 'floor'], ...rows]
    .map(([folder, ...numbers]) => ` ${folder!.padEnd(28)}${numbers.map((each) => each.padStart(10)).join('')}`)
    .join('\n')
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2))
