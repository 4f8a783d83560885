import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import type { HostCheck } from './host-setup.ts'

export type EnrollmentRow = Omit<Row<'host_enrollments'>, 'checks'> & { checks: HostCheck[] }
export type ListedEnrollment = EnrollmentRow & { region_slug: string }

const listed = sql`select ${allColumns('host_enrollments', 'e')}, r.slug as region_slug from host_enrollments e join regions r on r.id = e.region_id`

type NewEnrollment = Pick<
  EnrollmentRow,
  'id' | 'region_id' | 'name' | 'address' | 'uplink' | 'token_hash' | 'sealed_bundle' | 'range' | 'gateway' | 'created_at' | 'expires_at'
>

export const insertEnrollment = (tx: Tx, row: NewEnrollment) =>
  tx.run(sql`
    insert into host_enrollments (id, region_id, name, address, uplink, token_hash, sealed_bundle, range, gateway, created_at, expires_at)
    values (${row.id}, ${row.region_id}, ${row.name}, ${row.address}, ${row.uplink}, ${row.token_hash}, ${row.sealed_bundle}, ${row.range}, ${row.gateway},
      ${row.created_at}, ${row.expires_at})`)

const MOST = 50

export const listEnrollments = (db: Queries) => db.many<ListedEnrollment>(sql`${listed} order by e.id desc limit ${MOST}`)
export const findEnrollment = (db: Queries, id: string) => db.maybe<ListedEnrollment>(sql`${listed} where e.id = ${id}`)
export const lockEnrollment = (tx: Tx, id: string) => tx.maybe<ListedEnrollment>(sql`${listed} where e.id = ${id} for update of e`)
export const lockByToken = (tx: Tx, hash: Buffer) => tx.maybe<ListedEnrollment>(sql`${listed} where e.token_hash = ${hash} for update of e`)

/** Neither joined nor revoked. */
export const listUnfinished = (db: Queries) =>
  db.many<ListedEnrollment>(sql`${listed} where e.joined_at is null and e.revoked_at is null order by e.id`)

/** Those that have certificates which nobody is to have any more. */
export const listUncleaned = (db: Queries) =>
  db.many<ListedEnrollment>(sql`${listed} where e.revoked_at is not null and e.fetched_at is not null and not e.is_cleaned order by e.id`)

export const markFetched = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update host_enrollments set fetched_at = ${now}, sealed_bundle = null where id = ${id}`)
export const writeChecks = (db: Queries, now: Date, id: string, checks: HostCheck[]) =>
  db.run(sql`update host_enrollments set checks = ${json(checks)}, checked_at = ${now} where id = ${id}`)
export const markJoined = (tx: Tx, now: Date, id: string, hostId: string) =>
  tx.run(sql`update host_enrollments set joined_at = ${now}, host_id = ${hostId} where id = ${id}`)
export const markRevoked = (db: Queries, now: Date, id: string) =>
  db.run(sql`
    update host_enrollments set revoked_at = ${now}, sealed_bundle = null where id = ${id} and joined_at is null and revoked_at is null`)
/** What nobody may fetch any more. */
export const forgetBundles = (db: Queries, now: Date) =>
  db.run(sql`update host_enrollments set sealed_bundle = null where sealed_bundle is not null and expires_at <= ${now}`)
export const markCleaned = (db: Queries, id: string) => db.run(sql`update host_enrollments set is_cleaned = true where id = ${id}`)
export const deleteBefore = (db: Queries, before: Date) =>
  db.run(sql`delete from host_enrollments where created_at < ${before} and (is_cleaned or fetched_at is null or joined_at is not null)`)
