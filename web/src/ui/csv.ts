/** A number with a sign and an exponent at most: nothing that a spreadsheet could take for a formula. */
const NUMBER = /^-?\d+(\.\d+)?$/

/** Spreadsheets execute cells that start like a formula, also after a tab or a line break, so those are prefixed with an apostrophe. */
export const csvCell = (text: string): string => {
  const safe = /^[\s]*[=+\-@\t\r\n＝＋－＠]/.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const line = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** Kept in parts, so that no text of all rows is built. */
export class CsvFile {
  rows = 0
  readonly #parts: string[]

  constructor(head: readonly string[]) {
    this.#parts = [line(head)]
  }

  add(cells: readonly string[]): void {
    this.#parts.push(line(cells))
    this.rows++
  }

  save(fileName: string): void {
    const url = URL.createObjectURL(new Blob(this.#parts, { type: 'text/csv' }))
    const link = Object.assign(document.createElement('a'), { href: url, download: fileName })
    link.click()
    URL.revokeObjectURL(url)
  }
}

export function saveCsv(fileName: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const file = new CsvFile(head)
  for (const row of rows) file.add(row)
  file.save(fileName)
}
