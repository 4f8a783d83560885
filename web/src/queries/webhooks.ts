import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '@berth/sdk'
import { berth } from '../api/berth.ts'

export const webhooksQuery = (query: Query<'listWebhooks'>) =>
  queryOptions({
    queryKey: ['webhooks', query],
    queryFn: ({ signal }) => berth.webhooks.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const webhookQuery = (id: string) =>
  queryOptions({ queryKey: ['webhooks', 'one', id], queryFn: ({ signal }) => berth.webhooks.get(id, { signal }), refetchInterval: 5_000 })

export const deliveriesQuery = (id: string, query: Query<'listWebhookDeliveries'>) =>
  queryOptions({
    queryKey: ['deliveries', id, query],
    queryFn: ({ signal }) => berth.webhooks.deliveries(id, query, { signal }).page(),
    placeholderData: keepPreviousData,
    refetchInterval: 2_000,
  })

export const deliveryQuery = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ['deliveries', id, 'one', deliveryId],
    queryFn: ({ signal }) => berth.webhooks.delivery(id, deliveryId, { signal }),
    refetchInterval: 2_000,
  })
