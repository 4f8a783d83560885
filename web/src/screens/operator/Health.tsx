import { useQuery } from '@tanstack/react-query'
import { healthQuery, type Health as State } from '../../api/operator.ts'
import { formatNumber, formatConstant } from '../../ui/format.ts'
import { Card, Facts, Page } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { healthCounts, operatorMessages } from '../../words/words.ts'

const w = operatorMessages.health

const CHECKS: Column<State['checks'][number]>[] = [
  { head: w.check, cell: ({ name }) => <strong>{name}</strong> },
  { head: w.result, cell: ({ isOk }) => <Status tone={isOk ? 'good' : 'bad'}>{isOk ? w.healthy : w.unhealthy}</Status> },
  { head: w.message, cell: ({ message }) => message },
]

export default function Health() {
  const health = useQuery(healthQuery)
  return (
    <Page title={w.title} about={w.about}>
      <Loaded of={health}>
        {({ version, schema, startedAt, checks, counts }) => (
          <>
            <Card>
              <Facts
                facts={[
                  [w.version, version],
                  [w.schema, <code key="">{schema}</code>],
                  [w.started, <Time key="" at={startedAt} />],
                ]}
              />
            </Card>
            <Card flush title={w.checks}>
              <Table caption={w.checks} columns={CHECKS} rows={checks} rowKey={({ name }) => name} />
            </Card>
            <Card title={w.counts}>
              <Facts
                facts={counts.map(({ name, count, isAlert }) => [
                  healthCounts[name] ?? formatConstant(name.replace(/[A-Z]/g, ' $&')),
                  <Count key="" name={name} count={count} isAlert={isAlert} />,
                ])}
              />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Which invariants they are only the worker knows: its metrics and its log say so. */
const Count = ({ name, count, isAlert }: State['counts'][number]) => (
  <>
    <Status tone={isAlert ? 'bad' : 'good'}>{formatNumber(count)}</Status>{' '}
    {isAlert && name === 'invariantViolations' && <a href="/docs/operate/runbooks#invariant-violated">{w.whichInvariants}</a>}
  </>
)
