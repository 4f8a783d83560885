// The frame of every documentation page: the dashboard's colours, type and header. Style and scripts are separate files, so that the
// content security policy can forbid everything inline.
import type { FastifyReply } from 'fastify'
import { escapeHtml } from '../server/html-page.ts'

/** Own origin only. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply
    .headers({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' })
    .type('text/html; charset=utf-8')
    .send(html)

export interface Frame {
  title: string
  /** HTML, like `side`. */
  body: string
  /** The navigation beside the page. */
  side?: string
  /** The section in the header. */
  part: '/docs' | '/docs/guides' | '/docs/errors'
  scripts?: string[]
}

const PARTS = { '/docs': 'API reference', '/docs/guides': 'Guides', '/docs/errors': 'Errors' }

const MARK =
  '<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0b6e61"/><path d="M9 8v12.5a3.5 3.5 0 0 0 3.5 3.5h7a3.5 3.5 0 0 0 3.5-3.5V8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/><rect x="13" y="10" width="6" height="8.5" rx="1.8" fill="#ffb38a"/></svg>'

const partLink = ([path, name]: [string, string], part: string): string =>
  `<a href="${path}"${path === part ? ' aria-current="page"' : ''}>${name}</a>`

export const renderLayout = ({ title, body, side, part, scripts = [] }: Frame): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title><link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="/docs/files/style.css"><script src="/docs/files/colours.js"></script></head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/docs/guides">${MARK}Berth <span>docs</span></a><nav aria-label="Documentation">${Object.entries(PARTS)
  .map((each) => partLink(each, part))
  .join('')}</nav><button type="button" id="colours" hidden>Dark</button><a class="to-dashboard" href="/">Dashboard</a></header>
<div class="columns">${side ? `<nav class="side" aria-label="On these pages">${side}</nav>` : ''}<main id="content" tabindex="-1">
${body}
</main></div>
${scripts.map((name) => `<script type="module" src="/docs/files/${name}"></script>`).join('')}
</body>
</html>
`
