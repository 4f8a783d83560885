import type { InvoiceSummary } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { invoicesQuery } from '../../queries/account.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { walletMessages as w } from '../../words/words.ts'
import { formatMonth } from './months.ts'

const COLUMNS: Column<InvoiceSummary>[] = [
  {
    head: w.number,
    cell: ({ id, number }) => (
      <Link to="/wallet/invoices/$invoiceId" params={{ invoiceId: id }}>
        {number}
      </Link>
    ),
  },
  { head: w.month, cell: ({ month }) => formatMonth(month) },
  { head: w.date, cell: ({ issuedAt }) => <Time at={issuedAt} as="date" /> },
  { head: w.invoice.opening, right: true, cell: ({ openingBalance, currency }) => formatMoney(openingBalance, currency) },
  { head: w.invoice.paid, right: true, cell: ({ paid, currency }) => formatMoney(paid, currency) },
  { head: w.charged, right: true, cell: ({ charged, currency }) => <strong>{formatMoney(charged, currency)}</strong> },
  { head: w.invoice.closing, right: true, cell: ({ closingBalance, currency }) => formatMoney(closingBalance, currency) },
]

export function Invoices() {
  const { search } = usePaging()
  const invoices = useQuery(invoicesQuery({ page: search.page, limit: search.limit }))
  return (
    <Card flush title={w.invoices}>
      <PagedTable
        of={invoices}
        caption={w.invoices}
        columns={COLUMNS}
        empty={<Empty icon="wallet" title={w.invoices} about={w.noInvoices} />}
      />
    </Card>
  )
}
