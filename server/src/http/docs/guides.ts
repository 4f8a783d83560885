// The pages of the folder docs/: guides for customers, the operator's handbook, decisions, and one page per error.
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { ERROR_CATALOG, notFound, type ErrorCode } from '../../kernel/errors.ts'
import { DOCS } from '../../kernel/paths.ts'
import { renderLayout, sendPage as show } from './layout.ts'
import { anchorOf, renderMarkdown } from './markdown.ts'
import { escapeHtml } from '../server/html-page.ts'

const SECTIONS: Record<string, string> = { guide: 'Guides', operate: "The operator's handbook", decisions: 'Decisions' }

/** Listed first, in this order; the others follow by title. */
const FIRST = ['tutorial', 'cli', 'sdk', 'install', '0001-one-database']

interface Page {
  path: string
  title: string
}

export function servePages(app: FastifyInstance, counted: { onRequest: onRequestHookHandler }): void {
  app.get('/docs/guides', counted, async (_, reply) => show(reply, guide('Berth documentation', contents())))
  for (const section of Object.keys(SECTIONS)) {
    app.get(`/docs/${section}/:page`, counted, async ({ params }, reply) => show(reply, pageAt(section, (params as { page: string }).page)))
    app.get(`/docs/${section}/files/:name`, counted, async ({ params }, reply) =>
      rawFile(reply, section, (params as { name: string }).name),
    )
  }
  app.get('/docs/guide/dashboard/:name', counted, async ({ params }, reply) => picture(reply, (params as { name: string }).name))
  app.get('/docs/errors', counted, async (_, reply) => show(reply, errorsPage()))
  for (const code of Object.keys(ERROR_CATALOG) as ErrorCode[])
    app.get(`/docs/errors/${code}`, counted, async (_, reply) => show(reply, errorPage(code)))
}

const namesOf = (section: string): string[] => readdirSync(join(DOCS, section)).filter((name) => name.endsWith('.md'))

function pagesOf(section: string): Page[] {
  const rank = ({ path }: Page): number => (FIRST.indexOf(posix.basename(path)) + FIRST.length + 1) % (FIRST.length + 1)
  return namesOf(section)
    .map((name) => ({ path: `${section}/${name.slice(0, -3)}`, title: titleOf(`${section}/${name}`) }))
    .sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title, 'en', { numeric: true }))
}

const titleOf = (file: string): string => /^# (.+)$/m.exec(read(file))?.[1] ?? file
const read = (file: string): string => readFileSync(join(DOCS, file), 'utf8')

function listOf(section: string, open?: string): string {
  const items = pagesOf(section).map(
    ({ path, title }) => `<li><a href="/docs/${path}"${path === open ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`,
  )
  return `<ul>${items.join('')}</ul>`
}

function contents(): string {
  const lists = Object.entries(SECTIONS).map(([section, title]) => `<h2 id="${section}">${title}</h2>${listOf(section)}`)
  const reference = '<ul><li><a href="/docs">The API, operation by operation</a></li><li><a href="/docs/errors">Errors</a></li></ul>'
  return `<h1>Documentation</h1>${lists.join('')}<h2 id="reference">Reference</h2>${reference}`
}

function pageAt(section: string, page: string): string {
  if (!namesOf(section).includes(`${page}.md`)) throw notFound('Page')
  const path = `${section}/${page}`
  const { title, html } = renderMarkdown(read(`${path}.md`), (target) => addressFrom(path, target))
  return guide(title, html, path)
}

/** Links are written for readers of the files: here links to other pages become URLs, and links to source files plain text. */
function addressFrom(path: string, target: string): string | null {
  if (/^(https?:|#|\/)/.test(target)) return target
  const [file = '', anchor] = target.split('#')
  const found = posix.join(posix.dirname(path), file)
  if (found.startsWith('..')) return null
  return `/docs/${found.replace(/\.md$/, '')}${anchor ? `#${anchor}` : ''}`
}

/** Files to copy, such as alert rules. */
function rawFile(reply: FastifyReply, section: string, name: string): FastifyReply {
  const folder = join(DOCS, section, 'files')
  if (!readdirSync(folder).includes(name)) throw notFound('File')
  return reply
    .type('text/plain; charset=utf-8')
    .header('x-content-type-options', 'nosniff')
    .send(readFileSync(join(folder, name), 'utf8'))
}

async function picture(reply: FastifyReply, name: string): Promise<FastifyReply> {
  const folder = join(DOCS, 'guide/dashboard')
  if (!readdirSync(folder).includes(name)) throw notFound('Picture')
  return reply
    .type('image/png')
    .header('cache-control', 'public, max-age=3600')
    .send(await readFile(join(folder, name)))
}

function errorsPage(): string {
  const rows = Object.entries(ERROR_CATALOG).map(
    ([code, { status, title }]) =>
      `<tr id="${code}"><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${title}</td></tr>`,
  )
  const intro =
    '<h1>Errors</h1><p>The code of an error is in the header <code>X-Error-Code</code>. Each has a page with its cause and what to do.</p>'
  const head = '<thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead>'
  const table = `<div class="scroll" tabindex="0"><table>${head}<tbody>${rows.join('')}</tbody></table></div>`
  return renderLayout({ title: 'Berth API errors', body: `${intro}${table}`, part: '/docs/errors' })
}

function errorPage(code: ErrorCode): string {
  const { status, title } = ERROR_CATALOG[code]
  const head = `<h1><code>${code}</code></h1><p><strong>${status}</strong> ${escapeHtml(title)}.</p>`
  const { html } = renderMarkdown(explanationOf(code), (target) => addressFrom('errors', target))
  return renderLayout({ title: `${code} · Berth API errors`, body: `${head}${html}`, part: '/docs/errors' })
}

/** The section of docs/errors.md under the code's heading. */
function explanationOf(code: ErrorCode): string {
  const parts = read('errors.md').split(/^## /m)
  return parts.find((part) => anchorOf(part.split('\n')[0]!) === code)?.replace(/^.*\n/, '') ?? ''
}

/** The navigation beside a guide. */
const side = (open?: string): string =>
  Object.entries(SECTIONS)
    .map(([section, title]) => `<p>${title}</p>${listOf(section, open)}`)
    .join('')

const guide = (title: string, body: string, path?: string): string =>
  renderLayout({ title, body, part: '/docs/guides', side: side(path), scripts: ['copy.js'] })
