// The API reference, rendered from the OpenAPI document and from recorded calls: parameters, responses, errors, and a form that sends the
// operation from the browser.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCS } from '../../kernel/paths.ts'
import { renderLayout, type Document } from './layout.ts'
import { anchorOf, renderMarkdown } from './markdown.ts'
import { escapeHtml } from '../server/html-page.ts'
import type { Json } from './openapi.ts'
import { aboutOf, fieldsOf, fieldTable, resolve, typeOf, type Field, type Schemas } from './reference-fields.ts'
import { tryForm, type Parameter } from './reference-fields.ts'

const TITLE = 'API reference'
const EXAMPLES = join(DOCS, '../openapi/examples.json')

interface Described {
  operationId: string
  summary: string
  description: string
  tags: [string]
  parameters?: Json[]
  requestBody?: { content: Content }
  responses: Record<string, { $ref?: string; content?: Content }>
}

interface Content {
  'application/json': { schema: Json }
}

export interface Example {
  operationId: string
  method: string
  path: string
  body?: object
  status: number
  answer: object
}

export interface Call {
  method: string
  path: string
  operation: Described
  example: Example | undefined
}

export interface Reference {
  index(): Document
  /** Undefined when there is no such group. */
  group(name: string): Document | undefined
}

interface OpenApi {
  info: { description: string }
  paths: Record<string, Record<string, Described>>
  components: { schemas: Schemas; parameters: Schemas }
}

export function openReference(prefix: string, document: Json): Reference {
  const { info, paths, components } = document as unknown as OpenApi
  const examples = JSON.parse(readFileSync(EXAMPLES, 'utf8')) as Example[]
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Call => {
      const example = examples.find(({ operationId }) => operationId === operation.operationId)
      return { method: method.toUpperCase(), path, operation, example }
    }),
  )
  const groups = Object.groupBy(calls, ({ operation }) => operation.tags[0])
  const side = (open?: string): string =>
    `<ul>${Object.entries(groups)
      .map(([tag, all = []]) => sideEntry(tag, open === tag ? all : [], open === tag))
      .join('')}</ul>`
  return {
    index: () =>
      renderLayout({ of: 'API', part: '/docs', side: { title: TITLE, html: side() }, body: indexBody(info.description, groups) }),
    group: (name) => {
      const tag = Object.keys(groups).find((each) => anchorOf(each) === name)
      if (tag === undefined) return undefined
      const body = `<h1>${escapeHtml(tag)}</h1>${credentialsForm(prefix)}${groups[tag]!.map((call) => operationOf(prefix, call, components)).join('')}`
      return renderLayout({
        title: tag,
        of: 'API',
        part: '/docs',
        side: { title: TITLE, html: side(tag) },
        body,
        scripts: ['try.js'],
      })
    },
  }
}

const groupPath = (tag: string): string => `/docs/reference/${anchorOf(tag)}`

function sideEntry(tag: string, calls: Call[], isOpen: boolean): string {
  const inner = calls.map(({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(shortOf(operation.summary))}</a></li>`)
  const current = isOpen ? ' aria-current="page"' : ''
  return `<li><a href="${groupPath(tag)}"${current}>${escapeHtml(tag)}</a>${inner.length > 0 ? `<ul>${inner.join('')}</ul>` : ''}</li>`
}

/** The summary up to its first punctuation. */
const shortOf = (summary: string): string => summary.split(/[,;:.]/)[0]!

const badge = (method: string): string => `<span class="method" data-method="${method}">${method}</span>`

function indexBody(about: string, groups: Partial<Record<string, Call[]>>): string {
  const parts = Object.entries(groups).map(([tag, calls = []]) => {
    const rows = calls.map(
      ({ method, path, operation }) =>
        `<tr><td>${badge(method)}</td><td><code>${escapeHtml(path)}</code></td><td><a href="${groupPath(tag)}#${operation.operationId}">${escapeHtml(operation.summary)}</a></td></tr>`,
    )
    const table = `<div class="scroll" tabindex="0"><table class="calls"><tbody>${rows.join('')}</tbody></table></div>`
    return `<h2 id="${anchorOf(tag)}">${escapeHtml(tag)}</h2>${table}`
  })
  const document = '<p>As a document for programs: <a href="/api/public/v1/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>'
  return `<h1>API reference</h1>${renderMarkdown(about, (target) => target).html}${document}${parts.join('')}`
}

const credentialsForm = (prefix: string): string => `<form id="credentials" class="card" data-prefix="${prefix}" hidden>
<fieldset><legend>Try it as</legend>
<label class="choice"><input type="radio" name="who" id="session"> <span>the signed-in user. <span id="whose" class="muted"></span></span></label>
<label class="choice"><input type="radio" name="who" id="key" checked> a program with an API key</label>
</fieldset>
<label class="wide">API key <input type="password" id="token" autocomplete="off" spellcheck="false"></label>
<p class="muted">The key stays in this page and is discarded when you leave it. Requests take effect.</p>
</form>`

function operationOf(prefix: string, { method, path, operation, example }: Call, { schemas, parameters }: OpenApi['components']): string {
  const known = (operation.parameters ?? []).map((each) => resolve(each, parameters) as unknown as Parameter)
  const body = operation.requestBody?.content['application/json'].schema
  const taken: Field[] = known.map((each) => ({
    name: each.name,
    type: typeOf(each.schema, schemas),
    required: each.required,
    about: `${aboutOf({ description: each.description, ...each.schema }, schemas)} (${each.in})`.trim(),
  }))
  const parts = [
    `<h2>${escapeHtml(operation.summary)}</h2>`,
    `<p class="call">${badge(method)} <code>${escapeHtml(`${prefix}${path}`)}</code></p>`,
    renderMarkdown(operation.description, () => null).html,
    taken.length > 0 ? `<h3>Parameters</h3>${fieldTable(taken)}` : '',
    body ? `<h3>Body</h3>${fieldTable(fieldsOf(body, schemas))}` : '',
    example ? exampleOf(prefix, example) : '',
    responseFields(operation, schemas),
    errorList(operation),
    tryForm({ method, path, parameters: known, body: body ? (example?.body ?? {}) : undefined }, schemas),
  ]
  return `<section class="operation" id="${operation.operationId}">${parts.join('\n')}</section>`
}

function exampleOf(prefix: string, { method, path, body, status, answer }: Example): string {
  const data = body ? ` \\\n  -H 'content-type: application/json' -d '${JSON.stringify(body)}'` : ''
  const request = `curl -X ${method} -H "x-api-key: $TOKEN" "$BERTH_URL${prefix}${path}"${data}`
  const shown = { Request: request, Answer: `HTTP ${status}\n${JSON.stringify(answer, null, 2)}` }
  const blocks = Object.entries(shown).map(
    ([name, text]) => `<pre tabindex="0" aria-label="${name}"><code>${escapeHtml(text)}</code></pre>`,
  )
  return `<h3>Example</h3>${blocks.join('')}`
}

function responseFields({ responses }: Described, schemas: Schemas): string {
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400)
  return answers
    .map(([status, { content }]) => {
      const fields = content ? fieldsOf(content['application/json'].schema, schemas) : []
      return `<details><summary>Response fields (${status})</summary>${fieldTable(fields)}</details>`
    })
    .join('')
}

/** Error responses are named after their codes. */
function errorList({ responses }: Described): string {
  const entries = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  const items = entries.map(([status, { $ref = '' }]) => {
    const codes = $ref.replace(/^.*\//, '').split('.')
    return `<li>${status}: ${codes.map((code) => `<a href="/docs/errors/${code}"><code>${code}</code></a>`).join(', ')}</li>`
  })
  return `<details><summary>Errors</summary><ul>${items.join('')}</ul></details>`
}
