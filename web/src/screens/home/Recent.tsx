import { TextLink } from '../../ui/links.tsx'
import { Time } from '../../ui/Time.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { homeMessages as w } from '../../words/words.ts'
import { EventSentence } from '../events/EventSentence.tsx'
import { useRecentEvents } from '../events/recent.ts'
import css from './home.module.css'

export function Recent() {
  const recent = useRecentEvents(6)
  return (
    <Loaded of={recent} lines={3}>
      {(events) =>
        events.length === 0 ? (
          <p className="muted">{w.noEvents}</p>
        ) : (
          <ul className={css['list']}>
            {events.map((event) => (
              <li key={event.id}>
                <span>
                  <EventSentence event={event} />
                  <small className="muted" style={{ display: 'block' }}>
                    <code>{event.type}</code>
                  </small>
                </span>
                <span className="muted">
                  <Time at={event.timestamp} as="ago" />
                </span>
              </li>
            ))}
            <li>
              <TextLink to="/events">{w.all}</TextLink>
            </li>
          </ul>
        )
      }
    </Loaded>
  )
}
