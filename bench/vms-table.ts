// The table of results: value, what it stands beside, their ratio, the goal.
export const median = (numbers: number[]): number => percentile(numbers, 0.5)
export const percentile = (numbers: number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)]!

let misses = 0
export const missed = (): number => misses

export function printHead(): void {
  print('', 'value', 'floor', 'ratio', 'goal', '')
}

interface Sides {
  ours: number[]
  floor: number[]
  unit: string
}

/** The ratio is the median of the pairs, each of which was measured within a second or two. */
export function printRatio(what: string, { ours, floor, unit }: Sides, goal?: { most: number } | { least: number }): void {
  const ratio = median(ours.map((value, i) => value / floor[i]!))
  const values = [median(ours), median(floor)].map((value) => `${digits(value)} ${unit}`) as [string, string]
  if (!goal) return print(what, ...values, ratio.toFixed(2), '', '')
  const [sign, limit, passed] = 'most' in goal ? ['≤', goal.most, ratio <= goal.most] : ['≥', goal.least, ratio >= goal.least]
  print(what, ...values, ratio.toFixed(2), `${sign} ${limit}`, verdict(passed as boolean))
}

export const printLimit = (what: string, value: number, most: number, unit: string): void =>
  print(what, `${digits(value)} ${unit}`, '', '', `≤ ${most} ${unit}`, verdict(value <= most))

function verdict(passed: boolean): string {
  if (!passed) misses++
  return passed ? 'pass' : 'FAIL'
}

const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3))

function print(what: string, value: string, floor: string, ratio: string, goal: string, result: string): void {
  console.log([what.padEnd(46), value.padStart(10), floor.padStart(10), ratio.padStart(6), ` ${goal.padEnd(8)}`, result].join(' '))
}
