import { Button, NativeSelect, TextInput } from '@mantine/core'
import type { Query, Transaction } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { useIsProject } from '../../api/session.ts'
import { transactionsQuery } from '../../queries/account.ts'
import { saveCsv } from '../../ui/csv.ts'
import { Filters } from '../../ui/Filters.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, walletMessages as w } from '../../words/words.ts'

type Type = Transaction['type']
type Filter = Pick<Query<'listWalletTransactions'>, 'type' | 'dateFrom' | 'dateTo'>

export function Transactions({ currency }: { currency: string }) {
  const { search, filter } = usePaging()
  const type = search.type && search.type in w.types ? (search.type as Type) : undefined
  const chosen: Filter = { type, dateFrom: search.dateFrom, dateTo: search.dateTo }
  const transactions = useQuery(transactionsQuery({ ...chosen, page: search.page, limit: search.limit }))
  const isFiltered = Object.values(chosen).some((value) => value !== undefined)
  const isProject = useIsProject()
  const columns: Column<Transaction>[] = [
    { head: w.date, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { head: w.type, cell: (each) => w.types[each.type] },
    { head: w.description, grow: true, truncate: ({ description }) => description, cell: ({ description }) => description },
    { head: w.amount, right: true, cell: ({ amount }) => <Amount amount={amount} currency={currency} /> },
    ...(isProject ? [] : [OF_PROJECT, balanceIn(currency)]),
  ]
  return (
    <Card flush title={w.transactions} actions={<Download filter={chosen} />}>
      <Filters>
        <NativeSelect
          label={w.type}
          value={type ?? ''}
          onChange={(event) => filter({ type: event.currentTarget.value || undefined })}
          data={[{ value: '', label: commonMessages.all }, ...Object.entries(w.types).map(([value, label]) => ({ value, label }))]}
        />
        <TextInput
          type="date"
          label={w.from}
          value={search.dateFrom ?? ''}
          onChange={(event) => filter({ dateFrom: event.currentTarget.value || undefined })}
        />
        <TextInput
          type="date"
          label={w.to}
          value={search.dateTo ?? ''}
          onChange={(event) => filter({ dateTo: event.currentTarget.value || undefined })}
        />
      </Filters>
      <PagedTable
        of={transactions}
        caption={w.transactions}
        columns={columns}
        empty={<Empty icon="wallet" title={w.empty} about={isFiltered ? w.emptyFiltered : w.emptyAbout} />}
      />
    </Card>
  )
}

const OF_PROJECT: Column<Transaction> = {
  head: w.project,
  truncate: ({ project }) => project?.name ?? '',
  cell: ({ project }) => project?.name,
}

const balanceIn = (currency: string): Column<Transaction> => ({
  head: w.balanceAfter,
  right: true,
  cell: ({ balanceAfter }) => <span className="muted">{formatMoney(balanceAfter, currency)}</span>,
})

const Amount = ({ amount, currency }: { amount: string; currency: string }) => (
  <strong style={amount.startsWith('-') ? undefined : { color: 'var(--accent-text)' }}>
    {amount.startsWith('-') ? '' : '+'}
    {formatMoney(amount, currency)}
  </strong>
)

/** Exports all pages that match the filter. */
function Download({ filter }: { filter: Filter }) {
  const download = useWrite(async () => {
    const all = await berth.wallet.transactions(filter).all()
    saveCsv(
      'transactions.csv',
      w.csvHead,
      all.map(({ createdAt, type, description, amount, balanceAfter, referenceId, project }) => [
        createdAt,
        type,
        description,
        amount,
        balanceAfter ?? '',
        referenceId,
        project?.name ?? '',
      ]),
    )
  })
  return (
    <Button variant="default" size="xs" loading={download.isPending} onClick={() => download.mutate()}>
      {w.csv}
    </Button>
  )
}
