// What was earned in a month, by type and region, from the ledger.
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { revenueQuery, type Revenue as RevenueOfMonth } from '../../api/operator.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { saveCsv } from '../../ui/csv.ts'
import { formatMoney, formatNumber } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Page } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Table, type Column } from '../../ui/Table.tsx'
import { useNow } from '../../ui/Time.tsx'
import { operatorMessages, revenueMessages as w, walletMessages } from '../../words/words.ts'
import { CapacityMeter } from './CapacityMeter.tsx'
import css from './fleet.module.css'
import { isMonth, monthOf, shiftMonth } from './months.ts'

export default function Revenue() {
  const { search, filter } = usePaging()
  const present = monthOf(useNow(null))
  const month = isMonth(search.dateFrom) ? search.dateFrom : present
  const revenue = useQuery(revenueQuery(month))
  const show = (next: string): void => filter({ dateFrom: next === present ? undefined : next })
  const choose = (
    <>
      <Button variant="default" onClick={() => show(shiftMonth(month, -1))}>
        {w.earlier}
      </Button>
      <TextInput
        type="month"
        aria-label={w.month}
        value={month}
        max={present}
        onChange={(event) => isMonth(event.currentTarget.value) && show(event.currentTarget.value)}
      />
      <Button variant="default" disabled={month >= present} onClick={() => show(shiftMonth(month, 1))}>
        {w.later}
      </Button>
    </>
  )
  return (
    <Page title={w.title} about={w.about} actions={choose}>
      <Loaded of={revenue}>
        {(data) => (
          <>
            <Numbers of={data} />
            <Rows of={data} />
            <Columns>
              <Top of={data} />
              <Capacity of={data} />
            </Columns>
          </>
        )}
      </Loaded>
    </Page>
  )
}

interface Props {
  of: RevenueOfMonth
}

function Numbers({ of }: Props) {
  const money = (amount: string): string => formatMoney(amount, of.currency)
  const numbers: [string, string, ReactNode?][] = [
    [w.net, money(of.net), w.netAbout(money(of.charges), money(of.refunds))],
    [w.deposits, money(of.deposits)],
    [w.credits, money(of.credits)],
    [w.monthly, money(of.monthly), w.monthlyAbout],
    [w.outstanding, money(of.outstanding), w.outstandingAbout],
    [w.balances, money(of.balances), w.balancesAbout],
  ]
  return (
    <Card>
      <dl className={css['numbers']}>
        {numbers.map(([name, value, about]) => (
          <div key={name} className={css['number']}>
            <dt>{name}</dt>
            <dd>{value}</dd>
            {about && <dd className={css['hint']}>{about}</dd>}
          </div>
        ))}
      </dl>
    </Card>
  )
}

type Row = RevenueOfMonth['rows'][number]

function Rows({ of: { rows, currency, change, month } }: Props) {
  const columns: Column<Row>[] = [
    { head: w.type, cell: ({ type }) => walletMessages.types[type] },
    { head: w.region, cell: ({ region }) => region ?? <span className="muted">{w.noRegion}</span> },
    { head: w.entries, right: true, cell: ({ count }) => formatNumber(count) },
    { head: w.amount, right: true, cell: ({ amount }) => formatMoney(amount, currency) },
  ]
  const save = (): void =>
    saveCsv(
      `revenue-${month}.csv`,
      w.csvHead,
      rows.map(({ type, region, count, amount }) => [month, type, region ?? '', String(count), amount, currency]),
    )
  return (
    <Card
      flush
      title={w.byType}
      about={`${w.total}: ${formatMoney(change, currency)}`}
      actions={
        <Button variant="default" size="xs" disabled={rows.length === 0} onClick={save}>
          {w.csv}
        </Button>
      }
    >
      {rows.length === 0 ? (
        <Nothing>{w.empty}</Nothing>
      ) : (
        <Table caption={w.byType} columns={columns} rows={rows} rowKey={({ type, region }) => `${type} ${region}`} />
      )}
    </Card>
  )
}

function Top({ of: { topAccounts, currency } }: Props) {
  const columns: Column<RevenueOfMonth['topAccounts'][number]>[] = [
    {
      head: w.account,
      truncate: ({ email }) => email,
      cell: ({ accountId, email }) => (
        <TextLink to="/operator/accounts/$accountId" params={{ accountId }}>
          {email || accountId}
        </TextLink>
      ),
    },
    { head: w.amount, right: true, cell: ({ net }) => formatMoney(net, currency) },
  ]
  return (
    <Card flush title={w.top}>
      {topAccounts.length === 0 ? (
        <Nothing>{w.noTop}</Nothing>
      ) : (
        <Table caption={w.top} columns={columns} rows={topAccounts} rowKey={({ accountId }) => accountId} />
      )}
    </Card>
  )
}

type Region = RevenueOfMonth['capacity'][number]
const h = operatorMessages.hosts

const CAPACITY: Column<Region>[] = [
  { head: w.region, cell: ({ name }) => name },
  { head: h.vcpu, cell: ({ vcpu, name }) => <CapacityMeter of={vcpu} what={h.vcpu} where={name} /> },
  { head: h.ram, cell: ({ ramMiB, name }) => <CapacityMeter of={ramMiB} what={h.ram} where={name} unit="GiB" mebibytes /> },
  { head: h.disk, cell: ({ diskGiB, name }) => <CapacityMeter of={diskGiB} what={h.disk} where={name} unit="GiB" /> },
]

const Capacity = ({ of: { capacity } }: Props) => (
  <Card flush title={w.capacity}>
    <Table caption={w.capacity} columns={CAPACITY} rows={capacity} rowKey={({ region }) => region} />
  </Card>
)

const Nothing = ({ children }: { children: string }) => (
  <p className="muted" style={{ padding: 'var(--space-4) var(--space-5)' }}>
    {children}
  </p>
)
