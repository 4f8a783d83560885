import { Alert, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useWrite } from '../../api/client.ts'
import { operatorRequest, operatorActionQuery, type OperatorActionDetails } from '../../api/operator.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { actionTitle } from '../../ui/action-title.ts'
import { formatDuration } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Facts, Page } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { ActionStatus } from './Actions.tsx'

const w = operatorMessages.actions

type Step = OperatorActionDetails['steps'][number]

const COLUMNS: Column<Step>[] = [
  { head: w.step, cell: ({ name }) => <strong>{name}</strong> },
  { head: w.status, cell: ({ status }) => <StatusBadge status={status} working /> },
  { head: w.attempts, cell: ({ tries }) => tries, right: true },
  {
    head: w.duration,
    cell: ({ startedAt, completedAt }) =>
      startedAt && completedAt ? formatDuration(Date.parse(completedAt) - Date.parse(startedAt)) : commonMessages.unknown,
    right: true,
  },
  { head: w.error, truncate: ({ error }) => error ?? '', cell: ({ error }) => <code className="muted">{error ?? ''}</code> },
]

export default function ActionPage() {
  const { actionId = '' } = useParams({ strict: false })
  const action = useQuery(operatorActionQuery(actionId))
  return (
    <Loaded isPage of={action}>
      {(data) => <ActionView action={data} />}
    </Loaded>
  )
}

function ActionView({ action }: { action: OperatorActionDetails }) {
  const retry = useWrite(() => operatorRequest('POST', `/actions/${action.id}/retry`), {
    invalidates: ['operator'],
    successMessage: w.retried,
  })
  const isOpen = action.status === 'PENDING' || action.status === 'RUNNING' || action.isCleanupFailed
  const again = isOpen && (
    <Button loading={retry.isPending} onClick={() => retry.mutate()}>
      {w.retry}
    </Button>
  )
  return (
    <Page
      title={actionTitle(action.action)}
      about={<ActionStatus action={action} />}
      above={<TextLink to="/operator/actions">{w.back}</TextLink>}
      actions={again}
    >
      {action.error && <Alert color="red">{action.error}</Alert>}
      <Card>
        <Facts
          facts={[
            [w.vm, action.subjectName ?? commonMessages.unknown],
            [w.account, action.email ?? commonMessages.unknown],
            [w.workflow, <code key="">{action.workflow}</code>],
            [w.attempt, action.attempt],
            [w.started, <Time key="" at={action.createdAt} />],
            [w.next, isOpen ? <Time key="" at={action.nextAttemptAt} /> : commonMessages.unknown],
            [w.deadline, <Time key="" at={action.deadlineAt} />],
            ['ID', <Copyable key="" text={action.id} what="ID" />],
          ]}
        />
      </Card>
      <Card flush title={w.steps}>
        <Table caption={w.steps} columns={COLUMNS} rows={action.steps} rowKey={({ name }) => name} />
      </Card>
    </Page>
  )
}
