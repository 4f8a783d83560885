import type { AccountDetails } from '../../api/operator.ts'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonWords } from '../../messages/common.ts'
import { operatorWords } from '../../messages/operator.ts'

const w = operatorWords.accounts

type Person = AccountDetails['people'][number]

const COLUMNS: Column<Person>[] = [
  {
    head: w.person,
    cell: ({ email, isOperator, hasPassword }) => (
      <div>
        <strong>{email}</strong>
        <div className="muted">{hasPassword ? (isOperator ? w.roles.operator : w.roles.customer) : w.notYet}</div>
      </div>
    ),
  },
  { head: w.totp, cell: ({ totpEnabled }) => (totpEnabled ? commonWords.on : commonWords.off) },
  { head: w.lastSeen, cell: ({ lastSeenAt }) => (lastSeenAt ? <Time at={lastSeenAt} as="ago" /> : commonWords.never), right: true },
]

export const People = ({ people }: { people: Person[] }) => (
  <Card flush title={w.people}>
    <Table caption={w.people} columns={COLUMNS} rows={people} rowKey={({ id }) => id} />
  </Card>
)
