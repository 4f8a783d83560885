import { Button, TextInput } from '@mantine/core'
import type { Query, Transaction } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { berth } from '../../api/berth.ts'
import { useIsProject } from '../../api/session.ts'
import { transactionsQuery } from '../../queries/account.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { CsvButton } from '../../ui/CsvButton.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { LabelFilter } from '../../ui/Labels.tsx'
import { FilterSelect, ListTools } from '../../ui/ListTools.tsx'
import { Card } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging, type ListSearch } from '../../ui/paging.ts'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { walletMessages as w } from '../../words/words.ts'

type Filter = Omit<Query<'listWalletTransactions'>, 'page' | 'limit' | 'cursor'>

const FILTERS = ['type', 'kind', 'dateFrom', 'dateTo', 'labels', 'referenceId', 'projectId'] as const

const filterOf = ({ type, kind, dateFrom, dateTo, labels, referenceId, projectId }: ListSearch): Filter => ({
  type: type && type in w.types ? (type as Transaction['type']) : undefined,
  kind: kind === 'COST' || kind === 'PAYMENT' ? kind : undefined,
  dateFrom,
  dateTo,
  labelSelector: labels,
  referenceId,
  projectId,
})

export function Transactions({ currency }: { currency: string }) {
  const { search, filter } = usePaging()
  const chosen = filterOf(search)
  const transactions = useQuery(transactionsQuery({ ...chosen, page: search.page, limit: search.limit }))
  const isFiltered = Object.values(chosen).some((value) => value !== undefined)
  const columns = useTransactionColumns(currency)
  const only = (name: 'referenceId' | 'projectId') =>
    search[name] !== undefined && (
      <Button
        variant="light"
        rightSection={<Icon name="cross" size={14} />}
        onClick={() => filter({ [name]: undefined })}
        title={search[name]}
      >
        {w.only(name === 'projectId' ? w.project : nameOfReference(transactions.data?.items ?? [], search[name]))}
      </Button>
    )
  return (
    <Card flush title={w.transactions}>
      <ListTools
        filters={FILTERS}
        tools={<CsvButton fileName={w.csvFile} columns={columns} rows={() => berth.wallet.transactions(chosen)} />}
      >
        <FilterSelect name="type" label={w.type} all={w.allTypes} choices={Object.entries(w.types)} />
        <FilterSelect name="kind" label={w.kind} all={w.allKinds} choices={Object.entries(w.kindNames)} />
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
        <LabelFilter />
        {only('referenceId')}
        {only('projectId')}
      </ListTools>
      <PagedTable
        of={transactions}
        caption={w.transactions}
        columns={columns}
        empty={<Empty icon="wallet" title={w.empty} about={isFiltered ? w.emptyFiltered : w.emptyAbout} />}
      />
    </Card>
  )
}

/** A transaction has the id alone of what it is for. */
const nameOfReference = (items: Transaction[], id: string | undefined): string => {
  const type = items.find(({ referenceId }) => referenceId === id)?.referenceType.toLowerCase()
  return type !== undefined && Object.hasOwn(w.kinds, type) ? w.kinds[type as keyof typeof w.kinds] : w.resource
}

export function useTransactionColumns(currency: string): Column<Transaction>[] {
  const isProject = useIsProject()
  return [
    { head: w.date, text: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { head: w.type, text: ({ type }) => w.types[type], cell: ({ type }) => w.types[type] },
    {
      head: w.description,
      grow: true,
      truncate: ({ description }) => description,
      text: ({ description }) => description,
      cell: ({ id, description }) => (
        <Link to="/wallet/transactions/$transactionId" params={{ transactionId: id }} title={w.entry.view(description)}>
          {description}
        </Link>
      ),
    },
    { head: w.amount, right: true, text: ({ amount }) => amount, cell: ({ amount }) => <Amount amount={amount} currency={currency} /> },
    ...(isProject ? [] : [OF_PROJECT, balanceIn(currency)]),
  ]
}

const OF_PROJECT: Column<Transaction> = {
  head: w.project,
  truncate: ({ project }) => project?.name ?? '',
  text: ({ project }) => project?.name ?? '',
  cell: ({ project }) => project?.name,
}

const balanceIn = (currency: string): Column<Transaction> => ({
  head: w.balanceAfter,
  right: true,
  text: ({ balanceAfter }) => balanceAfter ?? '',
  cell: ({ balanceAfter }) => <span className="muted">{formatMoney(balanceAfter, currency)}</span>,
})

export const Amount = ({ amount, currency }: { amount: string; currency: string }) => (
  <strong style={amount.startsWith('-') ? undefined : { color: 'var(--accent-text)' }}>
    {amount.startsWith('-') ? '' : '+'}
    {formatMoney(amount, currency)}
  </strong>
)
