import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { Invoice, InvoiceSummary } from './schema.ts'
import { getInvoice, listInvoices } from './service.ts'

const tag = 'Wallet'
const scope = 'wallet:read'

export const invoiceRoutes: Routes = (api, deps) => {
  api.page(
    '/invoices',
    { operationId: 'listInvoices', summary: 'List invoices, the newest month first', tag, scope, isOfPayer: true, data: InvoiceSummary },
    ({ principal }, page) => listInvoices(deps.db, principal.accountId, page),
  )

  api.get(
    '/invoices/:id',
    {
      operationId: 'getInvoice',
      errorCodes: ['not_found'],
      summary: 'Get an invoice with its lines, and a link to a page to print',
      tag,
      scope,
      isOfPayer: true,
      params: { id: Type.String() },
      data: Invoice,
    },
    ({ principal, params: { id } }) => getInvoice(deps, principal.accountId, id),
  )
}
