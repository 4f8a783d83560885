import { NativeSelect } from '@mantine/core'
import type { Costs as CostsOfMonth } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useIsProject } from '../../api/session.ts'
import { costsQuery } from '../../queries/account.ts'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { CsvButton } from '../../ui/CsvButton.tsx'
import { Filters } from '../../ui/Filters.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { sortRows, useSorting } from '../../ui/sorting.ts'
import { Table, type Column } from '../../ui/Table.tsx'
import { walletMessages } from '../../words/words.ts'
import { byLabel, groupingOf, labelOf, nameOfGroup, searchOfGroup, shareOf, type CostGroup } from './cost-groups.ts'
import { daysOf, formatMonth, isMonth, latestMonths, monthOf } from './months.ts'
import css from './wallet.module.css'

const w = walletMessages.costs

export function Costs() {
  const { search, filter } = usePaging()
  const [now] = useState(() => new Date())
  const month = isMonth(search.month) ? search.month : monthOf(now)
  const by = groupingOf(search.by)
  const costs = useQuery(costsQuery({ month, by }))
  const months = latestMonths(now)
  return (
    <Card flush title={w.title} about={w.about} actions={costs.data && <Download costs={costs.data} by={by} />}>
      <Filters>
        <NativeSelect
          label={walletMessages.month}
          value={month}
          onChange={(event) => filter({ month: event.currentTarget.value })}
          data={(months.includes(month) ? months : [...months, month]).map((each) => ({ value: each, label: formatMonth(each) }))}
        />
        <NativeSelect label={w.by} value={by} onChange={(event) => filter({ by: event.currentTarget.value })} data={useGroupings(by)} />
      </Filters>
      <Loaded of={costs}>{(data) => <Groups costs={data} by={by} month={month} />}</Loaded>
    </Card>
  )
}

/** The labels are those of the account's VMs. */
function useGroupings(by: string) {
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const own = labelOf(by)
  const isProject = useIsProject()
  const keys = [...new Set([...vms.flatMap(({ labels }) => Object.keys(labels)), ...(own === null ? [] : [own])])].toSorted()
  const first = [
    { value: 'resource', label: w.resource },
    { value: 'type', label: w.type },
    ...(isProject && by !== 'project' ? [] : [{ value: 'project', label: w.project }]),
  ]
  return [...first, ...keys.map((key) => ({ value: byLabel(key), label: w.label(key) }))]
}

function Groups({ costs, by, month }: { costs: CostsOfMonth; by: string; month: string }) {
  const { groups, furtherGroups, currency } = costs
  const sorting = useSorting()
  const columns = columnsOf(costs, by, month)
  if (groups.length === 0) return <Empty icon="wallet" title={w.none} about={w.noneAbout} />
  return (
    <>
      <div className={css['total']}>
        <span>{w.total}</span>
        <Link to="/wallet" search={{ tab: 'transactions', kind: 'COST', ...daysOf(month) }} className={css['big']}>
          {formatMoney(costs.amount, currency)}
        </Link>
      </div>
      <Table caption={w.title} columns={columns} rows={sortRows(groups, columns, sorting.sort)} rowKey={keyOf} sorting={sorting} />
      {furtherGroups && (
        <p className={css['note']}>
          {w.further(furtherGroups.count)}: {formatMoney(furtherGroups.amount, currency)}
        </p>
      )}
    </>
  )
}

const keyOf = ({ key }: CostGroup): string => key ?? '-'

function columnsOf({ groups, currency }: CostsOfMonth, by: string, month: string): Column<CostGroup>[] {
  const nameOf = (group: CostGroup): string => nameOfGroup(group, by)
  const money = (amount: string) => formatMoney(amount, currency)
  return [
    {
      head: w.group,
      sort: 'name',
      value: nameOf,
      text: nameOf,
      truncate: nameOf,
      grow: true,
      cell: (group) => (
        <Link to="/wallet" search={searchOfGroup(group, by, month)} title={w.open(nameOf(group))}>
          {nameOf(group)}
        </Link>
      ),
    },
    { head: w.share, cell: (group) => <Share name={nameOf(group)} share={shareOf(group.amount, groups)} /> },
    {
      head: w.charged,
      sort: 'charged',
      right: true,
      value: ({ charged }) => Number(charged),
      text: ({ charged }) => charged,
      cell: ({ charged }) => money(charged),
    },
    {
      head: w.refunded,
      sort: 'refunded',
      right: true,
      value: ({ refunded }) => Number(refunded),
      text: ({ refunded }) => refunded,
      cell: ({ refunded }) => <span className="muted">{money(refunded)}</span>,
    },
    {
      head: w.amount,
      sort: 'amount',
      right: true,
      value: ({ amount }) => Number(amount),
      text: ({ amount }) => amount,
      cell: (group) => (
        <Link to="/wallet" search={searchOfGroup(group, by, month)} className={css['amount']}>
          {money(group.amount)}
        </Link>
      ),
    },
    {
      head: w.entries,
      right: true,
      text: ({ entries }) => String(entries),
      cell: ({ entries }) => <span className="muted numbers">{entries}</span>,
    },
  ]
}

const Share = ({ name, share }: { name: string; share: number }) => (
  <span>
    <span className={css['share']} aria-hidden="true">
      <span style={{ width: `${share}%` }} />
    </span>
    <span className="hidden">{w.shareOf(name, `${Math.round(share)} %`)}</span>
  </span>
)

function Download({ costs, by }: { costs: CostsOfMonth; by: string }) {
  const rows = async function* () {
    yield* costs.groups
  }
  return <CsvButton fileName={w.csvFile} columns={columnsOf(costs, by, costs.month)} rows={rows} />
}
