import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isNotable } from '../shell/notable.ts'
import { createBatch } from './batch.ts'
import { followFeed, type FeedState } from './feed.ts'

/** Event type prefix → first element of the query keys to refetch. What is left of the own budget is in the session, and of the project's in the account. */
const STALE_QUERIES: Record<string, string[]> = {
  vm: ['vms', 'vm', 'actions', 'wallet', 'bandwidth', 'limits', 'firewalls', 'networks', 'addresses', 'volumes', 'session', 'account'],
  snapshot: ['snapshots', 'actions', 'vm', 'session', 'account'],
  backup: ['backups', 'actions', 'vm', 'session', 'account'],
  billing: ['wallet', 'vms'],
  address: ['addresses', 'actions', 'wallet', 'limits', 'session', 'account'],
  volume: ['volumes', 'volume-snapshots', 'actions', 'wallet', 'limits', 'session', 'account'],
  image: ['images', 'vm', 'vms', 'actions', 'wallet', 'limits', 'session', 'account'],
  firewall: ['firewalls'],
  maintenance: ['maintenances'],
  member: ['members', 'session'],
  alert: ['alerts'],
  network: ['networks', 'limits'],
  project: ['projects', 'session', 'limits'],
  ticket: ['tickets'],
  token: ['api-keys'],
  webhook: ['webhooks'],
}

const ALWAYS_STALE = ['events', 'deliveries']

/** Refetches the queries affected by each event. */
export function useLiveUpdates(): FeedState {
  const client = useQueryClient()
  const [state, setState] = useState<FeedState>('connecting')
  useEffect(() => {
    const stop = new AbortController()
    const stale = createBatch((keys) => Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] }))))
    const onEvent = ({ type }: { type: string }): void => {
      for (const key of [...(STALE_QUERIES[type.split('.')[0]!] ?? []), ...ALWAYS_STALE]) stale.add(key)
      if (isNotable(type)) stale.add('notifications')
    }
    const onGap = (): void => void client.invalidateQueries()
    void followFeed({ onEvent, onState: setState, onGap }, stop.signal)
    return () => {
      stop.abort()
      stale.stop()
    }
  }, [client])
  return state
}
