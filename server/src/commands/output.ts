// What a command answers: the same facts as JSON for programs and as text for people.

export interface Result {
  data: unknown
  text: string
}

export const show = ({ data, text }: Result, json: boolean): void => void process.stdout.write(`${json ? JSON.stringify(data) : text}\n`)

type Cell = string | number | boolean | null | string[]

/** Rows as aligned columns, named by the keys that are shown. */
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
