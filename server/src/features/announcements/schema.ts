import { nullable, object, oneOf, plainText, Timestamp, Type, type Static } from '../../http/api/schema.ts'

const ANNOUNCEMENT_LEVELS = ['INFO', 'WARNING', 'CRITICAL'] as const

const announcement = {
  id: Type.String(),
  level: oneOf([...ANNOUNCEMENT_LEVELS]),
  text: Type.String({ description: 'What the operator says: plain text' }),
  regionId: nullable(Type.String({ description: 'It concerns who has something there; null: everybody' })),
  startsAt: Timestamp,
  endsAt: nullable({ ...Timestamp, description: 'null: until the operator withdraws it' }),
}

export const Announcement = object(announcement, { title: 'Announcement' })
export type Announcement = Static<typeof Announcement>

const ANNOUNCEMENT_STATES = ['SCHEDULED', 'SHOWN', 'OVER', 'WITHDRAWN'] as const

/** As operators see it. */
export const OperatorAnnouncement = object(
  {
    ...announcement,
    region: nullable(Type.String({ description: 'Slug' })),
    state: oneOf([...ANNOUNCEMENT_STATES]),
    createdAt: Timestamp,
  },
  { title: 'OperatorAnnouncement' },
)
export type OperatorAnnouncement = Static<typeof OperatorAnnouncement>

export const CreateAnnouncement = object({
  level: oneOf([...ANNOUNCEMENT_LEVELS]),
  text: plainText(1, 1_000),
  region: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 64, description: 'Id or slug; null: everybody' }))),
  startsAt: Type.Optional({ ...Timestamp, description: 'Now unless given' }),
  endsAt: Type.Optional(nullable(Timestamp)),
})
export type CreateAnnouncement = Static<typeof CreateAnnouncement>
