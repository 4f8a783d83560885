import { Button } from '@mantine/core'
import type { Member } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { apiRequest } from '../../api/request.ts'
import { sessionQuery } from '../../api/session.ts'
import { budgetMessages, commonMessages, memberMessages as w } from '../../words/words.ts'
import { membersQuery } from '../../queries/members.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { BudgetLeft, ChangeBudget } from '../../ui/Budget.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { AccountSettings } from './AccountSettings.tsx'
import { Invitations } from './Invitations.tsx'
import { Invite } from './Invite.tsx'
import { grantOf, RoleFields, type Grant } from './RoleFields.tsx'

type Open = { what: 'invite' } | { what: 'change' | 'budget' | 'remove' | 'leave'; member: Member } | null

export default function Members() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search } = usePaging()
  const members = useQuery(membersQuery({ page: search.page, limit: search.limit }))
  const session = useQuery(sessionQuery).data
  const may = (scope: string): boolean => session?.account?.scopes.includes(scope) ?? false
  const itemsOf = (member: Member) => {
    const isSelf = member.id === session?.user.id
    const isReachable = member.role !== 'owner' || session?.account?.role === 'owner'
    if (member.inherited) return []
    return [
      ...(may('members:update') && isReachable ? [{ label: w.change, onClick: () => setOpen({ what: 'change', member }) }] : []),
      ...(may('members:update') && member.role !== 'owner'
        ? [{ label: budgetMessages.change, onClick: () => setOpen({ what: 'budget', member }) }]
        : []),
      ...(isSelf ? [{ label: w.leave, onClick: () => setOpen({ what: 'leave', member }), danger: true }] : []),
      ...(may('members:delete') && isReachable && !isSelf
        ? [{ label: w.remove, onClick: () => setOpen({ what: 'remove', member }), danger: true }]
        : []),
    ]
  }
  const columns: Column<Member>[] = [
    {
      head: w.email,
      truncate: ({ email }) => email,
      cell: ({ id, email, name }) => (
        <div>
          <strong>{email}</strong>
          <div className="muted">{id === session?.user.id ? w.you : name}</div>
        </div>
      ),
    },
    {
      head: w.role,
      cell: ({ role, inherited }) => (
        <div>
          {w.roles[role]}
          {inherited && <div className="muted">{w.inherited}</div>}
        </div>
      ),
    },
    { head: budgetMessages.budget, cell: ({ budget }) => <BudgetLeft budget={budget} /> },
    { head: w.twoFactor, cell: ({ twoFactorEnabled: on }) => <Status tone={on ? 'good' : 'held'}>{on ? w.on : w.off}</Status> },
    { head: w.since, cell: ({ createdAt }) => <Time at={createdAt} as="date" /> },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (member) => {
        const items = itemsOf(member)
        return items.length > 0 && <RowMenu name={member.email} items={items} />
      },
    },
  ]
  return (
    <Page
      title={w.title}
      about={w.about}
      actions={
        may('members:create') && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen({ what: 'invite' })}>
            {w.invite}
          </Button>
        )
      }
    >
      <Card flush>
        <PagedTable
          of={members}
          caption={w.title}
          columns={columns}
          empty={<Empty icon="users" title={w.noMembers} about={w.noMembersAbout} />}
        />
      </Card>
      <Invitations canDelete={may('members:delete')} />
      {may('account:update') && !session?.account?.isProject && <AccountSettings />}
      {open?.what === 'invite' && <Invite onClose={close} />}
      {open?.what === 'change' && <ChangeRole member={open.member} onClose={close} />}
      {open?.what === 'budget' && (
        <ChangeBudget
          name={open.member.email}
          budget={open.member.budget}
          save={(budget) => berth.members.update(open.member.id, { budget })}
          invalidates={['members', 'session']}
          onClose={close}
        />
      )}
      {open?.what === 'remove' && <RemoveMember member={open.member} onClose={close} />}
      {open?.what === 'leave' && <LeaveAccount accountId={session?.account?.id ?? ''} onClose={close} />}
    </Page>
  )
}

const revoked = (message: string, ids: string[]): string => (ids.length > 0 ? `${message}. ${w.tokensRevoked(ids.length)}` : message)

function ChangeRole({ member: { id, email, role, scopes }, onClose }: { member: Member; onClose: () => void }) {
  const [grant, setGrant] = useState<Grant>({ role, scopes })
  const change = useWrite(() => berth.members.update(id, { ...grantOf(grant), ...(grant.role === 'owner' && { budget: null }) }), {
    inForm: true,
    invalidates: ['members', 'session'],
    successMessage: ({ revokedTokenIds }) => revoked(w.changed(email), revokedTokenIds),
    onDone: onClose,
  })
  return (
    <Dialog title={w.changeTitle(email)} onClose={onClose} size="lg">
      <Form onSubmit={() => change.mutate()} busy={change.isPending} error={change.error} submit={w.change} onCancel={onClose}>
        <RoleFields grant={grant} onChange={setGrant} />
      </Form>
    </Dialog>
  )
}

function RemoveMember({ member: { id, email }, onClose }: { member: Member; onClose: () => void }) {
  const write = useWrite(() => berth.members.delete(id), {
    inForm: true,
    invalidates: ['members'],
    successMessage: ({ revokedTokenIds }) => revoked(w.removed(email), revokedTokenIds),
  })
  return (
    <ConfirmDialog title={w.removeTitle} submit={w.remove} write={write} onClose={onClose}>
      {w.removeAbout(email)}
    </ConfirmDialog>
  )
}

function LeaveAccount({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const write = useWrite(() => apiRequest('DELETE', `/memberships/${accountId}`), {
    inForm: true,
    onDone: () => location.assign('/'), // another account is chosen there
  })
  return (
    <ConfirmDialog title={w.leaveTitle} submit={w.leave} write={write} onClose={onClose}>
      {w.leaveAbout}
    </ConfirmDialog>
  )
}
