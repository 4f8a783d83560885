// The final screen of a terminal: control sequences applied, colours replaced by names.

export const ESCAPE = '\u001b'

const TOKEN = new RegExp(String.raw`\r\n|\r|\n|${ESCAPE}\[2K|${ESCAPE}\[0J|${ESCAPE}\[(\d+)[mG]|[^]`, 'gu')

const COLOURS: Record<string, string> = { '0': '⟨/⟩', '1': '⟨bold⟩', '2': '⟨dim⟩', '31': '⟨red⟩', '32': '⟨green⟩', '33': '⟨yellow⟩' }

export function screen(raw: string): string {
  const lines: string[] = []
  let line = ''
  for (const [token] of raw.matchAll(TOKEN)) {
    if (token === '\r\n' || token === '\n') {
      lines.push(line.trimEnd())
      line = ''
    } else if (token === '\r' || token === `${ESCAPE}[2K`) line = ''
    else if (token.endsWith('G') && token.length > 1) line = line.slice(0, Number(token.slice(2, -1)) - 1)
    else if (token !== `${ESCAPE}[0J`) line += token.startsWith(ESCAPE) ? (COLOURS[token.slice(2, -1)] ?? token) : token
  }
  return [...lines, line].join('\n')
}

/** Masks ids, times and addresses, which differ from run to run. */
export const maskVolatile = (text: string): string =>
  text
    .replace(/\bc[a-z0-9]{24}\b/g, (id) => '‹id›'.padEnd(id.length))
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '‹time›')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '‹local time›    ')
    .replace(/\b\d+\.\d s\b/g, '‹n› s')
    .replace(/\b10\.77\.\d+\.\d+ */g, '‹address› ') // padding depends on the address
    .replace(/(ADDRESS(?:⟨\/⟩)?) +/g, '$1  ')
    .replace(/ +$/gm, '')
