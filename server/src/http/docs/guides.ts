// The pages of the folder docs/: guides for customers, the operator's handbook, decisions, and one page per error.
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { ERROR_CATALOG, notFound, type ErrorCode } from '../../kernel/errors.ts'
import { DOCS } from '../../kernel/paths.ts'
import { contentsOf, FOLDERS, namesOf, neighboursOf, partOf, read, type Page, type PartName } from './contents.ts'
import { renderLayout, sendPage, type Document, type PartPath } from './layout.ts'
import { anchorOf, renderMarkdown, type Heading } from './markdown.ts'
import { marked, searchGuides, wordsOf } from './search.ts'
import { escapeHtml } from '../server/html-page.ts'
import type { Skin } from '../server/skin.ts'

const PATHS: Record<PartName, PartPath> = { guides: '/docs/guides', handbook: '/docs/handbook' }

export function servePages(app: FastifyInstance, counted: { onRequest: onRequestHookHandler }, skin: () => Promise<Skin>): void {
  const show = async (reply: FastifyReply, document: Document): Promise<FastifyReply> => sendPage(reply, document, await skin())
  for (const part of Object.keys(PATHS) as PartName[]) app.get(PATHS[part], counted, async (_, reply) => show(reply, contents(part)))
  app.get('/docs/search', counted, async ({ query }, reply) => {
    const { q } = query as { q?: unknown }
    return show(reply, searchPage(typeof q === 'string' ? q : ''))
  })
  for (const section of FOLDERS) {
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

const linkTo = ({ path, title }: Page, open?: string): string =>
  `<a href="/docs/${path}"${path === open ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a>`

const listOf = (pages: Page[], open?: string): string => `<ul>${pages.map((page) => `<li>${linkTo(page, open)}</li>`).join('')}</ul>`

function contents(part: PartName): Document {
  const { title, about, topics } = contentsOf(part)
  const lists = topics.map((topic) => `<section><h2 id="${anchorOf(topic.title)}">${topic.title}</h2>${listOf(topic.pages)}</section>`)
  const more =
    part === 'guides'
      ? '<section><h2 id="reference">Reference</h2><ul><li><a href="/docs">The API, operation by operation</a></li><li><a href="/docs/errors">Errors</a></li></ul></section>'
      : ''
  return guide({ title, body: `<h1>${title}</h1><p>${about}</p><div class="topics">${lists.join('')}${more}</div>`, part })
}

function pageAt(section: string, page: string): Document {
  if (!namesOf(section).includes(page)) throw notFound('Page')
  const path = `${section}/${page}`
  const { title, html, headings } = renderMarkdown(read(`${path}.md`), (target) => addressFrom(path, target))
  return guide({ title, body: `${html}${neighbours(path)}`, part: partOf(section), path, headings })
}

function neighbours(path: string): string {
  const { before, after } = neighboursOf(path)
  const links = [
    before && `<a class="before" rel="prev" href="/docs/${before.path}"><small>Previous</small>${escapeHtml(before.title)}</a>`,
    after && `<a class="after" rel="next" href="/docs/${after.path}"><small>Next</small>${escapeHtml(after.title)}</a>`,
  ]
  return `<nav class="neighbours" aria-label="Previous and next page">${links.filter(Boolean).join('')}</nav>`
}

function searchPage(query: string): Document {
  const words = wordsOf(query)
  const results = searchGuides(query)
  const items = results.map(
    ({ address, place, heading, excerpt }) =>
      `<li><a href="${address}">${marked(heading, words)}</a><small>${escapeHtml(place)}</small><p>${marked(excerpt, words)}</p></li>`,
  )
  const found = results.length === 0 ? 'Nothing found' : results.length === 1 ? '1 result' : `${results.length} results`
  const said =
    query.trim() === '' ? '<p>Type what you are looking for.</p>' : `<p role="status">${found} for “${escapeHtml(query.slice(0, 100))}”</p>`
  return renderLayout({
    title: 'Search',
    of: 'documentation',
    body: `<h1>Search</h1><div id="results">${said}<ol class="results">${items.join('')}</ol></div>`,
    query,
    scripts: ['search.js'],
  })
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

function errorsPage(): Document {
  const rows = Object.entries(ERROR_CATALOG).map(
    ([code, { status, title }]) =>
      `<tr id="${code}"><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${title}</td></tr>`,
  )
  const intro =
    '<h1>Errors</h1><p>The code of an error is in the header <code>X-Error-Code</code>. Each has a page with its cause and what to do.</p>'
  const head = '<thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead>'
  const table = `<div class="scroll" tabindex="0"><table>${head}<tbody>${rows.join('')}</tbody></table></div>`
  return renderLayout({ of: 'API errors', body: `${intro}${table}`, part: '/docs/errors' })
}

function errorPage(code: ErrorCode): Document {
  const { status, title } = ERROR_CATALOG[code]
  const head = `<h1><code>${code}</code></h1><p><strong>${status}</strong> ${escapeHtml(title)}.</p>`
  const { html } = renderMarkdown(explanationOf(code), (target) => addressFrom('errors', target))
  return renderLayout({ title: code, of: 'API errors', body: `${head}${html}`, part: '/docs/errors' })
}

/** The section of docs/errors.md under the code's heading. */
function explanationOf(code: ErrorCode): string {
  const parts = read('errors.md').split(/^## /m)
  return parts.find((part) => anchorOf(part.split('\n')[0]!) === code)?.replace(/^.*\n/, '') ?? ''
}

/** The navigation beside a guide: of its own part alone. */
const side = (part: PartName, open?: string): string =>
  contentsOf(part)
    .topics.map((topic) => `<p>${topic.title}</p>${listOf(topic.pages, open)}`)
    .join('')

interface Guide {
  title: string
  body: string
  part: PartName
  path?: string
  headings?: Heading[]
}

const guide = ({ title, body, part, path, headings = [] }: Guide): Document =>
  renderLayout({
    title,
    ...(path === undefined && { of: 'documentation' }),
    body,
    part: PATHS[part],
    side: { title: contentsOf(part).title, html: side(part, path) },
    headings,
    scripts: ['copy.js'],
  })
