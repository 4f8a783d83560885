// One line per step with its duration, aligned like those of ops/bootstrap.mjs. On a terminal the line appears while the step runs.
import type { Finding } from '../host-setup/finding.ts'
import { stopwatch } from '../kernel/clock.ts'

// The result of a command: the same data as JSON and as text.

export interface Result {
  data: unknown
  text: string
}

export const show = ({ data, text }: Result, json: boolean): void => void process.stdout.write(`${json ? JSON.stringify(data) : text}\n`)

type Cell = string | number | boolean | null | string[]

/** Aligned columns, named after `columns`. */
export function table<Row extends Record<string, Cell>>(rows: Row[], columns: (keyof Row & string)[], none: string): Result {
  if (rows.length === 0) return { data: rows, text: none }
  const lines = [columns.map((name) => name.replace(/([a-z])([A-Z][a-z])/g, '$1 $2').toUpperCase())]
  lines.push(...rows.map((row) => columns.map((name) => cell(row[name]!))))
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const text = lines
    .map((line) =>
      line
        .map((each, column) => each.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
  return { data: rows, text }
}

function cell(value: Cell): string {
  if (value === null || value === '') return '-'
  if (Array.isArray(value)) return value.join(',') || '-'
  return String(value)
}

const LABEL_WIDTH = 57

export const print = (text: string): void => void process.stdout.write(`${text}\n`)

interface Done {
  label: string
  note?: string
}

/** `doing` is shown while the step runs and when it fails, `done` (null = nothing) when it succeeds. The caller explains a failure. */
export async function step<T>(doing: string, work: () => Promise<T>, done: (result: T) => Done | null): Promise<T> {
  const elapsed = stopwatch()
  const took = (): string => `${(elapsed() / 1000).toFixed(1)} s`
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[2K … ${doing}`)
  try {
    const result = await work()
    const line = done(result)
    if (line) showLine('✓', line.label, line.note ?? took())
    return result
  } catch (error) {
    showLine('✗', doing, took())
    throw error
  }
}

export function showLine(mark: '✓' | '✗' | '!', label: string, note: string): void {
  const start = process.stdout.isTTY ? '\r\x1b[2K' : ''
  print(`${start} ${mark} ${label.padEnd(LABEL_WIDTH)}${note && ` ${note}`}`.trimEnd())
}

const MARKS = { ok: '✓', done: '✓', missing: '!', warning: '!', failure: '✗', failed: '✗' } as const

export const markOf = (status: keyof typeof MARKS): '✓' | '✗' | '!' => MARKS[status]

/** With what to do about it on a line of its own. */
export const findingLine = ({ status, message, fix }: Finding): string =>
  ` ${MARKS[status]} ${message}${fix === null ? '' : `\n     ${fix}`}`
