import type { AccountLimit } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { limitsQuery } from '../../queries/account.ts'
import { Meter } from '../../ui/Meter.tsx'
import { Card } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { limitName, settingsMessages } from '../../words/words.ts'

const w = settingsMessages.limits

export function Limits() {
  const limits = useQuery(limitsQuery)
  const columns: Column<AccountLimit>[] = [
    { head: w.name, cell: ({ name }) => limitName(name) },
    {
      head: w.used,
      cell: ({ name, used, limit }) =>
        used === null ? (
          <span className="numbers">{limit}</span>
        ) : (
          <Meter used={used} of={limit} label={limitName(name)} text={w.of(used, limit)} />
        ),
    },
  ]
  return (
    <Card flush title={settingsMessages.tabs.limits} about={w.about}>
      <Loaded of={limits}>
        {(all) => <Table caption={settingsMessages.tabs.limits} columns={columns} rows={all} rowKey={({ name }) => name} />}
      </Loaded>
    </Card>
  )
}
