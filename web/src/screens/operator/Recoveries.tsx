import { useQuery } from '@tanstack/react-query'
import { recoveriesQuery, type WaitingRecovery } from '../../api/operator.ts'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'

const w = operatorMessages.recoveries

const COLUMNS: Column<WaitingRecovery>[] = [
  { head: w.vm, cell: ({ name }) => <strong>{name}</strong> },
  { head: w.from, cell: ({ from }) => from },
  { head: w.host, cell: ({ host }) => host ?? commonMessages.none },
  {
    head: w.problem,
    cell: ({ actionId, step, problem }) => {
      const said = [step, problem ?? w.unknown].filter(Boolean).join(': ')
      return actionId === null ? (
        said
      ) : (
        <TextLink to="/operator/actions/$actionId" params={{ actionId }}>
          {said}
        </TextLink>
      )
    },
  },
  { head: w.failures, cell: ({ failures }) => failures, right: true },
  {
    head: w.next,
    cell: ({ isUnderWay, nextAttemptAt }) =>
      isUnderWay ? <Status tone="busy">{w.underWay}</Status> : nextAttemptAt ? <Time at={nextAttemptAt} /> : w.byOperator,
    right: true,
  },
]

/** Nothing is shown while there are none. */
export function Recoveries() {
  const { data = [] } = useQuery(recoveriesQuery)
  if (data.length === 0) return null
  return (
    <Card flush title={w.title}>
      <Table caption={w.title} columns={COLUMNS} rows={data} rowKey={({ vmId }) => vmId} />
    </Card>
  )
}
