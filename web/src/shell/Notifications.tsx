import type { Event } from '@berth/sdk'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Session } from '../api/session.ts'
import { eventSentence } from '../screens/events/describe.ts'
import { Loaded } from '../ui/AsyncState.tsx'
import { Flyout } from '../ui/Flyout.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Time } from '../ui/Time.tsx'
import { shellMessages } from '../words/words.ts'
import { Bell } from './Bell.tsx'
import { isFailure, placeOf } from './notable.ts'
import { useNotifications } from './notifications.ts'
import css from './notifications.module.css'

const w = shellMessages.notifications

export default function Notifications({ session }: { session: Session }) {
  const { query, unread, isUnread, markRead } = useNotifications(session)
  const [shownAsNew, setShownAsNew] = useState<ReadonlySet<string>>(new Set())
  const open = (): void => {
    setShownAsNew(new Set((query.data ?? []).filter(isUnread).map(({ id }) => id)))
    markRead()
  }
  return (
    <Flyout label={w.open(unread)} button={<Bell unread={unread} />} onOpen={open} wide>
      {(close) => (
        <>
          <h2 className={css['title']}>{w.title}</h2>
          <Loaded of={query} lines={3}>
            {(events) =>
              events.length === 0 ? (
                <p className={css['none']}>{w.none}</p>
              ) : (
                <ul className={css['list']}>
                  {events.map((event) => (
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

function Notification({ event, isNew, onPick }: { event: Event; isNew: boolean; onPick: () => void }) {
  const { icon, to, tab } = placeOf(event)
  return (
    <li>
      <Link to={to} search={tab === undefined ? {} : { tab }} className={css['entry']} onClick={onPick}>
        <span className={css['icon']} data-failed={isFailure(event.type) || undefined}>
          <Icon name={icon} size={16} />
        </span>
        <span className={css['text']}>
          {eventSentence(event)}
          <span className={css['when']}>
            <Time at={event.timestamp} as="ago" />
          </span>
        </span>
        {isNew && <span className={css['new']} title={w.unread} />}
        {isNew && <span className="hidden">{w.unread}</span>}
      </Link>
    </li>
  )
}
