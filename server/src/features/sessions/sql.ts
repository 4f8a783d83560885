import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type SessionRow = Row<'sessions'>

export interface Found extends SessionRow {
  account_id: string
  email: string
  is_operator: boolean
}

export const insertSession = (tx: Tx, row: Omit<SessionRow, 'previous_hash' | 'previous_until'>) =>
  tx.one<SessionRow>(sql`
    insert into sessions (id, hash, user_id, authenticated_at, ip, user_agent, created_at, last_seen_at, expires_at)
    values (${row.id}, ${row.hash}, ${row.user_id}, ${row.authenticated_at}, ${row.ip}, ${row.user_agent}, ${row.created_at}, ${row.last_seen_at},
      ${row.expires_at}) returning ${allColumns('sessions')}`)

export const findByHash = (db: Queries, hash: Buffer) =>
  db.maybe<Found>(sql`
    select ${allColumns('sessions', 's')}, p.account_id, p.email, p.is_operator from sessions s join users p on p.id = s.user_id
    where s.hash = ${hash} or s.previous_hash = ${hash}`)

export const findSession = (db: Queries, id: string) =>
  db.maybe<SessionRow>(sql`select ${allColumns('sessions')} from sessions where id = ${id}`)

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
    update sessions set previous_hash = hash, previous_until = ${previousUntil}, hash = ${hash}, authenticated_at = ${provedAt}
    where id = ${id} returning ${allColumns('sessions')}`)

export const listOf = (db: Queries, now: Date, idleSince: Date, userId: string) =>
  db.many<SessionRow>(sql`
    select ${allColumns('sessions')} from sessions where user_id = ${userId} and expires_at > ${now} and last_seen_at > ${idleSince} order by last_seen_at desc, id`)

export const endSession = (tx: Tx, userId: string, id: string) => tx.run(sql`delete from sessions where id = ${id} and user_id = ${userId}`)

export const endByHash = (tx: Tx, hash: Buffer) => tx.run(sql`delete from sessions where hash = ${hash}`)

export const endOthers = (tx: Tx, userId: string, keptId: string | null) =>
  tx.run(sql`delete from sessions where user_id = ${userId} and id is distinct from ${keptId}`)

/** Keeps the `most` recently used sessions and ends the others. */
export const endBeyond = (tx: Tx, userId: string, most: number) =>
  tx.run(sql`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by last_seen_at desc, id desc offset ${most})`)

export const dropOver = (db: Queries, now: Date, idleSince: Date) =>
  db.run(sql`delete from sessions where expires_at <= ${now} or last_seen_at <= ${idleSince}`)
