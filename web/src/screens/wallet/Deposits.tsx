import type { Deposit } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { depositsQuery } from '../../queries/account.ts'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, walletMessages as w } from '../../words/words.ts'

/** Pending deposits only; completed ones are listed as transactions. */
export function Deposits() {
  const deposits = useQuery(depositsQuery).data?.items.filter(({ status }) => status === 'PENDING' || status === 'PROCESSING') ?? []
  if (deposits.length === 0) return null
  const columns: Column<Deposit>[] = [
    { head: w.amount, cell: ({ amount, currency }) => <strong>{formatMoney(amount, currency)}</strong> },
    { head: commonMessages.status, cell: ({ status }) => <StatusBadge status={status} /> },
    { head: w.date, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: ({ checkoutUrl, instructions }) =>
        checkoutUrl ? <a href={checkoutUrl}>{w.openPayment}</a> : <span className="muted">{instructions}</span>,
    },
  ]
  return (
    <Card flush title={w.deposits}>
      <Table caption={w.deposits} columns={columns} rows={deposits} rowKey={({ id }) => id} />
    </Card>
  )
}
