// Tickets, the audit log and visits of operators of one account.
import type { AuditEntry } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { accountAuditQuery, staffTicketsQuery, visitsQuery, type StaffTicket, type Visit } from '../../api/operator.ts'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Status, toneOf } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { auditMessages, commonMessages, operatorAccountMessages as w, ticketMessages } from '../../words/words.ts'
import { Changes } from '../audit-log/Changes.tsx'
import { actionTitle } from '../audit-log/sentence.ts'

const TICKETS: Column<StaffTicket>[] = [
  {
    head: ticketMessages.subject,
    truncate: ({ subject }) => subject,
    cell: ({ id, subject }) => (
      <TextLink to="/operator/tickets/$ticketId" params={{ ticketId: id }}>
        {subject}
      </TextLink>
    ),
  },
  { head: ticketMessages.status, cell: ({ status }) => <Status tone={toneOf(status)}>{ticketMessages.statuses[status]}</Status> },
  { head: ticketMessages.replies, cell: ({ replyCount }) => replyCount, right: true },
  { head: ticketMessages.updated, cell: ({ updatedAt }) => <Time at={updatedAt} as="ago" />, right: true },
]

export function AccountTickets({ accountId }: { accountId: string }) {
  const { search } = usePaging()
  const tickets = useQuery(staffTicketsQuery({ account: accountId, page: search.page, limit: search.limit }))
  return (
    <Card flush title={w.tickets}>
      <PagedTable of={tickets} caption={w.tickets} columns={TICKETS} empty={<Empty icon="buoy" title={w.tickets} about={w.noTickets} />} />
    </Card>
  )
}

const ENTRIES: Column<AuditEntry>[] = [
  {
    head: auditMessages.action,
    truncate: ({ action, resourceIds }) => [action, ...resourceIds].join(' '),
    cell: ({ action, resourceId, resourceName, changes }) => (
      <div>
        {actionTitle(action)}
        <div className="muted numbers">{resourceName ?? resourceId}</div>
        {changes && <Changes changes={changes} />}
      </div>
    ),
  },
  { head: auditMessages.actor, truncate: ({ actor }) => actor.name, cell: ({ actor }) => actor.name },
  { head: w.ip, cell: ({ ip }) => <code>{ip ?? commonMessages.unknown}</code> },
  {
    head: auditMessages.result,
    cell: ({ result, errorCode, count }) => (
      <Status tone={result === 'succeeded' ? 'good' : 'bad'}>
        {result === 'succeeded' ? auditMessages.succeeded : auditMessages.refused(errorCode, count)}
      </Status>
    ),
  },
  { head: auditMessages.when, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
]

export function AccountAudit({ accountId }: { accountId: string }) {
  const { search } = usePaging()
  const entries = useQuery(accountAuditQuery(accountId, { page: search.page, limit: search.limit }))
  return (
    <Stack>
      <Card flush title={w.audit}>
        <PagedTable of={entries} caption={w.audit} columns={ENTRIES} empty={<Empty icon="list" title={w.audit} about={w.noAudit} />} />
      </Card>
      <Visits accountId={accountId} />
    </Stack>
  )
}

const VISITS: Column<Visit>[] = [
  { head: w.by, truncate: ({ by }) => by, cell: ({ by }) => by },
  { head: w.reason, grow: true, truncate: ({ reason }) => reason, cell: ({ reason }) => reason },
  {
    head: w.changes,
    truncate: ({ writesReason }) => writesReason ?? '',
    cell: ({ writesReason }) => writesReason ?? <span className="muted">{w.readOnly}</span>,
  },
  { head: w.started, cell: ({ startedAt }) => <Time at={startedAt} />, right: true },
  {
    head: w.ended,
    cell: ({ endedAt }) => (endedAt === null ? <Status tone="busy">{w.underWay}</Status> : <Time at={endedAt} />),
    right: true,
  },
]

function Visits({ accountId }: { accountId: string }) {
  const visits = useQuery(visitsQuery(accountId))
  return (
    <Card flush title={w.visits}>
      <Loaded of={visits} lines={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="muted" style={{ padding: 'var(--space-4) var(--space-5)' }}>
              {w.noVisits}
            </p>
          ) : (
            <Table caption={w.visits} columns={VISITS} rows={rows} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}
