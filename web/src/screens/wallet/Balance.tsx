import type { Wallet, WalletTimeline } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { timelineQuery } from '../../queries/account.ts'
import { Loaded, Loading } from '../../ui/AsyncState.tsx'
import { formatDate, formatMoney } from '../../ui/format.ts'
import { Card, Facts } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { walletMessages as w } from '../../words/words.ts'
import { uncoveredFrom } from './balance-series.ts'
import css from './wallet.module.css'

const BalanceGraph = lazy(() => import('./BalanceGraph.tsx')) // uPlot is large

export function Balance({ wallet }: { wallet: Wallet }) {
  const timeline = useQuery(timelineQuery)
  const { balance, currency, dueNext7Days, daysLeft } = wallet
  return (
    <Card title={w.graph.title} about={w.graph.about} actions={timeline.data && <Covered timeline={timeline.data} />}>
      <Facts
        facts={[
          [
            w.balance,
            <Link key="" to="/wallet" search={{ tab: 'transactions' }} className={css['big']}>
              {formatMoney(balance, currency)}
            </Link>,
          ],
          [
            w.monthly,
            <Link key="" to="/wallet" search={{ tab: 'costs' }} className={css['big']}>
              {timeline.data ? formatMoney(timeline.data.monthly, currency) : '…'}
            </Link>,
          ],
          [
            w.due,
            <span key="" className={css['big']}>
              {formatMoney(dueNext7Days, currency)}
            </span>,
          ],
          [
            w.covers,
            <span key="" className={css['big']}>
              {w.days(daysLeft)}
            </span>,
          ],
        ]}
      />
      <Loaded of={timeline} lines={4}>
        {(data) => (
          <Suspense fallback={<Loading />}>
            <BalanceGraph timeline={data} />
          </Suspense>
        )}
      </Loaded>
    </Card>
  )
}

function Covered({ timeline }: { timeline: WalletTimeline }) {
  const date = uncoveredFrom(timeline)
  if (Number(timeline.monthly) === 0) return null
  return date === null ? (
    <Status tone="good">{w.graph.covered}</Status>
  ) : (
    <Status tone="bad">{w.graph.usedUp(formatDate(`${date}T12:00:00Z`))}</Status>
  )
}
