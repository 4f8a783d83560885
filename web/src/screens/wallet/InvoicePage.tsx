import { Button } from '@mantine/core'
import type { Invoice } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { invoiceQuery } from '../../queries/account.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { formatDate, formatMoney } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Facts, Page } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { walletMessages } from '../../words/words.ts'
import { daysOf, formatMonth } from './months.ts'
import { useTransactionColumns } from './Transactions.tsx'
import css from './wallet.module.css'

const w = walletMessages.invoice

export default function InvoicePage() {
  const { invoiceId = '' } = useParams({ strict: false })
  const invoice = useQuery(invoiceQuery(invoiceId))
  return (
    <Loaded isPage of={invoice}>
      {(data) => <InvoiceView invoice={data} />}
    </Loaded>
  )
}

function InvoiceView({ invoice }: { invoice: Invoice }) {
  const { number, month, issuedAt, currency, seller, customer, lines, furtherLines, pageUrl } = invoice
  const columns = useTransactionColumns(currency)
  const above = (
    <TextLink to="/wallet" search={{ tab: 'invoices' }}>
      {w.back}
    </TextLink>
  )
  const print = (
    <Button component="a" href={pageUrl} target="_blank" rel="noreferrer" variant="default">
      {w.print}
    </Button>
  )
  return (
    <Page title={w.title(number)} about={w.about(formatMonth(month), formatDate(issuedAt))} above={above} actions={print}>
      <Card>
        <Facts
          facts={[
            [w.opening, formatMoney(invoice.openingBalance, currency)],
            [w.paid, formatMoney(invoice.paid, currency)],
            [w.charged, <strong key="">{formatMoney(invoice.charged, currency)}</strong>],
            [w.closing, formatMoney(invoice.closingBalance, currency)],
          ]}
        />
      </Card>
      <Columns>
        <Party title={w.from} lines={[seller.name, ...seller.address, seller.tax]} />
        <Party title={w.to} lines={[customer.name, customer.email]} />
      </Columns>
      <Card flush title={w.lines}>
        <Table caption={w.lines} columns={columns} rows={lines} rowKey={({ id }) => id} />
        {furtherLines && <p className={css['note']}>{w.further(furtherLines.count, formatMoney(furtherLines.amount, currency))}</p>}
        <p className={css['note']}>
          <TextLink to="/wallet" search={{ tab: 'transactions', ...daysOf(month) }}>
            {w.allOfMonth}
          </TextLink>
        </p>
      </Card>
    </Page>
  )
}

const Party = ({ title, lines }: { title: string; lines: string[] }) => (
  <Card title={title}>
    <address className={css['party']}>
      {lines.filter(Boolean).map((line) => (
        <div key={line}>{line}</div>
      ))}
    </address>
  </Card>
)
