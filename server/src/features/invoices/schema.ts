import { Money, nullable, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { Transaction } from '../wallet/schema.ts'

const summary = {
  id: Type.String(),
  number: Type.String({ description: 'Without gaps over all invoices, for example INV-000042' }),
  month: Type.String({ description: 'For example 2027-01' }),
  currency: Type.String(),
  openingBalance: Money,
  charged: Type.String({ description: 'What was bought, less what was given back for it: decimal with two places' }),
  paid: Type.String({ description: 'What came into the wallet, less what was taken back: decimal with two places' }),
  closingBalance: Money,
  issuedAt: Timestamp,
}

export const InvoiceSummary = object(summary, { title: 'InvoiceSummary' })
export type InvoiceSummary = Static<typeof InvoiceSummary>

export const Invoice = object(
  {
    ...summary,
    seller: object({ name: Type.String(), address: Type.Array(Type.String()), tax: Type.String() }),
    customer: object({ name: Type.String(), email: Type.String() }),
    lines: Type.Array(Transaction, { description: 'The entries of the ledger, oldest first; at most 1,000' }),
    furtherLines: nullable(
      object(
        { count: Type.Integer(), amount: Money },
        {
          description:
            'How many entries follow beyond the first 1,000, and their sum: GET /wallet/transactions has each. Null where none do',
        },
      ),
    ),
    pageUrl: Type.String({ description: 'A page to print, for whoever has this link, for an hour' }),
  },
  { title: 'Invoice' },
)
export type Invoice = Static<typeof Invoice>
