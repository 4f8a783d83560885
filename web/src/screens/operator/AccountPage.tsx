import { Button, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { accountQuery, operatorRequest, type AccountDetails, type SuspensionResult } from '../../api/operator.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { SecretDialog } from '../../ui/Dialogs.tsx'
import { formatMoney } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Facts, Page, Stack } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Time } from '../../ui/Time.tsx'
import { operatorAccountMessages as wa, operatorMessages, visitMessages } from '../../words/words.ts'
import { AccountLimits } from './AccountLimits.tsx'
import { AccountAudit, AccountTickets } from './AccountLog.tsx'
import { AccountMoney } from './AccountMoney.tsx'
import { AccountVms } from './AccountVms.tsx'
import { AdjustBalance, SuspendAccount } from './AccountDialogs.tsx'
import { SignInAs } from './SignInAs.tsx'
import { Users } from './Users.tsx'
import { SkippedVms } from './SkippedVms.tsx'

const w = operatorMessages.accounts
const TABS = ['overview', 'money', 'tickets', 'audit'] as const

export default function AccountPage() {
  const { accountId = '' } = useParams({ strict: false })
  const account = useQuery(accountQuery(accountId))
  return (
    <Loaded isPage of={account}>
      {(data) => <AccountView account={data} />}
    </Loaded>
  )
}

function AccountView({ account }: { account: AccountDetails }) {
  const [open, setOpen] = useState<'credit' | 'adjust' | 'suspend' | 'visit' | null>(null)
  const [link, setLink] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<SuspensionResult | null>(null)
  const { search, setSearch } = usePaging()
  const tab = TABS.find((each) => each === search.tab) ?? 'overview'
  const close = (): void => setOpen(null)
  const { id, email, name, balance, currency, suspendedAt, createdAt } = account
  const invite = useWrite(() => operatorRequest<{ url: string }>('POST', `/accounts/${id}/set-up-link`), {
    onDone: ({ url }) => setLink(url),
  })
  const unsuspend = useWrite(() => operatorRequest<SuspensionResult>('POST', `/accounts/${id}/unsuspend`), {
    invalidates: ['operator'],
    successMessage: w.unsuspended,
    onDone: setOutcome,
  })
  const actions = (
    <>
      <Button onClick={() => setOpen('credit')}>{w.credit}</Button>
      <RowMenu
        name={email}
        items={[
          { label: visitMessages.open, onClick: () => setOpen('visit') },
          { label: w.adjust, onClick: () => setOpen('adjust') },
          { label: w.createInviteLink, onClick: () => invite.mutate() },
          suspendedAt
            ? { label: w.unsuspend, onClick: () => unsuspend.mutate() }
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
      <Tabs
        value={tab}
        onChange={(next) => setSearch({ tab: next === 'overview' ? undefined : (next ?? undefined), page: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="var(--space-5)">
          {TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {wa[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="overview">
          <Stack>
            <AccountVms accountId={id} />
            <Columns>
              <Users users={account.users} invite={invite} />
              <AccountLimits accountId={id} limits={account.limits} />
            </Columns>
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="money">
          <AccountMoney accountId={id} currency={currency} />
        </Tabs.Panel>
        <Tabs.Panel value="tickets">
          <AccountTickets accountId={id} />
        </Tabs.Panel>
        <Tabs.Panel value="audit">
          <AccountAudit accountId={id} />
        </Tabs.Panel>
      </Tabs>
      {(open === 'credit' || open === 'adjust') && <AdjustBalance accountId={id} how={open} onClose={close} />}
      {open === 'visit' && <SignInAs accountId={id} email={email} onClose={close} />}
      {open === 'suspend' && <SuspendAccount accountId={id} onClose={close} onDone={setOutcome} />}
      {outcome && outcome.skipped.length > 0 && <SkippedVms outcome={outcome} onClose={() => setOutcome(null)} />}
      {link && (
        <SecretDialog
          label={w.inviteLink}
          secret={link}
          hint={<p className="muted">{w.inviteLinkAbout}</p>}
          onClose={() => setLink(null)}
        />
      )}
    </Page>
  )
}
