// Self-contained HTML pages: no external resources, no scripts.
import type { FastifyReply } from 'fastify'

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** `body` is HTML: untrusted text must have been escaped with `escapeHtml`. */
export const page = (reply: FastifyReply, title: string, body: string, style = ''): FastifyReply =>
  reply
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .type('text/html; charset=utf-8')
    .send(frame(title, body, style))

const frame = (title: string, body: string, style: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:50rem;padding:0 1rem;color:#111;background:#fff}${style}</style></head>
<body>
${body}
</body>
</html>
`

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter]!)
