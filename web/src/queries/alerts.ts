import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '@berth/sdk'
import { berth } from '../api/berth.ts'

/** Asked for again: where an alert fires changes by itself. */
export const alertsQuery = (query: Query<'listAlerts'>) =>
  queryOptions({
    queryKey: ['alerts', query],
    queryFn: ({ signal }) => berth.alerts.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
