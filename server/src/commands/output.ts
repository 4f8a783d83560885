// One line per step with its duration, aligned like those of ops/bootstrap.mjs. On a terminal the line appears while the step runs.
import { InvalidArgumentError } from 'commander'
import { relative } from 'node:path'
import { berthdCommand } from '../config.ts'
import type { Finding } from '../host-setup/finding.ts'
import { stopwatch } from '../kernel/clock.ts'

// The result of a command: the same data as JSON and as text.

export interface Result {
  data: unknown
  text: string
}

export const show = ({ data, text }: Result, json: boolean): void => print(json ? toJson(data) : text)

/** Replaces control and bidirectional characters: text of customers must not move the operator's cursor or fake a line. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\ufffd')

/** Messages say `npx berthd`. Where that is not how to call it, npx would fetch a stranger's package of that name and run it as root. */
const withCommand = (text: string): string => {
  const command = berthdCommand()
  return command === 'npx berthd' ? text : text.replaceAll(/(?:sudo )?npx berthd\b/g, command)
}

/** Keeps line breaks and tabs. */
export const printable = (text: string): string => withCommand(text).replace(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, '\ufffd')

/** Escapes what JSON.stringify leaves in strings, so that no data is lost. */
export const toJson = (data: unknown): string =>
  JSON.stringify(data ?? null).replace(
    /[\x7f-\x9f\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

type Cell = string | number | boolean | null | string[]

/** Aligned columns, named after `columns`. */
export function table<Row extends Record<string, Cell>>(rows: Row[], columns: (keyof Row & string)[], none: string): Result {
  if (rows.length === 0) return { data: rows, text: none }
  const lines = [columns.map((name) => name.replace(/([a-z\dB])([A-Z][a-z])/g, '$1 $2').toUpperCase())]
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
  return oneLine(Array.isArray(value) ? value.join(',') || '-' : String(value))
}

const LABEL_WIDTH = 57
const CLEAR_LINE = '\r\x1b[2K'

export const print = (text: string): void => void process.stdout.write(`${printable(text)}\n`)

interface Done {
  label: string
  note?: string
}

/** `doing` is shown while the step runs and when it fails, `done` (null = nothing) when it succeeds. The caller explains a failure. */
export async function step<T>(doing: string, work: () => Promise<T>, done: (result: T) => Done | null): Promise<T> {
  const elapsed = stopwatch()
  const took = (): string => `${(elapsed() / 1000).toFixed(1)} s`
  if (process.stdout.isTTY) process.stdout.write(`${CLEAR_LINE} … ${oneLine(doing)}`)
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
  if (process.stdout.isTTY) process.stdout.write(CLEAR_LINE)
  print(` ${mark} ${label.padEnd(LABEL_WIDTH)}${note && ` ${note}`}`.trimEnd())
}

const MARKS = { ok: '✓', done: '✓', missing: '!', warning: '!', failure: '✗', failed: '✗' } as const

export const markOf = (status: keyof typeof MARKS): '✓' | '✗' | '!' => MARKS[status]

/** With what to do about it on a line of its own. */
export const findingLine = ({ status, message, fix }: Finding): string =>
  ` ${MARKS[status]} ${message}${fix === null ? '' : `\n     ${fix}`}`

/** For options such as `--available <true or false>`. */
export function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.')
  return text === 'true'
}

export function shortPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below && !below.startsWith('..') ? below : path
}
