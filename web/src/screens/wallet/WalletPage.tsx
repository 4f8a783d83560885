import { Alert, Button, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery, useCurrency, useIsProject, type Session } from '../../api/session.ts'
import { transactionsQuery, useWallet } from '../../queries/account.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { ButtonLink, TextLink } from '../../ui/links.tsx'
import { Card, Page, Row, Stack } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Table } from '../../ui/Table.tsx'
import { walletMessages as w } from '../../words/words.ts'
import { AddFunds } from './AddFunds.tsx'
import { Balance } from './Balance.tsx'
import { Costs } from './Costs.tsx'
import { Deposits } from './Deposits.tsx'
import { Forecast } from './Forecast.tsx'
import { fundingOf } from './funding.ts'
import { Invoices } from './Invoices.tsx'
import { Transactions, useTransactionColumns } from './Transactions.tsx'
import css from './wallet.module.css'

type Tab = keyof typeof w.tabs

/** What the account has that pays is nothing for members of a project. */
const OWN: Tab[] = ['overview', 'costs', 'transactions', 'invoices']
const OF_PROJECT: Tab[] = ['costs', 'transactions']

export default function WalletPage() {
  const isProject = useIsProject()
  const { search, replaceSearch } = usePaging()
  const tabs = isProject ? OF_PROJECT : OWN
  const tab = tabs.find((each) => each === search.tab) ?? tabs[0]!
  return (
    <Page title={w.title} about={isProject ? w.aboutProject : w.about} actions={!isProject && <TopUp />}>
      <Tabs value={tab} onChange={(next) => replaceSearch({ tab: next === tabs[0] ? undefined : (next ?? undefined) })} keepMounted={false}>
        <Tabs.List mb={20}>
          {tabs.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {w.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((each) => (
          <Tabs.Panel key={each} value={each}>
            <TabContent tab={each} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

function TabContent({ tab }: { tab: Tab }) {
  const currency = useCurrency()
  if (tab === 'costs') return <Costs />
  if (tab === 'transactions') return <Transactions currency={currency} />
  return tab === 'invoices' ? <Invoices /> : <Overview />
}

function TopUp() {
  const [isOpen, setOpen] = useState(false)
  const currency = useCurrency()
  const session = useQuery(sessionQuery).data
  if (!session?.settings.depositsOpen) return null
  return (
    <>
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen(true)}>
        {w.addFunds}
      </Button>
      {isOpen && <AddFunds currency={currency} onClose={() => setOpen(false)} />}
    </>
  )
}

function Overview() {
  const wallet = useWallet()
  const session = useQuery(sessionQuery).data
  return (
    <Stack>
      {session && !session.settings.depositsOpen && <NoDeposits session={session} />}
      <Loaded of={wallet} lines={4}>
        {(data) => <Balance wallet={data} />}
      </Loaded>
      <Deposits />
      <Forecast wallet={wallet.data} />
      <Latest />
    </Stack>
  )
}

const LATEST = { limit: 5 }

function Latest() {
  const currency = useCurrency()
  const latest = useQuery(transactionsQuery(LATEST))
  const columns = useTransactionColumns(currency)
  return (
    <Card
      flush
      title={w.latest}
      actions={
        <TextLink to="/wallet" search={{ tab: 'transactions' }}>
          {w.showTransactions}
        </TextLink>
      }
    >
      <Loaded of={latest} lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <p className={css['note']}>{w.emptyAbout}</p>
          ) : (
            <Table caption={w.latest} columns={columns} rows={items} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}

function NoDeposits({ session }: { session: Session }) {
  const { to, button, about } = fundingOf(session)
  return (
    <Alert>
      <Stack gap={10}>
        <span>{about}</span>
        <Row gap={16}>
          <ButtonLink to={to} size="xs">
            {button}
          </ButtonLink>
          {session.user.isOperator && <a href="/docs/operate/payments">{w.setUpPayments}</a>}
        </Row>
      </Stack>
    </Alert>
  )
}
