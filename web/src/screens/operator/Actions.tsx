import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { operatorActionsQuery, type OperatorAction } from '../../api/operator.ts'
import { formatWord } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty, Loaded } from '../../ui/States.tsx'
import { Status, StatusOf } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonWords } from '../../words/common.ts'
import { operatorWords } from '../../words/operator.ts'

const w = operatorWords.actions
const STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']
const STRANDED = 'stranded'

const COLUMNS: Column<OperatorAction>[] = [
  {
    head: w.action,
    cell: ({ id, action }) => (
      <TextLink to="/operator/actions/$actionId" params={{ actionId: id }}>
        {formatWord(action)}
      </TextLink>
    ),
  },
  { head: w.vm, cell: ({ subjectName, subjectId }) => subjectName ?? subjectId ?? commonWords.unknown },
  { head: w.account, cell: ({ email }) => email ?? commonWords.unknown },
  { head: w.status, cell: (action) => <ActionStatus action={action} /> },
  { head: w.attempt, cell: ({ attempt }) => attempt, right: true },
  { head: w.when, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
]

export const ActionStatus = ({ action: { status, isStranded, isUnwinding } }: { action: OperatorAction }) =>
  isStranded ? (
    <Status tone="bad">{w.stranded}</Status>
  ) : isUnwinding ? (
    <Status tone="held">{w.unwinding}</Status>
  ) : (
    <StatusOf status={status} working />
  )

export default function Actions() {
  const { search, filter } = usePaging()
  const { status, page, limit } = search
  const query = status === STRANDED ? { stranded: true } : { status: STATUSES.find((each) => each === status) }
  const actions = useQuery(operatorActionsQuery({ page, limit, ...query }))
  const choices = [
    { value: '', label: commonWords.all },
    ...STATUSES.map((value) => ({ value, label: formatWord(value) })),
    { value: STRANDED, label: w.stranded },
  ]
  const choose = (
    <NativeSelect
      aria-label={w.filter}
      value={status ?? ''}
      onChange={(event) => filter({ status: event.currentTarget.value || undefined })}
      data={choices}
    />
  )
  return (
    <Page title={w.title} about={w.about} actions={choose}>
      <Card flush>
        <Loaded of={actions}>
          {({ items, pagination }) =>
            items.length === 0 ? (
              <Empty icon="pulse" title={w.empty} about={w.emptyAbout} />
            ) : (
              <>
                <Table caption={w.title} columns={COLUMNS} rows={items} rowKey={({ id }) => id} />
                <Pager pagination={pagination} />
              </>
            )
          }
        </Loaded>
      </Card>
    </Page>
  )
}
