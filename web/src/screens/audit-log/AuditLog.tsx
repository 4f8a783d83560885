import { Select, TextInput } from '@mantine/core'
import type { AuditEntry } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { auditQuery } from '../../queries/account.ts'
import { Filters } from '../../ui/Filters.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { auditMessages as w, commonMessages } from '../../words/words.ts'
import { ACTION_CHOICES, actionName } from './action-name.ts'
import { useResources, type Resource } from './resources.ts'

const columnsOf = (resources: Map<string, Resource>): Column<AuditEntry>[] => [
  {
    head: w.action,
    truncate: ({ action, resourceIds }) => [action, ...resourceIds].join(' '),
    cell: (entry) => <Sentence entry={entry} resources={resources} />,
  },
  {
    head: w.actor,
    truncate: ({ actor }) => actor.name,
    cell: ({ actor }) => (
      <div>
        <div>{actor.name}</div>
        <div className="muted">
          {w.actors[actor.type] ?? actor.type}
          {actor.via === 'token' && actor.person && ` · ${actor.person.name}`}
        </div>
      </div>
    ),
  },
  { head: w.from, cell: ({ ip }) => <code>{ip ?? commonMessages.unknown}</code> },
  {
    head: w.result,
    cell: ({ result, errorCode, count }) => (
      <Status tone={result === 'succeeded' ? 'good' : 'bad'}>{result === 'succeeded' ? w.succeeded : w.refused(errorCode, count)}</Status>
    ),
  },
  { head: w.when, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
]

/** Links to what still exists; of the rest the id is left. */
function Sentence({ entry: { action, resourceIds }, resources }: { entry: AuditEntry; resources: Map<string, Resource> }) {
  const known = resourceIds.flatMap((id) => resources.get(id) ?? [])
  return (
    <div>
      <div>
        {actionName(action)}{' '}
        {known.map(({ name, to }, index) => (
          <Fragment key={`${to} ${name}`}>
            {index > 0 && ', '}
            <TextLink to={to} underline="always">
              {name}
            </TextLink>
          </Fragment>
        ))}
      </div>
      {known.length === 0 && resourceIds.length > 0 && <div className="muted">{resourceIds.at(-1)}</div>}
    </div>
  )
}

export default function AuditLog() {
  const { search, filter } = usePaging()
  const { page, limit, dateFrom, dateTo, action, tokenId } = search
  const entries = useQuery(auditQuery({ page, limit, dateFrom, dateTo, action, tokenId }))
  const resources = useResources()
  const isFiltered = [dateFrom, dateTo, action, tokenId].some((each) => each !== undefined)
  return (
    <Page title={w.title} about={w.about}>
      <Card flush>
        <Filters>
          <Select
            label={w.action}
            placeholder={w.anyAction}
            value={action ?? null}
            onChange={(next) => filter({ action: next ?? undefined })}
            data={ACTION_CHOICES}
            searchable
            clearable
            nothingFoundMessage={w.noAction}
            clearButtonProps={{ 'aria-label': w.anyAction }}
            style={{ flexBasis: 260 }}
          />
          <TextInput
            type="date"
            label={w.dateFrom}
            value={dateFrom ?? ''}
            onChange={(event) => filter({ dateFrom: event.currentTarget.value || undefined })}
          />
          <TextInput
            type="date"
            label={w.dateTo}
            value={dateTo ?? ''}
            onChange={(event) => filter({ dateTo: event.currentTarget.value || undefined })}
          />
        </Filters>
        <PagedTable
          of={entries}
          caption={w.title}
          columns={columnsOf(resources)}
          empty={<Empty icon="list" title={w.emptyTitle} about={isFiltered ? w.emptyFiltered : w.emptyAbout} />}
        />
      </Card>
    </Page>
  )
}
