import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { bandwidthQuery, useWallet } from '../../queries/account.ts'
import { accountQuery } from '../../queries/members.ts'
import { runningActionsQuery, vmsQuery } from '../../queries/vms.ts'
import { formatBytes, formatMoney } from '../../ui/format.ts'
import { ButtonLink } from '../../ui/links.tsx'
import { Card, Columns, Page } from '../../ui/Page.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { budgetMessages, homeMessages as w, vmsMessages } from '../../words/words.ts'
import css from './home.module.css'
import { BudgetTile } from './BudgetTile.tsx'
import { NextStep } from './NextStep.tsx'
import { Recent } from './Recent.tsx'
import { RunningActions } from './RunningActions.tsx'
import { Tile } from './Tile.tsx'
import { Warnings } from './Warnings.tsx'

export default function Home() {
  const session = useQuery(sessionQuery).data
  const vms = useQuery(vmsQuery({ limit: 1 }))
  const running = useQuery(vmsQuery({ limit: 1, status: 'RUNNING' }))
  const wallet = useWallet()
  const traffic = useQuery(bandwidthQuery)
  const actions = useQuery(runningActionsQuery)
  const throttled = (traffic.data ?? []).filter((usage) => usage.throttled)
  const balance = wallet.data && formatMoney(wallet.data.balance, wallet.data.currency)
  const lasts = wallet.data && (wallet.data.daysLeft === null ? w.noRenewals : w.coversDays(wallet.data.daysLeft))
  const budget = session?.account?.budget
  const ofProject = useQuery({ ...accountQuery, enabled: session?.account?.isProject ?? false }).data?.budget
  const currency = session?.settings.currency ?? ''
  const create = (
    <ButtonLink to="/vms/new" leftSection={<Icon name="plus" size={16} />}>
      {vmsMessages.create}
    </ButtonLink>
  )
  return (
    <Page title={w.title} heading={w.hello(session?.user.name.split(' ')[0] ?? '')} actions={create}>
      <Warnings wallet={wallet.data} throttled={throttled} />
      <NextStep />
      <div className={css['tiles']}>
        <Tile
          to="/vms"
          icon="server"
          label={w.vms}
          value={vms.data && String(vms.data.pagination.total)}
          about={vms.data && running.data && w.vmsAbout(running.data.pagination.total, vms.data.pagination.total)}
          error={vms.errorUpdatedAt > 0}
        />
        {session?.account?.isProject !== true && (
          <Tile to="/wallet" icon="wallet" label={w.wallet} value={balance} about={lasts} error={wallet.errorUpdatedAt > 0} />
        )}
        <Tile
          to="/bandwidth"
          icon="gauge"
          label={w.traffic}
          value={traffic.data && formatBytes(traffic.data.reduce((sum, { usedBytes }) => sum + usedBytes, 0))}
          about={w.trafficAbout(throttled.length)}
          error={traffic.errorUpdatedAt > 0}
        />
        {budget && <BudgetTile label={budgetMessages.own} budget={budget} currency={currency} />}
        {ofProject && <BudgetTile label={budgetMessages.ofProject} budget={ofProject} currency={currency} />}
      </div>
      <Columns>
        <Card title={w.inProgress}>
          <RunningActions actions={actions.data?.items ?? []} />
        </Card>
        <Card title={w.recent}>
          <Recent />
        </Card>
      </Columns>
    </Page>
  )
}
