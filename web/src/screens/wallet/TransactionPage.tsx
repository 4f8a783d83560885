// One entry of the ledger: what caused it, what its price was made of, and what it left.
import type { TransactionDetail } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCurrency } from '../../api/session.ts'
import { transactionQuery } from '../../queries/account.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatMoney } from '../../ui/format.ts'
import { LabelTags } from '../../ui/Labels.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Facts, Page } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { vmsMessages, walletMessages } from '../../words/words.ts'
import { Amount } from './Transactions.tsx'

const w = walletMessages.entry

export default function TransactionPage() {
  const { transactionId = '' } = useParams({ strict: false })
  const transaction = useQuery(transactionQuery(transactionId))
  return (
    <Loaded isPage of={transaction}>
      {(data) => <Entry entry={data} />}
    </Loaded>
  )
}

function Entry({ entry }: { entry: TransactionDetail }) {
  const currency = useCurrency()
  const above = (
    <TextLink to="/wallet" search={{ tab: 'transactions' }}>
      {w.back}
    </TextLink>
  )
  return (
    <Page title={entry.description} about={w.about} above={above}>
      <Card title={w.what}>
        <Facts facts={factsOf(entry, currency)} />
      </Card>
      {entry.priceParts.length > 0 && <Parts entry={entry} currency={currency} />}
    </Page>
  )
}

function factsOf(entry: TransactionDetail, currency: string): [string, ReactNode][] {
  const { amount, balanceBefore, balanceAfter, createdAt, type, resource, referenceId, action, project, id } = entry
  const balances: [string, ReactNode][] =
    balanceAfter === null
      ? []
      : [
          [w.before, formatMoney(balanceBefore, currency)],
          [w.after, formatMoney(balanceAfter, currency)],
        ]
  return [
    [walletMessages.amount, <Amount key="" amount={amount} currency={currency} />],
    ...balances,
    [walletMessages.date, <Time key="" at={createdAt} />],
    [walletMessages.type, walletMessages.types[type]],
    ...(resource ? ([[w.resource, <Resource key="" entry={entry} />]] as [string, ReactNode][]) : []),
    ...(action ? ([[w.action, <Action key="" entry={entry} />]] as [string, ReactNode][]) : []),
    ...(project ? ([[w.project, project.name]] as [string, ReactNode][]) : []),
    [w.reference, <Copyable key="" text={referenceId} what={w.reference} />],
    [w.id, <Copyable key="" text={id} what={w.id} />],
  ]
}

function Resource({ entry: { resource, referenceType, referenceId } }: { entry: TransactionDetail }) {
  if (!resource) return null
  const { name, deleted, labels } = resource
  return (
    <div>
      {deleted ? (
        <span>
          {name} <span className="muted">({w.deleted})</span>
        </span>
      ) : referenceType === 'VM' ? (
        <TextLink to="/vms/$vmId" params={{ vmId: referenceId }}>
          {name}
        </TextLink>
      ) : (
        name
      )}
      <LabelTags labels={labels} />
      <div>
        <TextLink to="/wallet" search={{ tab: 'transactions', referenceId }}>
          {w.others}
        </TextLink>
      </div>
    </div>
  )
}

function Action({ entry: { action, resource, referenceType, referenceId } }: { entry: TransactionDetail }) {
  if (!action) return null
  const name = vmsMessages.actionNames[action.action] ?? action.action
  return (
    <span>
      {referenceType === 'VM' && resource && !resource.deleted ? (
        <TextLink to="/vms/$vmId" params={{ vmId: referenceId }} search={{ tab: 'activity' }}>
          {name}
        </TextLink>
      ) : (
        name
      )}{' '}
      <span className="muted">
        <Time at={action.createdAt} />
      </span>
    </span>
  )
}

const Parts = ({ entry: { priceParts, amount }, currency }: { entry: TransactionDetail; currency: string }) => (
  <Card flush title={w.parts}>
    <Table
      caption={w.parts}
      rows={[
        ...priceParts.map(({ part, amount: of }) => ({ name: w.partNames[part], of })),
        { name: walletMessages.costs.total, of: amount },
      ]}
      rowKey={({ name }) => name}
      columns={[
        { head: w.part, cell: ({ name }) => name },
        { head: walletMessages.amount, right: true, cell: ({ of }) => formatMoney(of, currency) },
      ]}
    />
  </Card>
)
