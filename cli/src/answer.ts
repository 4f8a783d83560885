// What a command answers: the API's own data for programs, columns or a sentence for people, bare names for shells.
import { colourOf, harmless, harmlessJson, type Paint } from './style.ts'

export const FORMATS = ['table', 'json', 'name'] as const
export type Format = (typeof FORMATS)[number]

export interface Answer {
  data: unknown
  names: string[]
  text: (paint: Paint) => string
  /** What to do next, for people. */
  hint?: string
}

type Cell = string | number | boolean | null | undefined | string[]
export type Columns<Item> = Record<string, (item: Item) => Cell>

export const nameOf = (item: object): string => {
  const { name, slug, number, id } = item as Record<string, string | undefined>
  return slug ?? name ?? number ?? id ?? ''
}

/** `none` is said when there is nothing, with the way to make one. */
export function rows<Item extends object>(items: Item[], columns: Columns<Item>, none: string, name = nameOf): Answer {
  return {
    data: items,
    names: items.map(name),
    text: (paint) => (items.length === 0 ? '' : tableOf(items, columns, paint)),
    ...(items.length === 0 && { hint: none }),
  }
}

function tableOf<Item>(items: Item[], columns: Columns<Item>, paint: Paint): string {
  const titles = Object.keys(columns)
  const cells = items.map((item) => titles.map((title) => textOf(columns[title]!(item))))
  const widths = titles.map((title, i) => Math.max(title.length, ...cells.map((line) => line[i]!.length)))
  const lineOf = (line: string[], colour: (cell: string, column: number) => string): string =>
    line.map((cell, i) => colour(cell, i) + (i === line.length - 1 ? '' : ' '.repeat(widths[i]! - cell.length))).join('  ')
  return [
    lineOf(titles, (title) => paint('bold', title)),
    ...cells.map((line) => lineOf(line, (cell) => highlight(cell, paint)).trimEnd()),
  ].join('\n')
}

/** One thing, a line for each of its fields; `undefined` is left out. */
export function record<Item extends object>(item: Item, fields: Columns<Item>, name = nameOf): Answer {
  const lines = Object.entries(fields).map(([title, of]) => ({ title, value: of(item) }))
  const shown = lines.filter(({ value }) => value !== undefined)
  const width = Math.max(...shown.map(({ title }) => title.length))
  const text = (paint: Paint): string =>
    shown.map(({ title, value }) => `${paint('bold', title.padEnd(width))}  ${highlight(textOf(value), paint)}`.trimEnd()).join('\n')
  return { data: item, names: [name(item)], text }
}

export const said = (data: unknown, name: string, sentence: string): Answer => ({ data, names: [name], text: () => harmless(sentence) })

const highlight = (cell: string, paint: Paint): string => {
  const colour = colourOf(cell)
  return colour ? paint(colour, cell) : cell
}

function textOf(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return harmless(Array.isArray(value) ? value.join(', ') || '-' : String(value))
}

export function print(answer: Answer, format: Format, paint: Paint): string {
  if (format === 'json') return `${harmlessJson(answer.data, 2)}\n`
  if (format === 'name') return answer.names.map((name) => `${harmless(name)}\n`).join('')
  const text = answer.text(paint)
  return text && `${text}\n`
}
