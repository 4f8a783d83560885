import { useQuery } from '@tanstack/react-query'
import { operatorActionsQuery, type OperatorAction } from '../../api/operator.ts'
import { actionTitle } from '../../ui/action-title.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status, StatusBadge, statusName } from '../../ui/Status.tsx'
import { StatusFilter } from '../../ui/StatusFilter.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'

const w = operatorMessages.actions
const STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']
const CLEANUP_FAILED = 'cleanupFailed'

const COLUMNS: Column<OperatorAction>[] = [
  {
    head: w.action,
    cell: ({ id, action }) => (
      <TextLink to="/operator/actions/$actionId" params={{ actionId: id }}>
        {actionTitle(action)}
      </TextLink>
    ),
  },
  {
    head: w.vm,
    truncate: ({ subjectName }) => subjectName ?? '',
    cell: ({ subjectName, subjectId }) => subjectName ?? subjectId ?? commonMessages.unknown,
  },
  { head: w.account, truncate: ({ email }) => email ?? '', cell: ({ email }) => email ?? commonMessages.unknown },
  { head: w.status, cell: (action) => <ActionStatus action={action} /> },
  { head: w.attempt, cell: ({ attempt }) => attempt, right: true },
  { head: w.started, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
]

export const ActionStatus = ({ action: { status, isCleanupFailed, isRollingBack } }: { action: OperatorAction }) =>
  isCleanupFailed ? (
    <Status tone="bad">{w.cleanupRequired}</Status>
  ) : isRollingBack ? (
    <Status tone="held">{w.rollingBack}</Status>
  ) : (
    <StatusBadge status={status} working />
  )

export default function Actions() {
  const { search } = usePaging()
  const { status, page, limit } = search
  const query = status === CLEANUP_FAILED ? { cleanupFailed: true } : { status: STATUSES.find((each) => each === status) }
  const actions = useQuery(operatorActionsQuery({ page, limit, ...query }))
  const choices = { ...Object.fromEntries(STATUSES.map((each) => [each, statusName(each)])), [CLEANUP_FAILED]: w.cleanupRequired }
  const choose = <StatusFilter label={w.filter} status={status} choices={choices} />
  return (
    <Page title={w.title} about={w.about} actions={choose}>
      <Card flush>
        <PagedTable of={actions} caption={w.title} columns={COLUMNS} empty={<Empty icon="pulse" title={w.empty} about={w.emptyAbout} />} />
      </Card>
    </Page>
  )
}
