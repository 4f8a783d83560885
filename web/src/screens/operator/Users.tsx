import { Button } from '@mantine/core'
import type { Write } from '../../api/client.ts'
import type { AccountDetails } from '../../api/operator.ts'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'

const w = operatorMessages.accounts

type User = AccountDetails['users'][number]

const COLUMNS: Column<User>[] = [
  {
    head: w.user,
    truncate: ({ email }) => email,
    cell: ({ email, isOperator, hasPassword }) => (
      <div>
        <strong>{email}</strong>
        <div className="muted">{hasPassword ? (isOperator ? w.roles.operator : w.roles.customer) : w.noPassword}</div>
      </div>
    ),
  },
  { head: w.totp, cell: ({ totpEnabled }) => (totpEnabled ? commonMessages.on : commonMessages.off) },
  { head: w.lastSeen, cell: ({ lastSeenAt }) => (lastSeenAt ? <Time at={lastSeenAt} as="ago" /> : commonMessages.never), right: true },
]

/** Until somebody can sign in, the invitation is the next step. */
export function Users({ users, invite }: { users: User[]; invite: Write<void, unknown> }) {
  const button = users.every(({ hasPassword }) => !hasPassword) && (
    <Button size="xs" loading={invite.isPending} onClick={() => invite.mutate()}>
      {w.createInviteLink}
    </Button>
  )
  return (
    <Card flush title={w.users} actions={button}>
      {users.length === 0 ? (
        <p className="muted" style={{ padding: '18px 20px' }}>
          {w.noUsers}
        </p>
      ) : (
        <Table caption={w.users} columns={COLUMNS} rows={users} rowKey={({ id }) => id} />
      )}
    </Card>
  )
}
