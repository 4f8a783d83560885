import { Button, NativeSelect, UnstyledButton } from '@mantine/core'
import type { WebhookDelivery } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { deliveriesQuery } from '../../queries/webhooks.ts'
import { formatDuration } from '../../ui/format.ts'
import { Card } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty, Loaded } from '../../ui/States.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonWords } from '../../words/common.ts'
import { webhookWords as w } from '../../words/webhooks.ts'
import { DeliveryDialog } from './DeliveryDialog.tsx'

export function Deliveries({ webhookId }: { webhookId: string }) {
  const { search, filter } = usePaging()
  const [shown, setShown] = useState<string | null>(null)
  const status = search.status && search.status in w.statuses ? (search.status as WebhookDelivery['status']) : undefined
  const deliveries = useQuery(deliveriesQuery(webhookId, { page: search.page, limit: search.limit, status }))
  const replay = useWrite((id: string) => berth.webhooks.redeliver(webhookId, id), { changes: ['deliveries'], says: w.replayed })
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
      head: w.columns.answer,
      cell: ({ responseStatus, error }) => responseStatus ?? <span className="muted">{error ?? commonWords.unknown}</span>,
    },
    { head: w.columns.took, cell: ({ latencyMs }) => (latencyMs === null ? commonWords.unknown : formatDuration(latencyMs)), right: true },
    { head: w.columns.when, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
    {
      head: commonWords.actions,
      quiet: true,
      right: true,
      cell: ({ id, eventId, type }) =>
        eventId && (
          <Button variant="default" size="xs" aria-label={`${w.replay}: ${type}`} onClick={() => replay.mutate(id)}>
            {w.replay}
          </Button>
        ),
    },
  ]
  const choose = (
    <NativeSelect
      size="xs"
      aria-label={w.filter}
      value={status ?? ''}
      onChange={(event) => filter({ status: event.currentTarget.value || undefined })}
      data={[{ value: '', label: commonWords.all }, ...Object.entries(w.statuses).map(([value, label]) => ({ value, label }))]}
    />
  )
  return (
    <Card flush title={w.deliveries} about={w.deliveriesAbout} actions={choose}>
      <Loaded of={deliveries}>
        {({ items, pagination }) =>
          items.length === 0 ? (
            <Empty icon="webhook" title={w.noDeliveries} about={w.noDeliveriesAbout} />
          ) : (
            <>
              <Table caption={w.deliveries} columns={columns} rows={items} rowKey={({ id }) => id} />
              <Pager pagination={pagination} />
            </>
          )
        }
      </Loaded>
      {shown && <DeliveryDialog webhookId={webhookId} deliveryId={shown} onClose={() => setShown(null)} />}
    </Card>
  )
}
