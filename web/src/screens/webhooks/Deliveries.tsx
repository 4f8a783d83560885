import { Button, UnstyledButton } from '@mantine/core'
import type { WebhookDelivery } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { deliveriesQuery } from '../../queries/webhooks.ts'
import { formatDuration } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { StatusFilter } from '../../ui/StatusFilter.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, webhookMessages as w } from '../../words/words.ts'
import { DeliveryDialog } from './DeliveryDialog.tsx'

export function Deliveries({ webhookId }: { webhookId: string }) {
  const { search } = usePaging()
  const [shown, setShown] = useState<string | null>(null)
  const status = search.status && search.status in w.statuses ? (search.status as WebhookDelivery['status']) : undefined
  const deliveries = useQuery(deliveriesQuery(webhookId, { page: search.page, limit: search.limit, status }))
  const replay = useWrite((id: string) => berth.webhooks.redeliver(webhookId, id), {
    invalidates: ['deliveries'],
    successMessage: w.resent,
  })
  const columns: Column<WebhookDelivery>[] = [
    {
      head: w.columns.event,
      cell: ({ id, type }) => (
        <UnstyledButton aria-label={w.show(type)} onClick={() => setShown(id)} style={{ textDecoration: 'underline' }}>
          <code>{type}</code>
        </UnstyledButton>
      ),
    },
    { head: w.columns.status, cell: (each) => <Status tone={toneOf(each.status)}>{w.statuses[each.status]}</Status> },
    { head: w.columns.attempts, cell: ({ attempts }) => attempts, right: true },
    {
      head: w.columns.response,
      truncate: ({ error }) => error ?? '',
      cell: ({ responseStatus, error }) => responseStatus ?? <span className="muted">{error ?? commonMessages.unknown}</span>,
    },
    {
      head: w.columns.duration,
      cell: ({ latencyMs }) => (latencyMs === null ? commonMessages.unknown : formatDuration(latencyMs)),
      right: true,
    },
    { head: w.columns.when, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: ({ id, eventId, type, status: each }) =>
        eventId &&
        each !== 'PENDING' && (
          <Button variant="default" size="xs" aria-label={`${w.resend}: ${type}`} onClick={() => replay.mutate(id)}>
            {w.resend}
          </Button>
        ),
    },
  ]
  const choose = <StatusFilter size="xs" label={w.filter} status={status} choices={w.statuses} />
  return (
    <Card flush title={w.deliveries} about={w.deliveriesAbout} actions={choose}>
      <PagedTable
        of={deliveries}
        caption={w.deliveries}
        columns={columns}
        empty={<Empty icon="webhook" title={w.noDeliveries} about={w.noDeliveriesAbout} />}
      />
      {shown && <DeliveryDialog webhookId={webhookId} deliveryId={shown} onClose={() => setShown(null)} />}
    </Card>
  )
}
