import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'

export interface SessionRow {
  id: string
  hash: Buffer
  previous_hash: Buffer | null
  previous_until: Date | null
  person_id: string
  /** When the password was last given. */
  proved_at: Date
  ip: string
  user_agent: string
  created_at: Date
  last_seen_at: Date
  expires_at: Date
}

export interface Found extends SessionRow {
  account_id: string
  email: string
  is_operator: boolean
}

export const insertSession = (tx: Tx, row: Omit<SessionRow, 'previous_hash' | 'previous_until'>) =>
  tx.one<SessionRow>(sql`
    insert into sessions (id, hash, person_id, proved_at, ip, user_agent, created_at, last_seen_at, expires_at)
    values (${row.id}, ${row.hash}, ${row.person_id}, ${row.proved_at}, ${row.ip}, ${row.user_agent}, ${row.created_at}, ${row.last_seen_at},
      ${row.expires_at}) returning *`)

export const findByHash = (db: Queries, hash: Buffer) =>
  db.maybe<Found>(sql`
    select s.*, p.account_id, p.email, p.is_operator from sessions s join people p on p.id = s.person_id
    where s.hash = ${hash} or s.previous_hash = ${hash}`)

export const findSession = (db: Queries, id: string) => db.maybe<SessionRow>(sql`select * from sessions where id = ${id}`)

export const states = (db: Queries, now: Date, idleSince: Date, ids: string[]) =>
  db.many<{ id: string; usable: boolean }>(sql`
    select id, expires_at > ${now} and last_seen_at > ${idleSince} as usable from sessions where id = any(${ids}::text[])`)

export const touch = (db: Queries, now: Date, id: string, ip: string) =>
  db.run(sql`update sessions set last_seen_at = greatest(last_seen_at, ${now}), ip = ${ip} where id = ${id}`)

export interface Rotation {
  id: string
  hash: Buffer
  provedAt: Date
  previousUntil: Date
}

export const rotate = (tx: Tx, { id, hash, provedAt, previousUntil }: Rotation) =>
  tx.maybe<SessionRow>(sql`
    update sessions set previous_hash = hash, previous_until = ${previousUntil}, hash = ${hash}, proved_at = ${provedAt}
    where id = ${id} returning *`)

export const listOf = (db: Queries, now: Date, idleSince: Date, personId: string) =>
  db.many<SessionRow>(sql`
    select * from sessions where person_id = ${personId} and expires_at > ${now} and last_seen_at > ${idleSince} order by last_seen_at desc, id`)

export const endSession = (tx: Tx, personId: string, id: string) =>
  tx.run(sql`delete from sessions where id = ${id} and person_id = ${personId}`)

export const endByHash = (tx: Tx, hash: Buffer) => tx.run(sql`delete from sessions where hash = ${hash}`)

export const endOthers = (tx: Tx, personId: string, keptId: string | null) =>
  tx.run(sql`delete from sessions where person_id = ${personId} and id is distinct from ${keptId}`)

/** Only so many are kept: the one that was not used for longest goes. */
export const endBeyond = (tx: Tx, personId: string, most: number) =>
  tx.run(sql`
    delete from sessions where id in (
      select id from sessions where person_id = ${personId} order by last_seen_at desc, id desc offset ${most})`)

export const dropOver = (db: Queries, now: Date, idleSince: Date) =>
  db.run(sql`delete from sessions where expires_at <= ${now} or last_seen_at <= ${idleSince}`)
