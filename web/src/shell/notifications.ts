// The notable events of the account, newest first, and how far this browser's user has read them.
import type { Event } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Session } from '../api/session.ts'
import { readEvents } from '../screens/events/recent.ts'
import { isNotable } from './notable.ts'

const WANTED = 20
const PAGE = 100
const MOST_PAGES = 3

async function readNotable(signal: AbortSignal): Promise<Event[]> {
  const found: Event[] = []
  for (let page = 1; page <= MOST_PAGES && found.length < WANTED; page++) {
    const { items, pagination } = await readEvents(page, PAGE, signal)
    found.push(...items.filter(({ type }) => isNotable(type)))
    if (page >= pagination.totalPages) break
  }
  return found.slice(0, WANTED)
}

const keyOf = ({ user, account }: Session): string => `berth:notifications:${user.id}:${account?.id ?? ''}`

/** Cursors are consecutive numbers. */
const isAfter = (cursor: string, seen: string): boolean => BigInt(cursor) > BigInt(seen)

export function useNotifications(session: Session) {
  const key = keyOf(session)
  const [seen, setSeen] = useState(() => (/^\d+$/.exec(localStorage.getItem(key) ?? '') ?? ['0'])[0])
  const query = useQuery({ queryKey: ['notifications'], queryFn: ({ signal }) => readNotable(signal), staleTime: 60_000 })
  const markRead = (): void => {
    const newest = query.data?.[0]?.cursor
    if (newest === undefined || !isAfter(newest, seen)) return
    localStorage.setItem(key, newest)
    setSeen(newest)
  }
  const isUnread = ({ cursor }: Event): boolean => isAfter(cursor, seen)
  return { query, isUnread, markRead }
}
