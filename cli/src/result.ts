// The result of a command in three formats: the API's data as JSON, a table or message for people, plain names for shells.
import { colourOf, escapeJson, sanitizeTerminal, type Paint } from './style.ts'

export const FORMATS = ['table', 'json', 'name'] as const
export type Format = (typeof FORMATS)[number]

export interface CommandResult {
  data: unknown
  names: string[]
  text: (paint: Paint) => string
  /** Next step, printed to stderr in the table format. */
  hint?: string
  /** Why the command fails all the same. */
  failure?: string
}

type Cell = string | number | boolean | null | undefined | string[]
export type Columns<Item> = Record<string, (item: Item) => Cell>

export const nameOf = (item: object): string => {
  const { name, slug, number, id } = item as Record<string, string | undefined>
  return slug ?? name ?? number ?? id ?? ''
}

/** `emptyHint` is printed when there are no items. */
export function table<Item extends object>(items: Item[], columns: Columns<Item>, emptyHint: string, name = nameOf): CommandResult {
  return {
    data: items,
    names: items.map(name),
    text: (paint) => (items.length === 0 ? '' : renderTable(items, columns, paint)),
    ...(items.length === 0 && { hint: emptyHint }),
  }
}

function renderTable<Item>(items: Item[], columns: Columns<Item>, paint: Paint): string {
  const titles = Object.keys(columns)
  const cells = items.map((item) => titles.map((title) => renderCell(columns[title]!(item))))
  const widths = titles.map((title, i) => Math.max(title.length, ...cells.map((line) => line[i]!.length)))
  const renderLine = (line: string[], colour: (cell: string, column: number) => string): string =>
    line.map((cell, i) => colour(cell, i) + (i === line.length - 1 ? '' : ' '.repeat(widths[i]! - cell.length))).join('  ')
  return [
    renderLine(titles, (title) => paint('bold', title)),
    ...cells.map((line) => renderLine(line, (cell) => highlight(cell, paint)).trimEnd()),
  ].join('\n')
}

/** One item with a line per field; `undefined` fields are omitted. */
export function details<Item extends object>(item: Item, fields: Columns<Item>, name = nameOf): CommandResult {
  const lines = Object.entries(fields).map(([title, of]) => ({ title, value: of(item) }))
  const shown = lines.filter(({ value }) => value !== undefined)
  const width = Math.max(...shown.map(({ title }) => title.length))
  const text = (paint: Paint): string =>
    shown.map(({ title, value }) => `${paint('bold', title.padEnd(width))}  ${highlight(renderCell(value), paint)}`.trimEnd()).join('\n')
  return { data: item, names: [name(item)], text }
}

export const message = (data: unknown, name: string, text: string): CommandResult => ({
  data,
  names: [name],
  text: () => sanitizeTerminal(text),
})

const highlight = (cell: string, paint: Paint): string => {
  const colour = colourOf(cell)
  return colour ? paint(colour, cell) : cell
}

function renderCell(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return sanitizeTerminal(Array.isArray(value) ? value.join(', ') || '-' : String(value))
}

export function render(result: CommandResult, format: Format, paint: Paint): string {
  if (format === 'json') return `${escapeJson(result.data, 2)}\n`
  if (format === 'name') return result.names.map((name) => `${sanitizeTerminal(name)}\n`).join('')
  const text = result.text(paint)
  return text && `${text}\n`
}
