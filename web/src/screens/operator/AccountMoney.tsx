// The ledger of a customer, with a refund for each charge.
import { Button, TextInput } from '@mantine/core'
import type { Transaction } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { accountTransactionsQuery, operatorRequest } from '../../api/operator.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorAccountMessages as w, operatorMessages, walletMessages } from '../../words/words.ts'

interface Props {
  accountId: string
  currency: string
}

export function AccountMoney({ accountId, currency }: Props) {
  const [refunded, setRefunded] = useState<Transaction | null>(null)
  const { search } = usePaging()
  const transactions = useQuery(accountTransactionsQuery(accountId, { page: search.page, limit: search.limit }))
  const columns: Column<Transaction>[] = [
    { head: walletMessages.date, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { head: walletMessages.type, cell: ({ type }) => walletMessages.types[type] },
    { head: walletMessages.description, grow: true, truncate: ({ description }) => description, cell: ({ description }) => description },
    { head: walletMessages.amount, right: true, cell: ({ amount }) => formatMoney(amount, currency) },
    {
      head: walletMessages.balanceAfter,
      right: true,
      cell: ({ balanceAfter }) => <span className="muted">{balanceAfter === null ? '' : formatMoney(balanceAfter, currency)}</span>,
    },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (each) =>
        each.amount.startsWith('-') && (
          <Button variant="default" size="xs" onClick={() => setRefunded(each)}>
            {w.refund} <span className="hidden">{each.description}</span>
          </Button>
        ),
    },
  ]
  return (
    <Card flush title={w.transactions}>
      <PagedTable
        of={transactions}
        caption={w.transactions}
        columns={columns}
        empty={<Empty icon="wallet" title={w.transactions} about={w.noTransactions} />}
      />
      {refunded && <Refund accountId={accountId} currency={currency} of={refunded} onClose={() => setRefunded(null)} />}
    </Card>
  )
}

/** All of the charge or less of it. */
function Refund({ accountId, currency, of, onClose }: Props & { of: Transaction; onClose: () => void }) {
  const charged = of.amount.replace('-', '')
  const [amount, setAmount] = useState(charged)
  const [reason, setReason] = useState(w.refundReason(of.description).slice(0, 500))
  const write = useWrite(() => operatorRequest<{ balance: string }>('POST', `/accounts/${accountId}/credit`, { amount, reason }), {
    inForm: true,
    invalidates: ['operator', 'wallet'],
    successMessage: ({ balance }) => w.refunded(formatMoney(balance, currency)),
    onDone: onClose,
  })
  return (
    <Dialog title={w.refundTitle(formatMoney(charged, currency))} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.refund} onCancel={onClose}>
        <p>{w.refundAbout(of.description)}</p>
        <TextInput
          label={operatorMessages.accounts.amount}
          inputMode="decimal"
          value={amount}
          onChange={(event) => setAmount(event.currentTarget.value.trim())}
          error={fieldError(write.error, 'amount')}
          data-autofocus
        />
        <TextInput
          label={operatorMessages.accounts.reason}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={fieldError(write.error, 'reason')}
        />
      </Form>
    </Dialog>
  )
}
