import type { Event } from '@berth/sdk'
import { Fragment } from 'react'
import { TextLink } from '../../ui/links.tsx'
import { eventSentence } from './describe.ts'
import { linkedParts } from './linked-parts.ts'

/** What happened, with a link to each thing that it names. */
export const EventSentence = ({ event }: { event: Event }) => (
  <>
    {linkedParts(eventSentence(event), event.data).map(({ at, text, to }) => (
      <Fragment key={at}>
        {to === undefined ? (
          text
        ) : (
          <TextLink to={to} underline="always">
            {text}
          </TextLink>
        )}
      </Fragment>
    ))}
  </>
)
