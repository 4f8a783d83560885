import { Button } from '@mantine/core'
import type { InvoiceSummary } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { invoicesQuery } from '../../queries/account.ts'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { commonMessages, walletMessages as w } from '../../words/words.ts'

export function Invoices() {
  const invoices = useQuery(invoicesQuery)
  const open = useWrite((id: string) => berth.invoices.get(id), { onDone: ({ pageUrl }) => location.assign(pageUrl) })
  const columns: Column<InvoiceSummary>[] = [
    { head: w.month, cell: ({ month }) => <strong>{month}</strong> },
    { head: w.number, cell: ({ number }) => <code>{number}</code> },
    { head: w.charged, right: true, cell: ({ charged, currency }) => formatMoney(charged, currency) },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: ({ id, number }) => (
        <Button variant="default" size="xs" aria-label={w.openOf(number)} onClick={() => open.mutate(id)}>
          {w.open}
        </Button>
      ),
    },
  ]
  return (
    <Card flush title={w.invoices}>
      <Loaded of={invoices} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted" style={{ padding: '18px 20px' }}>
              {w.noInvoices}
            </p>
          ) : (
            <Table caption={w.invoices} columns={columns} rows={items} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}
