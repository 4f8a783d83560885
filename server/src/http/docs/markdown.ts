// Renders our Markdown documentation as HTML. HTML in a page is escaped.
import { createRequire } from 'node:module'
import type { MarkdownIt, Token } from 'markdown-it'

export interface Heading {
  anchor: string
  text: string
}

export interface Rendered {
  title: string
  html: string
  /** Those of the second level. */
  headings: Heading[]
}

export type Resolve = (target: string) => string | null

interface Env {
  resolve: Resolve
  headings: Heading[]
}

let parser: MarkdownIt | undefined

/** `resolve` maps a link target to a URL; null renders only its text. */
export function renderMarkdown(text: string, resolve: Resolve): Rendered {
  const headings: Heading[] = []
  const html = (parser ??= createParser()).render(text, { resolve, headings })
  return { title: /^# (.+)$/m.exec(text)?.[1] ?? '', html, headings }
}

/** Loaded on the first request: most processes never serve documentation. */
function createParser(): MarkdownIt {
  const require = createRequire(import.meta.url)
  const markdown = new (require('markdown-it') as typeof MarkdownIt)('default', { html: false })
  const { rules } = markdown.renderer
  rules.fence = (tokens, at) => `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[at]!.content.trimEnd())}</code></pre>\n`
  rules.table_open = () => '<div class="scroll" tabindex="0"><table>'
  rules.table_close = () => '</table></div>\n'
  markdown.core.ruler.push('documentation', (state) => {
    const { tokens } = state
    const { resolve, headings } = state.env as unknown as Env
    dropEmptyHeads(tokens)
    tokens.forEach((token, at) => {
      if (token.type === 'heading_open') {
        const text = tokens[at + 1]!.content
        token.attrSet('id', anchorOf(text))
        if (token.tag === 'h2') headings.push({ anchor: anchorOf(text), text: text.replaceAll('`', '') })
      }
      if (token.children) resolveTargets(token.children, resolve)
    })
  })
  return markdown
}

function resolveTargets(tokens: Token[], resolve: Resolve): void {
  const open: (string | null)[] = []
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const address = resolve(String(token.attrGet('href') ?? ''))
      open.push(address)
      token.attrs = [['href', address ?? ''], ...(address && /^https?:/.test(address) ? [['rel', 'noreferrer'] as [string, string]] : [])]
      token.hidden = address === null
    } else if (token.type === 'link_close') token.hidden = open.pop() === null
    else if (token.type === 'image') resolveImage(token, resolve)
    if (token.hidden) Object.assign(token, { type: 'text', content: '' })
  }
}

function resolveImage(token: Token, resolve: Resolve): void {
  const address = resolve(String(token.attrGet('src') ?? ''))
  if (address === null) Object.assign(token, { type: 'text', children: null })
  token.attrSet('src', address ?? '')
  token.attrSet('loading', 'lazy')
}

/** A table without column titles has an empty first row, which screen readers would announce as headings. */
function dropEmptyHeads(tokens: Token[]): void {
  for (let at = 0; at < tokens.length; at++) {
    if (tokens[at]!.type !== 'thead_open') continue
    const end = tokens.findIndex(({ type }, i) => i > at && type === 'thead_close')
    if (tokens.slice(at, end).every(({ content }) => content.trim() === '')) tokens.splice(at, end - at + 1)
  }
}

/** The same anchors as other Markdown viewers, so that links work everywhere. */
export const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
