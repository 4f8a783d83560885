import { ActionIcon, Select, TextInput } from '@mantine/core'
import type { AuditEntry } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keysQuery } from '../../api/keys.ts'
import { auditQuery } from '../../queries/account.ts'
import { membersQuery } from '../../queries/members.ts'
import { Code } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Filters } from '../../ui/Filters.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { auditMessages as w } from '../../words/words.ts'
import css from './audit-log.module.css'
import { Changes } from './Changes.tsx'
import { useResources, type Resource } from './resources.ts'
import { Sentence, Source } from './Sentence.tsx'
import { ACTION_CHOICES, actionTitle, namesIn } from './sentence.ts'

const columnsOf = (
  resources: Map<string, Resource>,
  names: Map<string, string>,
  show: (entry: AuditEntry) => void,
): Column<AuditEntry>[] => [
  {
    head: w.action,
    grow: true,
    cell: (entry) => (
      <div className={css['entry']}>
        <Sentence {...{ entry, resources, names }} />
        {entry.changes && <Changes changes={entry.changes} />}
        <Source entry={entry} />
      </div>
    ),
  },
  {
    head: w.result,
    cell: ({ result, errorCode, count }) => (
      <Status tone={result === 'succeeded' ? 'good' : 'bad'}>{result === 'succeeded' ? w.succeeded : w.refused(errorCode, count)}</Status>
    ),
  },
  { head: w.when, cell: ({ createdAt }) => <Time at={createdAt} as="ago" />, right: true },
  {
    head: w.data,
    quiet: true,
    shrink: true,
    right: true,
    cell: (entry) => (
      <ActionIcon variant="subtle" color="gray" aria-label={w.show(actionTitle(entry.action))} onClick={() => show(entry)}>
        <Icon name="code" size={16} />
      </ActionIcon>
    ),
  },
]

export default function AuditLog() {
  const { search, filter } = usePaging()
  const [shown, setShown] = useState<AuditEntry | null>(null)
  const { page, limit, dateFrom, dateTo, action, tokenId, personId } = search
  const entries = useQuery(auditQuery({ page, limit, dateFrom, dateTo, action, tokenId, personId }))
  const resources = useResources()
  const isFiltered = [dateFrom, dateTo, action, tokenId, personId].some((each) => each !== undefined)
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
          <ActorFilter />
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
          columns={columnsOf(resources, namesIn(entries.data?.items ?? []), setShown)}
          empty={<Empty icon="list" title={w.emptyTitle} about={isFiltered ? w.emptyFiltered : w.emptyAbout} />}
        />
      </Card>
      {shown && (
        <Dialog title={actionTitle(shown.action)} onClose={() => setShown(null)} size="lg">
          <Code text={JSON.stringify(shown, null, 2)} what={w.data} />
        </Dialog>
      )}
    </Page>
  )
}

const PERSON = 'person:'
const TOKEN = 'token:'

function ActorFilter() {
  const { search, filter } = usePaging()
  const members = useQuery(membersQuery({ limit: 100 })).data?.items ?? []
  const keys = useQuery(keysQuery).data ?? []
  const chosen = search.personId ? `${PERSON}${search.personId}` : search.tokenId ? `${TOKEN}${search.tokenId}` : null
  const choose = (actor: string | null): void =>
    filter({
      personId: actor?.startsWith(PERSON) ? actor.slice(PERSON.length) : undefined,
      tokenId: actor?.startsWith(TOKEN) ? actor.slice(TOKEN.length) : undefined,
    })
  const data = [
    { group: w.people, items: members.map(({ id, email }) => ({ value: `${PERSON}${id}`, label: email })) },
    { group: w.keys, items: keys.map(({ id, name }) => ({ value: `${TOKEN}${id}`, label: name })) },
  ].filter(({ items }) => items.length > 0)
  return (
    <Select
      label={w.actor}
      placeholder={w.anyActor}
      value={chosen}
      onChange={choose}
      data={data}
      searchable
      clearable
      nothingFoundMessage={w.noActor}
      clearButtonProps={{ 'aria-label': w.anyActor }}
      style={{ flexBasis: 220 }}
    />
  )
}
