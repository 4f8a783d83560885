import type { Event } from '@berth/sdk'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Session } from '../api/session.ts'
import { eventSentence } from '../screens/events/describe.ts'
import { Loaded } from '../ui/AsyncState.tsx'
import { Flyout } from '../ui/Flyout.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Time } from '../ui/Time.tsx'
import { shellMessages } from '../words/words.ts'
import { Bell } from './Bell.tsx'
import { isFailure, placeOf } from './notable.ts'
import { useNotices } from './notices.ts'
import { useNotifications } from './notifications.ts'
import css from './notifications.module.css'

const w = shellMessages.notifications

export default function Notifications({ session }: { session: Session }) {
  const { query, isUnread, markRead } = useNotifications(session)
  const current = useNotices(session)
  const [shownAsNew, setShownAsNew] = useState<ReadonlySet<string>>(new Set())
  const rest = (query.data ?? []).filter((event) => !current.notices.some(({ id }) => isOf(event, id)))
  const unread = [...rest.filter(isUnread), ...current.notices.filter(current.isUnread)]
  const open = (): void => {
    setShownAsNew(new Set(unread.map(({ id }) => id)))
    markRead()
    current.markRead()
  }
  return (
    <Flyout label={w.open(unread.length)} button={<Bell unread={unread.length} />} onOpen={open} wide>
      {(close) => (
        <>
          <h2 className={css['title']}>{w.title}</h2>
          {current.notices.length > 0 && (
            <ul className={`${css['list']} ${css['current']}`} aria-label={w.current}>
              {current.notices.map(({ id, icon, text, at, isFault, onPick }) => (
                <Entry
                  key={id}
                  icon={icon}
                  to="/"
                  text={text}
                  at={at}
                  isFailure={isFault}
                  isNew={shownAsNew.has(id)}
                  onPick={() => {
                    onPick()
                    close()
                  }}
                />
              ))}
            </ul>
          )}
          <Loaded of={query} lines={3}>
            {() =>
              rest.length === 0 ? (
                current.notices.length === 0 && <p className={css['none']}>{w.none}</p>
              ) : (
                <ul className={css['list']}>
                  {rest.map((event) => (
                    <Notification key={event.id} event={event} isNew={shownAsNew.has(event.id)} onPick={close} />
                  ))}
                </ul>
              )
            }
          </Loaded>
          <Link to="/events" className={css['all']} onClick={close}>
            {w.all}
          </Link>
        </>
      )}
    </Flyout>
  )
}

/** What announced a maintenance is shown by the maintenance itself. */
const isOf = ({ type, data }: Event, maintenanceId: string): boolean =>
  type === 'maintenance.announced' && (data as { maintenance?: { id: string } }).maintenance?.id === maintenanceId

function Notification({ event, isNew, onPick }: { event: Event; isNew: boolean; onPick: () => void }) {
  const { type, timestamp } = event
  return <Entry {...placeOf(event)} text={eventSentence(event)} at={timestamp} isFailure={isFailure(type)} isNew={isNew} onPick={onPick} />
}

interface EntryProps {
  icon: IconName
  to: string
  tab?: string
  text: string
  at: string
  isFailure: boolean
  isNew: boolean
  onPick: () => void
}

const Entry = ({ icon, to, tab, text, at, isFailure: failed, isNew, onPick }: EntryProps) => (
  <li>
    <Link to={to} search={tab === undefined ? {} : { tab }} className={css['entry']} onClick={onPick}>
      <span className={css['icon']} data-failed={failed || undefined}>
        <Icon name={icon} size={16} />
      </span>
      <span className={css['text']}>
        <span className={css['said']}>{text}</span>
        <span className={css['when']}>
          <Time at={at} as="ago" />
        </span>
      </span>
      {isNew && <span className={css['new']} title={w.unread} />}
      {isNew && <span className="hidden">{w.unread}</span>}
    </Link>
  </li>
)
