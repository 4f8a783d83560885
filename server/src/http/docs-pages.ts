// The pages of the folder docs/, beside the reference: guides for customers, the operator's handbook, decisions, one page for each error.
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { CATALOGUE, notFound, type ErrorCode } from '../kernel/errors.ts'
import { DOCS } from '../kernel/places.ts'
import { anchorOf, escapeHtml, renderMarkdown } from './markdown.ts'

const SECTIONS: Record<string, string> = { guide: 'Guides', operate: "The operator's handbook", decisions: 'Decisions' }

/** Read in this order; what is not named follows by its title. */
const FIRST = ['tutorial', 'cli', 'sdk', 'install', '0001-one-database']

interface Page {
  path: string
  title: string
}

type Show = (reply: FastifyReply, html: string) => FastifyReply

export function servePages(app: FastifyInstance, counted: { onRequest: onRequestHookHandler }, show: Show): void {
  app.get('/docs/guides', counted, async (_, reply) => show(reply, framed('Berth documentation', contents())))
  for (const section of Object.keys(SECTIONS)) {
    app.get(`/docs/${section}/:page`, counted, async ({ params }, reply) => show(reply, pageAt(section, (params as { page: string }).page)))
    app.get(`/docs/${section}/files/:name`, counted, async ({ params }, reply) =>
      rawFile(reply, section, (params as { name: string }).name),
    )
  }
  app.get('/docs/guide/dashboard/:name', counted, async ({ params }, reply) => picture(reply, (params as { name: string }).name))
  app.get('/docs/examples', counted, async (_, reply) => show(reply, examplesPage()))
  app.get('/docs/errors', counted, async (_, reply) => show(reply, errorsPage()))
  for (const code of Object.keys(CATALOGUE) as ErrorCode[])
    app.get(`/docs/errors/${code}`, counted, async (_, reply) => show(reply, errorPage(code)))
}

const namesOf = (section: string): string[] => readdirSync(join(DOCS, section)).filter((name) => name.endsWith('.md'))

function pagesOf(section: string): Page[] {
  const rank = ({ path }: Page): number => (FIRST.indexOf(posix.basename(path)) + FIRST.length + 1) % (FIRST.length + 1)
  return namesOf(section)
    .map((name) => ({ path: `${section}/${name.slice(0, -3)}`, title: titleOf(`${section}/${name}`) }))
    .sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title))
}

const titleOf = (file: string): string => /^# (.+)$/m.exec(read(file))?.[1] ?? file
const read = (file: string): string => readFileSync(join(DOCS, file), 'utf8')

function contents(): string {
  const lists = Object.entries(SECTIONS).map(
    ([section, title]) =>
      `<h2 id="${section}">${title}</h2><ul>${pagesOf(section)
        .map(({ path, title }) => `<li><a href="/docs/${path}">${escapeHtml(title)}</a></li>`)
        .join('')}</ul>`,
  )
  const reference =
    '<ul><li><a href="/docs">The API, operation by operation</a></li><li><a href="/docs/examples">A request and its answer for every operation</a></li><li><a href="/docs/errors">Errors</a></li></ul>'
  return `<h1>Documentation</h1>${lists.join('')}<h2 id="reference">Reference</h2>${reference}`
}

function pageAt(section: string, page: string): string {
  if (!namesOf(section).includes(`${page}.md`)) throw notFound('Page')
  const path = `${section}/${page}`
  const { title, html } = renderMarkdown(read(`${path}.md`), (target) => addressFrom(path, target))
  return framed(title, html)
}

/** Links are written for whoever reads the files: here those to other pages lead to pages, and those to the source nowhere. */
function addressFrom(path: string, target: string): string | null {
  if (/^(https?:|#|\/)/.test(target)) return target
  const [file = '', anchor] = target.split('#')
  const found = posix.join(posix.dirname(path), file)
  if (found.startsWith('..')) return null
  return `/docs/${found.replace(/\.md$/, '')}${anchor ? `#${anchor}` : ''}`
}

/** What is meant to be copied, such as alert rules. */
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

interface Example {
  operationId: string
  summary: string
  tag: string
  method: string
  path: string
  body?: object
  status: number
  answer: object
}

/** As they were asked and answered by a test. */
function examplesPage(): string {
  const examples = JSON.parse(readFileSync(join(DOCS, '../openapi/examples.json'), 'utf8')) as Example[]
  const parts = Object.entries(Object.groupBy(examples, ({ tag }) => tag)).map(
    ([tag, all = []]) => `<h2 id="${anchorOf(tag)}">${escapeHtml(tag)}</h2>${all.map(exampleOf).join('')}`,
  )
  return framed('Berth API examples', `<h1>A request and its answer for every operation</h1>${parts.join('')}`)
}

function exampleOf({ operationId, summary, method, path, body, status, answer }: Example): string {
  const data = body ? ` \\\n  -H 'content-type: application/json' -d '${JSON.stringify(body)}'` : ''
  const request = `curl -X ${method} -H "x-api-key: $TOKEN" "$BERTH_URL/api/public/v1${path}"${data}`
  const shown = [request, `HTTP ${status}\n${JSON.stringify(answer, null, 2)}`].map((text) => `<pre><code>${escapeHtml(text)}</code></pre>`)
  return `<h3 id="${operationId}">${escapeHtml(summary)}</h3>${shown.join('')}`
}

function errorsPage(): string {
  const rows = Object.entries(CATALOGUE).map(
    ([code, { status, title }]) =>
      `<tr id="${code}"><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${title}</td></tr>`,
  )
  const intro =
    '<h1>Errors</h1><p>The code of an error is in the header <code>X-Error-Code</code>. Each has a page that says what to do.</p>'
  return framed('Berth API errors', `${intro}<table>${rows.join('')}</table>`)
}

function errorPage(code: ErrorCode): string {
  const { status, title } = CATALOGUE[code]
  const head = `<h1><code>${code}</code></h1><p><strong>${status}</strong> ${escapeHtml(title)}.</p>`
  return framed(
    `${code} · Berth API errors`,
    `${head}${renderMarkdown(explanationOf(code), (target) => addressFrom('errors', target)).html}`,
  )
}

/** The part of docs/errors.md that is under the code's own heading. */
function explanationOf(code: ErrorCode): string {
  const parts = read('errors.md').split(/^## /m)
  return parts.find((part) => anchorOf(part.split('\n')[0]!) === code)?.replace(/^.*\n/, '') ?? ''
}

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dee4, #3d444d); --quiet: light-dark(#f3f5f7, #1c2128); --link: light-dark(#0b5cad, #6cb0ff) }
body { font: 16px/1.6 system-ui, sans-serif; max-width: 52rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; background: light-dark(#fff, #14171c); color: light-dark(#1b1f24, #e3e7ec) }
nav { border-bottom: 1px solid var(--line); padding-bottom: .75rem; display: flex; gap: 1.25rem; flex-wrap: wrap }
a { color: var(--link) } h1 { line-height: 1.25 } h2 { margin-top: 2.2rem }
pre { background: var(--quiet); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto }
code { font: .9em ui-monospace, monospace } :not(pre) > code { background: var(--quiet); padding: .1em .3em; border-radius: 4px }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 6px }
table { border-collapse: collapse; display: block; overflow-x: auto } th, td { border: 1px solid var(--line); padding: .35rem .7rem; text-align: left; vertical-align: top }`

const NAV = '<nav><a href="/docs/guides">Documentation</a><a href="/docs">API reference</a><a href="/docs/errors">Errors</a></nav>'

const framed = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>${NAV}<main>${body}</main></body>
</html>
`
