// What the provider announces at the moment, and the maintenances that are to come or under way: at the top of the bell until they are over.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Session } from '../api/session.ts'
import { announcementsQuery } from '../queries/account.ts'
import { maintenancesQuery } from '../queries/vms.ts'
import type { IconName } from '../ui/Icon.tsx'
import { formatDateTime } from '../ui/format.ts'
import { announcementMessages, homeMessages } from '../words/words.ts'
import { restore } from './dismissed.ts'
import { readIds, storeIds } from './stored-ids.ts'

interface Notice {
  id: string
  icon: IconName
  text: string
  at: string
  isFault: boolean
  onPick: () => void
}

export function useNotices({ user, account }: Session) {
  const key = `berth:notices:${user.id}:${account?.id ?? ''}`
  const [seen, setSeen] = useState(() => readIds(key))
  const may = (scope: string): boolean => account?.scopes.includes(scope) ?? false
  const announcements = useQuery({ ...announcementsQuery, enabled: may('account:read') }).data ?? []
  const maintenances = useQuery({ ...maintenancesQuery, enabled: may('vms:read') }).data ?? []
  const notices: Notice[] = [
    ...announcements.map(({ id, level, text, startsAt }) => ({
      id,
      icon: level === 'INFO' ? ('pulse' as const) : ('warning' as const),
      text: `${announcementMessages.levels[level]}: ${text}`,
      at: startsAt,
      isFault: level === 'CRITICAL',
      onPick: () => restore(id),
    })),
    ...maintenances.map(({ id, startsAt, endsAt, text, createdAt }) => ({
      id,
      icon: 'settings' as const,
      text: homeMessages.warnings.maintenance(formatDateTime(startsAt), formatDateTime(endsAt), text),
      at: createdAt,
      isFault: false,
      onPick: () => {},
    })),
  ]
  const isUnread = ({ id }: Notice): boolean => !seen.includes(id)
  const markRead = (): void => {
    if (notices.some(isUnread)) setSeen(storeIds(key, [...seen, ...notices.filter(isUnread).map(({ id }) => id)]))
  }
  return { notices, isUnread, markRead }
}
