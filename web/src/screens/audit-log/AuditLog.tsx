import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import type { AuditEntry } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { auditQuery } from '../../queries/account.ts'
import { Filters } from '../../ui/Filters.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { auditMessages as w } from '../../messages/audit.ts'
import { commonMessages } from '../../messages/common.ts'

const COLUMNS: Column<AuditEntry>[] = [
  { head: w.action, cell: ({ action }) => <code>{action}</code> },
  {
    head: w.actor,
    cell: ({ actor }) => (
      <div>
        {actor.name}
        <div className="muted">{w.actors[actor.type] ?? actor.type}</div>
      </div>
    ),
  },
  { head: w.from, cell: ({ ip }) => <code>{ip ?? commonMessages.unknown}</code> },
  { head: w.resource, cell: ({ resourceId }) => <code className="muted">{resourceId ?? commonMessages.unknown}</code> },
  {
    head: w.result,
    cell: ({ result, errorCode, count }) => (
      <Status tone={result === 'succeeded' ? 'good' : 'bad'}>{result === 'succeeded' ? w.succeeded : w.refused(errorCode, count)}</Status>
    ),
  },
  { head: w.when, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
]

export default function AuditLog() {
  const { search, filter } = usePaging()
  const { page, limit, dateFrom, dateTo, action, tokenId } = search
  const entries = useQuery(auditQuery({ page, limit, dateFrom, dateTo, action, tokenId }))
  const [typed, setTyped] = useState(action ?? '')
  const apply = useDebouncedCallback((text: string) => filter({ action: text || undefined }), 400)
  const isFiltered = [dateFrom, dateTo, action, tokenId].some((each) => each !== undefined)
  return (
    <Page title={w.title} about={w.about}>
      <Card flush>
        <Filters>
          <TextInput
            aria-label={w.action}
            placeholder={w.actionHint}
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value)
              apply(event.currentTarget.value.trim())
            }}
            style={{ flexBasis: 240 }}
          />
          <TextInput
            type="date"
            aria-label={w.dateFrom}
            value={dateFrom ?? ''}
            onChange={(event) => filter({ dateFrom: event.currentTarget.value || undefined })}
          />
          <TextInput
            type="date"
            aria-label={w.dateTo}
            value={dateTo ?? ''}
            onChange={(event) => filter({ dateTo: event.currentTarget.value || undefined })}
          />
        </Filters>
        <PagedTable
          of={entries}
          caption={w.title}
          columns={COLUMNS}
          empty={<Empty icon="list" title={w.emptyTitle} about={isFiltered ? w.emptyFiltered : w.emptyAbout} />}
        />
      </Card>
    </Page>
  )
}
