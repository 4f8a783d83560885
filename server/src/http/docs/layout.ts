// The frame of every documentation page: the dashboard's colours, type and header. Style and scripts are separate files, so that the
// content security policy can forbid everything inline.
import type { FastifyReply } from 'fastify'
import type { Heading } from './markdown.ts'
import { escapeHtml } from '../server/html-page.ts'
import type { Skin } from '../server/skin.ts'

/** Own origin only. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'", // the search
  "frame-ancestors 'none'",
].join('; ')

/** A page, as an operator has made the product look. */
export type Document = (skin: Skin) => string

export const sendPage = (reply: FastifyReply, document: Document, skin: Skin): FastifyReply =>
  reply
    .headers({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' })
    .type('text/html; charset=utf-8')
    .send(document(skin))

export interface Frame {
  /** None on the first page of what it is of. */
  title?: string
  /** Behind the name of the product in the title; without it the title stands alone. */
  of?: 'API' | 'API errors' | 'documentation'
  /** HTML, like that of `side`. */
  body: string
  /** The navigation beside the page. */
  side?: { title: string; html: string }
  /** For the table of contents of the page. */
  headings?: Heading[]
  /** The section in the header. */
  part?: PartPath
  /** What was searched for. */
  query?: string
  scripts?: string[]
}

const PARTS = { '/docs/guides': 'Guides', '/docs': 'API reference', '/docs/errors': 'Errors', '/docs/handbook': 'For operators' }

export type PartPath = keyof typeof PARTS

const MARK =
  '<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0b6e61"/><path d="M9 8v12.5a3.5 3.5 0 0 0 3.5 3.5h7a3.5 3.5 0 0 0 3.5-3.5V8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/><rect x="13" y="10" width="6" height="8.5" rx="1.8" fill="#ffb38a"/></svg>'

const partLink = ([path, name]: [string, string], part: string | undefined): string =>
  `<a href="${path}"${path === part ? ' aria-current="page"' : ''}>${name}</a>`

const searchForm = (query: string): string =>
  `<form role="search" action="/docs/search"><input type="search" name="q" aria-label="Search the documentation" placeholder="Search" value="${escapeHtml(query)}" maxlength="100" autocomplete="off"></form>`

/** Beside the page, and folded above it where there is no room. */
const sideOf = ({ title, html }: { title: string; html: string }): string =>
  `<nav class="side" aria-label="${escapeHtml(title)}">${html}</nav><details class="fold"><summary>${escapeHtml(title)}</summary><nav aria-label="${escapeHtml(title)}">${html}</nav></details>`

function tableOfContents(headings: Heading[]): string {
  if (headings.length < 2) return ''
  const list = `<ul>${headings.map(({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`).join('')}</ul>`
  return `<nav class="toc" aria-label="On this page"><p>On this page</p>${list}</nav><details class="fold toc-fold"><summary>On this page</summary><nav aria-label="On this page">${list}</nav></details>`
}

const titleOf = (title: string | undefined, of: string | undefined, name: string): string =>
  [title, of && `${name} ${of}`].filter((each) => each !== undefined).join(' · ')

/** Both logos, of which the style shows the one of the theme. */
function brandOf({ name, logo }: Skin): string {
  if (logo === null) return `${MARK}${escapeHtml(name)}`
  const alt = logo.showName ? '' : escapeHtml(name)
  const image = (path: string, theme: string): string => `<img class="${theme}" src="${escapeHtml(path)}" alt="${alt}" height="26">`
  return `${image(logo.light, 'on-light')}${image(logo.dark, 'on-dark')}${logo.showName ? escapeHtml(name) : ''}`
}

export const renderLayout =
  ({ title, of, body, side, headings = [], part, query = '', scripts = [] }: Frame): Document =>
  (skin) =>
    `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(titleOf(title, of, skin.name))}</title><link rel="icon" href="${escapeHtml(skin.icon)}"><link rel="stylesheet" href="/docs/files/style.css">${skin.docsCss && '<link rel="stylesheet" href="/branding/docs.css">'}<script src="/docs/files/colours.js"></script></head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/docs/guides">${brandOf(skin)} <span>docs</span></a><nav aria-label="Documentation">${Object.entries(PARTS)
      .map((each) => partLink(each, part))
      .join(
        '',
      )}</nav>${searchForm(query)}<button type="button" id="colours" hidden>Dark</button><a class="to-dashboard" href="/">Dashboard</a></header>
<div class="columns">${side ? sideOf(side) : ''}${tableOfContents(headings)}<main id="content" tabindex="-1">
${body}
</main></div>
${scripts.map((name) => `<script type="module" src="/docs/files/${name}"></script>`).join('')}
</body>
</html>
`
