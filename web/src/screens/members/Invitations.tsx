import type { Invitation } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { budgetMessages, commonMessages, memberMessages as w } from '../../words/words.ts'
import { invitationsQuery } from '../../queries/members.ts'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { BudgetLimits } from '../../ui/Budget.tsx'
import { Card } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'

export function Invitations({ canDelete }: { canDelete: boolean }) {
  const invitations = useQuery(invitationsQuery)
  const [leaving, setLeaving] = useState<Invitation | null>(null)
  const columns: Column<Invitation>[] = [
    { head: w.email, truncate: ({ email }) => email, cell: ({ email }) => email },
    { head: w.role, cell: ({ role }) => w.roles[role] },
    { head: budgetMessages.budget, cell: ({ budget }) => <BudgetLimits budget={budget} /> },
    { head: w.invitedBy, truncate: ({ invitedBy }) => invitedBy, cell: ({ invitedBy }) => invitedBy },
    { head: w.expires, cell: ({ expiresAt }) => <Time at={expiresAt} as="date" /> },
  ]
  const actions: Column<Invitation> = {
    head: commonMessages.actions,
    quiet: true,
    shrink: true,
    right: true,
    cell: (each) => <RowMenu name={each.email} items={[{ label: w.withdraw, onClick: () => setLeaving(each), danger: true }]} />,
  }
  return (
    <Card title={w.invitations} flush>
      <Loaded of={invitations}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="users" title={w.noInvitations} about={w.noInvitationsAbout} />
          ) : (
            <Table caption={w.invitations} columns={canDelete ? [...columns, actions] : columns} rows={items} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {leaving && <Withdraw invitation={leaving} onClose={() => setLeaving(null)} />}
    </Card>
  )
}

function Withdraw({ invitation: { id, email }, onClose }: { invitation: Invitation; onClose: () => void }) {
  const write = useWrite(() => berth.invitations.delete(id), { inForm: true, invalidates: ['members'], successMessage: w.withdrawn })
  return (
    <ConfirmDialog title={w.withdrawTitle} submit={w.withdraw} write={write} onClose={onClose}>
      {w.withdrawAbout(email)}
    </ConfirmDialog>
  )
}
