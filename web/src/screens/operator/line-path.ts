// A line in a square of 100 by 100, from points in time. It breaks where nothing was measured.

interface Point {
  at: number
  value: number
}

/** Two points further apart than this are not joined. */
const GAP_MS = 15 * 60_000

export const highest = (points: readonly Point[]): number => Math.max(0, ...points.map(({ value }) => value))

export function linePath(
  points: readonly Point[],
  { from, to, most }: { from: number; to: number; most: number },
): { line: string; area: string } {
  const x = ({ at }: Point): string => round(Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100)))
  const y = ({ value }: Point): string => round(100 - Math.min(1, most > 0 ? value / most : 0) * 100)
  const runs: Point[][] = []
  let last: Point | undefined
  for (const point of points) {
    if (last === undefined || point.at - last.at > GAP_MS) runs.push([])
    runs.at(-1)!.push(point)
    last = point
  }
  const lineOf = (run: Point[]): string => run.map((point, index) => `${index === 0 ? 'M' : 'L'}${x(point)} ${y(point)}`).join('')
  return {
    line: runs.map(lineOf).join(''),
    area: runs.map((run) => `${lineOf(run)}L${x(run.at(-1)!)} 100L${x(run[0]!)} 100Z`).join(''),
  }
}

const round = (value: number): string => String(Math.round(value * 100) / 100)
