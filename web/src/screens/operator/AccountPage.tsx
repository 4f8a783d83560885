import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { accountQuery, operate, type AccountDetails, type AccountSuspended } from '../../api/operator.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { Secret } from '../../ui/Dialogs.tsx'
import { formatMoney } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Facts, Page } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Time } from '../../ui/Time.tsx'
import { operatorWords } from '../../messages/operator.ts'
import { AccountLimits } from './AccountLimits.tsx'
import { AccountVms } from './AccountVms.tsx'
import { MoveMoney, Suspend } from './AccountDialogs.tsx'
import { People } from './Users.tsx'
import { Untouched } from './SkippedVms.tsx'

const w = operatorWords.accounts

export default function AccountPage() {
  const { accountId = '' } = useParams({ strict: false })
  const account = useQuery(accountQuery(accountId))
  return (
    <Loaded isPage of={account}>
      {(data) => <Shown account={data} />}
    </Loaded>
  )
}

function Shown({ account }: { account: AccountDetails }) {
  const [open, setOpen] = useState<'credit' | 'adjust' | 'suspend' | null>(null)
  const [link, setLink] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<AccountSuspended | null>(null)
  const close = (): void => setOpen(null)
  const { id, email, name, balance, currency, suspendedAt, createdAt } = account
  const invite = useWrite(() => operate<{ url: string }>('POST', `/accounts/${id}/set-up-link`), { after: ({ url }) => setLink(url) })
  const lift = useWrite(() => operate<AccountSuspended>('POST', `/accounts/${id}/unsuspend`), {
    changes: ['operator'],
    says: w.unsuspended,
    after: setOutcome,
  })
  const actions = (
    <>
      <Button onClick={() => setOpen('credit')}>{w.credit}</Button>
      <RowMenu
        name={email}
        items={[
          { label: w.adjust, onClick: () => setOpen('adjust') },
          { label: w.link, onClick: () => invite.mutate() },
          suspendedAt
            ? { label: w.unsuspend, onClick: () => lift.mutate() }
            : { label: w.suspend, onClick: () => setOpen('suspend'), danger: true },
        ]}
      />
    </>
  )
  return (
    <Page title={email} about={name} above={<TextLink to="/operator/accounts">{w.back}</TextLink>} actions={actions}>
      <Card>
        <Facts
          facts={[
            [w.balance, <strong key="">{formatMoney(balance, currency)}</strong>],
            [
              w.state,
              <Status key="" tone={suspendedAt ? 'held' : 'good'}>
                {suspendedAt ? w.suspended : w.active}
              </Status>,
            ],
            [w.since, <Time key="" at={createdAt} as="date" />],
            ['ID', <Copyable key="" text={id} what="ID" />],
          ]}
        />
      </Card>
      <AccountVms accountId={id} />
      <Columns>
        <People people={account.people} />
        <AccountLimits accountId={id} limits={account.limits} />
      </Columns>
      {(open === 'credit' || open === 'adjust') && <MoveMoney accountId={id} how={open} onClose={close} />}
      {open === 'suspend' && <Suspend accountId={id} onClose={close} onDone={setOutcome} />}
      {outcome && outcome.untouched.length > 0 && <Untouched outcome={outcome} onClose={() => setOutcome(null)} />}
      {link && <Secret label={w.link} secret={link} hint={<p className="muted">{w.linkAbout}</p>} onClose={() => setLink(null)} />}
    </Page>
  )
}
