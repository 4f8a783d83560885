interface Box {
  width: number
  height: number
  most?: number | undefined
}

/** Lines between values that are known, the area below them, and the newest value as a dot. */
export function sparkPath(values: readonly (number | null)[], { width, height, most }: Box) {
  const top = Math.max(most ?? 0, ...values.map((value) => value ?? 0)) || 1
  const step = values.length > 1 ? width / (values.length - 1) : width
  const at = (value: number, index: number) => ({ x: round(index * step), y: round(height - 1 - (value / top) * (height - 3)) })
  const runs: { x: number; y: number }[][] = []
  let before = false
  for (const [index, value] of values.entries()) {
    if (value !== null) (before ? runs.at(-1)! : (runs[runs.push([]) - 1] as { x: number; y: number }[])).push(at(value, index))
    before = value !== null
  }
  const line = runs.map((run) => `M${run.map(({ x, y }) => `${x} ${y}`).join('L')}`).join('')
  const area = runs
    .filter((run) => run.length > 1)
    .map((run) => `M${run[0]!.x} ${height}L${run.map(({ x, y }) => `${x} ${y}`).join('L')}L${run.at(-1)!.x} ${height}Z`)
    .join('')
  return { line, area, dot: runs.at(-1)?.at(-1) ?? null }
}

const round = (value: number): number => Math.round(value * 100) / 100
