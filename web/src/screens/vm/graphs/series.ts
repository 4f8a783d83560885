// What a graph is drawn from: pure functions over what the API measured.
import type { VmMetrics } from '@berth/sdk'

export type Values = (number | null)[]

/** The range that a graph shows, in seconds since 1970. */
export interface Range {
  from: number
  to: number
}

/** Index of the first point at which any of the lines has a value; -1 without one. */
export function firstMeasured(lines: readonly Values[]): number {
  const firsts = lines.map((values) => values.findIndex((value) => value !== null)).filter((index) => index >= 0)
  return firsts.length === 0 ? -1 : Math.min(...firsts)
}

/** Part of a range that may be empty before it is left out. */
const TOLERATED = 0.1

/** So that few measurements are not stretched to a line. */
const LEAST_POINTS = 15

/** Where the graph begins: at the first measurement, if there is much emptiness before it. */
export function beginOf(times: readonly number[], lines: readonly Values[]): number {
  const first = Math.min(firstMeasured(lines), times.length - LEAST_POINTS)
  return first > times.length * TOLERATED ? first : 0
}

/** Values of another time, `shift` seconds before, at the times of this one. Their steps may be longer. */
export function shifted(
  times: readonly number[],
  other: { times: readonly number[]; values: Values; step: number },
  shift: number,
): Values {
  let index = -1
  return times.map((time) => {
    const wanted = time - shift
    while (index + 1 < other.times.length && other.times[index + 1]! <= wanted) index++
    return index >= 0 && wanted < other.times[index]! + other.step ? (other.values[index] ?? null) : null
  })
}

export const highestOf = (values: Values): number => Math.max(0, ...values.map((value) => value ?? 0))

/** A line for the most there can be is drawn where it is near, or wanted: far above, it would flatten what was measured. */
export function topOf(highest: number, ceiling: number | null, wantsCeiling: boolean): number {
  const room = Math.max(highest * 1.12, 1e-9)
  if (ceiling === null) return room
  return wantsCeiling || highest > ceiling * 0.3 ? Math.max(ceiling * 1.04, room) : room
}

export interface TableRow {
  time: number
  values: Values
}

/** At most `most` rows, each the average of the points that it stands for. */
export function toRows(times: readonly number[], lines: readonly Values[], most: number): TableRow[] {
  const per = Math.max(1, Math.ceil(times.length / most))
  const rows: TableRow[] = []
  for (let start = 0; start < times.length; start += per)
    rows.push({ time: times[start]!, values: lines.map((values) => meanOf(values.slice(start, start + per))) })
  return rows.filter(({ values }) => values.some((value) => value !== null)).toReversed()
}

function meanOf(values: Values): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

export const secondsOf = ({ timestamps }: Pick<VmMetrics, 'timestamps'>): number[] => timestamps.map((at) => Date.parse(at) / 1_000)

const DAY = 86_400
export const COMPARISONS = { day: DAY, week: 7 * DAY } as const
export type Comparison = keyof typeof COMPARISONS

/** Metrics are kept for 30 days. */
export const canCompare = ({ from }: Range, comparison: Comparison, now: number): boolean => from - COMPARISONS[comparison] > now - 30 * DAY

/** A part of the range, no shorter than a quarter of an hour; null where it is no part. */
export function zoomed(range: Range, from: number, to: number): Range | null {
  const [first, last] = [Math.max(range.from, Math.min(from, to)), Math.min(range.to, Math.max(from, to))]
  if (last <= first) return null
  const missing = Math.max(0, 900 - (last - first)) / 2
  return { from: Math.round(first - missing), to: Math.round(last + missing) }
}

/** `from-to` in a URL. */
export const rangeText = ({ from, to }: Range): string => `${Math.round(from)}-${Math.round(to)}`

export function readRange(text: string | undefined): Range | null {
  const match = /^(\d{9,11})-(\d{9,11})$/.exec(text ?? '')
  if (!match) return null
  const [from, to] = [Number(match[1]), Number(match[2])]
  return from < to ? { from, to } : null
}
