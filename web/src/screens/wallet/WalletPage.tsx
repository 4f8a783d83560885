import { Alert, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery, useCurrency, useIsProject, type Session } from '../../api/session.ts'
import { useWallet } from '../../queries/account.ts'
import { formatMoney } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { Card, Columns, Facts, Page, Row, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { walletMessages as w } from '../../words/words.ts'
import { Deposits } from './Deposits.tsx'
import { Forecast } from './Forecast.tsx'
import { Invoices } from './Invoices.tsx'
import { AddFunds } from './AddFunds.tsx'
import { fundingOf } from './funding.ts'
import { Transactions } from './Transactions.tsx'

export default function WalletPage() {
  const currency = useCurrency()
  if (!useIsProject()) return <OwnWallet />
  return (
    <Page title={w.title} about={w.aboutProject}>
      <Transactions currency={currency} />
    </Page>
  )
}

function OwnWallet() {
  const [topUp, setTopUp] = useState(false)
  const wallet = useWallet()
  const session = useQuery(sessionQuery).data
  const button = session?.settings.depositsOpen && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setTopUp(true)}>
      {w.addFunds}
    </Button>
  )
  return (
    <Page title={w.title} about={w.about} actions={button}>
      {session && !session.settings.depositsOpen && <NoDeposits session={session} />}
      <Card>
        <Loaded of={wallet} lines={2}>
          {({ balance, currency, dueNext7Days, daysLeft }) => (
            <Facts
              facts={[
                [w.balance, <Big key="" text={formatMoney(balance, currency)} />],
                [w.due, <Big key="" text={formatMoney(dueNext7Days, currency)} />],
                [w.covers, <Big key="" text={w.days(daysLeft)} />],
              ]}
            />
          )}
        </Loaded>
      </Card>
      <Deposits />
      <Transactions currency={wallet.data?.currency ?? 'USD'} />
      <Columns>
        <Forecast wallet={wallet.data} />
        <Invoices />
      </Columns>
      {topUp && <AddFunds currency={wallet.data?.currency ?? 'USD'} onClose={() => setTopUp(false)} />}
    </Page>
  )
}

const Big = ({ text }: { text: string }) => (
  <span className="numbers" style={{ fontSize: '1.5rem', fontWeight: 640, letterSpacing: '-0.02em' }}>
    {text}
  </span>
)

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
