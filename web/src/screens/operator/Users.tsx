import type { AccountDetails } from '../../api/operator.ts'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages } from '../../messages/common.ts'
import { operatorMessages } from '../../messages/operator.ts'

const w = operatorMessages.accounts

type User = AccountDetails['users'][number]

const COLUMNS: Column<User>[] = [
  {
    head: w.user,
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

export const Users = ({ users }: { users: User[] }) => (
  <Card flush title={w.users}>
    <Table caption={w.users} columns={COLUMNS} rows={users} rowKey={({ id }) => id} />
  </Card>
)
