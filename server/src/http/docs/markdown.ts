// The Markdown of our own documentation as HTML: headings, paragraphs, lists, tables, fences, links, pictures, code and emphasis. Everything is escaped
// first, so that no page can hold markup of its own.
import { escapeHtml } from '../server/html-page.ts'

export interface Rendered {
  title: string
  html: string
}

export type Resolve = (target: string) => string | null

/** `resolve` says where a link leads from this page; null = nowhere, and only its text is shown. */
export function renderMarkdown(text: string, resolve: Resolve): Rendered {
  const lines = text.split('\n')
  const html: string[] = []
  for (let at = 0; at < lines.length;) {
    const block = BLOCKS.find(({ begins }) => begins.test(lines[at]!))!
    const end = block.end(lines, at)
    html.push(block.show(lines.slice(at, end), (inline) => renderInline(inline, resolve)))
    at = end
  }
  return { title: /^# (.+)$/m.exec(text)?.[1] ?? '', html: html.filter(Boolean).join('\n') }
}

interface Block {
  begins: RegExp
  /** Where the next block begins. */
  end: (lines: string[], at: number) => number
  show: (lines: string[], inline: (text: string) => string) => string
}

const endWhere = (stops: (line: string) => boolean) => (lines: string[], at: number) => {
  const found = lines.findIndex((line, i) => i > at && stops(line))
  return found === -1 ? lines.length : found
}

const ITEM = /^ *(?:[-*]|\d+\.) /
const isItemOrPart = (line: string): boolean => ITEM.test(line) || /^ {2,}\S/.test(line)

const BLOCKS: Block[] = [
  { begins: /^\s*$/, end: (_, at) => at + 1, show: () => '' },
  {
    begins: /^```/,
    end: (lines, at) => endWhere((line) => line === '```')(lines, at) + 1,
    show: (lines) => `<pre tabindex="0"><code>${escapeHtml(lines.slice(1, -1).join('\n'))}</code></pre>`,
  },
  { begins: /^#{1,4} /, end: (_, at) => at + 1, show: ([line], inline) => heading(line!, inline) },
  { begins: /^\|/, end: endWhere((line) => !line.startsWith('|')), show: table },
  { begins: ITEM, end: endWhere((line) => !isItemOrPart(line)), show: list },
  {
    begins: /./,
    end: endWhere((line) => /^\s*$|^```|^#{1,4} |^\|/.test(line) || ITEM.test(line)),
    show: (lines, inline) => `<p>${inline(lines.join('\n'))}</p>`,
  },
]

function heading(line: string, inline: (text: string) => string): string {
  const [, marks, text] = /^(#+) (.*)$/.exec(line)!
  return `<h${marks!.length} id="${anchorOf(text!)}">${inline(text!)}</h${marks!.length}>`
}

/** As other viewers of Markdown name it, so that links lead to the same place everywhere. */
export const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

function table(lines: string[], inline: (text: string) => string): string {
  const cells = (line: string): string[] => line.replace(/^\||\|\s*$/g, '').split(/(?<!\\)\|/)
  const row = (line: string, tag: string): string =>
    `<tr>${cells(line)
      .map((cell) => cell.trim().replaceAll('\\|', '|'))
      .map((cell) => (cell === '' ? '<td></td>' : `<${tag}>${inline(cell)}</${tag}>`))
      .join('')}</tr>`
  const [head, , ...body] = lines
  const titles = /\w/.test(head!) ? `<thead>${row(head!, 'th')}</thead>` : ''
  return `<div class="scroll" tabindex="0"><table>${titles}<tbody>${body.map((line) => row(line, 'td')).join('')}</tbody></table></div>`
}

/** One level is enough for us; what is indented belongs to the item above it. */
function list(lines: string[], inline: (text: string) => string): string {
  const tag = /^ *\d/.test(lines[0]!) ? 'ol' : 'ul'
  const items: string[] = []
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`)
  }
  return `<${tag}>${items.map((item) => `<li>${inline(item)}</li>`).join('')}</${tag}>`
}

const INLINE = /`([^`]+)`|!\[([^\]]+)\]\(([^)\s]+)\)|\[([^\]]+)\]\(([^)\s]+)\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/g

function renderInline(text: string, resolve: Resolve): string {
  let html = ''
  let last = 0
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, words, picture, label, target, bold, italic] = match
    html += escapeHtml(text.slice(last, match.index))
    last = match.index + whole.length
    if (code !== undefined) html += `<code>${escapeHtml(code)}</code>`
    else if (picture !== undefined) html += image(words!, resolve(picture))
    else if (target !== undefined) html += link(renderInline(label!, resolve), resolve(target))
    else html += bold === undefined ? `<em>${renderInline(italic!, resolve)}</em>` : `<strong>${renderInline(bold, resolve)}</strong>`
  }
  return html + escapeHtml(text.slice(last))
}

const link = (label: string, address: string | null): string =>
  address === null ? label : `<a href="${escapeHtml(address)}"${/^https?:/.test(address) ? ' rel="noreferrer"' : ''}>${label}</a>`

const image = (words: string, address: string | null): string =>
  address === null ? escapeHtml(words) : `<img src="${escapeHtml(address)}" alt="${escapeHtml(words)}" loading="lazy">`
