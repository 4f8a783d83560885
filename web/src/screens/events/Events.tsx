import { ActionIcon } from '@mantine/core'
import type { Event } from '@berth/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Code } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { eventMessages as w } from '../../words/words.ts'
import { eventSentence } from './describe.ts'
import { EventSentence } from './EventSentence.tsx'
import { Examples } from './Examples.tsx'
import { readEvents } from './recent.ts'

export default function Events() {
  const [shown, setShown] = useState<Event | null>(null)
  const { page = 1, limit = 20 } = usePaging().search
  const events = useQuery({
    queryKey: ['events', page, limit],
    queryFn: ({ signal }) => readEvents(page, limit, signal),
    placeholderData: keepPreviousData,
  })
  const columns: Column<Event>[] = [
    {
      head: w.event,
      truncate: eventSentence,
      grow: true,
      cell: (event) => (
        <div>
          <EventSentence event={event} />
          <small className="muted" style={{ display: 'block' }}>
            <code>{event.type}</code>
          </small>
        </div>
      ),
    },
    { head: w.number, cell: ({ cursor }) => cursor, right: true },
    { head: w.when, cell: ({ timestamp }) => <Time at={timestamp} as="ago" />, right: true },
    {
      head: w.data,
      quiet: true,
      shrink: true,
      right: true,
      cell: (event) => (
        <ActionIcon variant="subtle" color="gray" aria-label={w.show(eventSentence(event))} onClick={() => setShown(event)}>
          <Icon name="code" size={16} />
        </ActionIcon>
      ),
    },
  ]
  return (
    <Page title={w.title} about={w.about}>
      <Card flush>
        <PagedTable
          of={events}
          caption={w.title}
          columns={columns}
          empty={<Empty icon="pulse" title={w.emptyTitle} about={w.emptyAbout} />}
        />
      </Card>
      <Examples />
      {shown && (
        <Dialog title={shown.type} onClose={() => setShown(null)} size="lg">
          <Code text={JSON.stringify(shown, null, 2)} what={w.data} />
        </Dialog>
      )}
    </Page>
  )
}
