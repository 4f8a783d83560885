// The printable invoice: one self-contained page outside of the API prefix, so that a browser can open it.
import type { FastifyInstance } from 'fastify'
import { escapeHtml as html, page } from '../../http/server/html-page.ts'
import type { RateLimit } from '../../http/api/rate-limit.ts'
import type { Deps } from '../deps.ts'
import type { Invoice } from './schema.ts'
import { openInvoice, PATH } from './service.ts'

interface Link {
  Params: { id: string }
  Querystring: { expires?: string; signature?: string }
}

export function serveInvoices(app: FastifyInstance, deps: Deps, rateLimit: RateLimit): void {
  app.get<Link>(`${PATH}/:id/page`, { onRequest: rateLimit.limitIp }, async ({ params, query }, reply) => {
    reply.header('cache-control', 'no-store')
    const { expires, signature } = query
    const invoice = await openInvoice(deps, params.id, { expires: String(expires ?? ''), signature: String(signature ?? '') })
    return page(reply, `Invoice ${invoice.number}`, toHtml(invoice), STYLE)
  })
}

const STYLE = `
table{width:100%;border-collapse:collapse;margin:2rem 0}th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid #ccc;vertical-align:top}
th:last-child,td:last-child{text-align:right;white-space:nowrap}td:first-child{white-space:nowrap}tfoot td{font-weight:600;border:0}
.parties{display:flex;justify-content:space-between;gap:2rem}thead{display:table-header-group}tr{break-inside:avoid}
@media print{body{margin:0;max-width:none}}`

function toHtml(invoice: Invoice): string {
  const { number, month, issuedAt, seller, customer, currency } = invoice
  return `<h1>Invoice ${html(number)}</h1>
<p>For ${html(month)} · issued ${day(issuedAt)} · all amounts in ${html(currency)}</p>
<div class="parties">
${party('From', [seller.name, ...seller.address, seller.tax])}
${party('To', [customer.name, customer.email])}
</div>
<table>
<thead><tr><th>Date</th><th>What</th><th>Amount</th></tr></thead>
<tbody>
${invoice.lines.map(({ createdAt, description, project, amount }) => row(day(createdAt), project ? `${project.name}: ${description}` : description, amount)).join('\n')}
${invoice.furtherLines ? row('', `${invoice.furtherLines.count} further transactions`, invoice.furtherLines.amount) : ''}
</tbody>
<tfoot>
${row('', 'Balance before', invoice.openingBalance)}
${row('', 'Paid in', invoice.paid)}
${row('', 'Charged', invoice.charged)}
${row('', 'Balance after', invoice.closingBalance)}
</tfoot>
</table>`
}

const day = (timestamp: string): string => html(timestamp.slice(0, 10))

const party = (title: string, lines: string[]): string =>
  `<p><strong>${title}</strong><br>${lines.filter(Boolean).map(html).join('<br>')}</p>`

const row = (date: string, what: string, amount: string): string =>
  `<tr><td>${date}</td><td>${html(what)}</td><td>${html(amount)}</td></tr>`
