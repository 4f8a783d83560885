// What an operator says to all customers, or to those who have something in a region.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { getRegion } from '../catalog/service.ts'
import type { Announcement, CreateAnnouncement, OperatorAnnouncement } from './schema.ts'
import * as sql from './sql.ts'

export const showAnnouncements = async (db: Queries, now: Date, accountId: string): Promise<Announcement[]> =>
  (await sql.listShown(db, now, accountId)).map(toAnnouncement)

export const listAllAnnouncements = async (db: Queries, now: Date): Promise<OperatorAnnouncement[]> =>
  (await sql.listAnnouncements(db)).map((row) => toOperators(row, now))

export async function createAnnouncement(tx: Tx, now: Date, input: CreateAnnouncement): Promise<OperatorAnnouncement> {
  const startsAt = input.startsAt ? new Date(input.startsAt) : now
  const endsAt = input.endsAt ? new Date(input.endsAt) : null
  if (endsAt && !(endsAt > startsAt && endsAt > now)) throw invalid('it must end after it begins, and in the future', 'endsAt')
  if (input.text.trim() === '') throw invalid('it must say something', 'text')
  const region = input.region ? await getRegion(tx, input.region) : null
  const id = newId()
  const when = { starts_at: startsAt, ends_at: endsAt, created_at: now }
  await sql.insertAnnouncement(tx, { id, level: input.level, text: input.text, region_id: region?.id ?? null, ...when })
  return toOperators((await sql.findAnnouncement(tx, id))!, now)
}

export async function withdrawAnnouncement(tx: Tx, now: Date, id: string): Promise<OperatorAnnouncement> {
  const isWithdrawn = await sql.withdraw(tx, now, id)
  const row = await sql.findAnnouncement(tx, id)
  if (!row) throw notFound('Announcement')
  if (!isWithdrawn) throw apiError('invalid_state', 'The announcement is withdrawn already')
  return toOperators(row, now)
}

const toAnnouncement = ({ id, level, text, region_id, starts_at, ends_at }: sql.AnnouncementRow): Announcement => ({
  id,
  level,
  text,
  regionId: region_id,
  startsAt: starts_at.toISOString(),
  endsAt: ends_at?.toISOString() ?? null,
})

const toOperators = (row: sql.ListedAnnouncement, now: Date): OperatorAnnouncement => ({
  ...toAnnouncement(row),
  region: row.region_slug,
  state: stateOf(row, now),
  createdAt: row.created_at.toISOString(),
})

function stateOf({ withdrawn_at, starts_at, ends_at }: sql.AnnouncementRow, now: Date): OperatorAnnouncement['state'] {
  if (withdrawn_at) return 'WITHDRAWN'
  if (ends_at && ends_at <= now) return 'OVER'
  return starts_at > now ? 'SCHEDULED' : 'SHOWN'
}
