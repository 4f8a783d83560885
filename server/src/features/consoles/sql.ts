import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { payerOf, sharing } from '../accounts/service.ts'
import type { ConsoleType } from '../../hypervisor/driver.ts'

export type LinkRow = Row<'console_tokens'>

export const insertLink = (tx: Tx, secretHash: Buffer, link: Omit<LinkRow, 'secret_hash' | 'used_at'>) =>
  tx.run(sql`
    insert into console_tokens (secret_hash, vm_id, account_id, actor_id, type, expires_at)
    values (${secretHash}, ${link.vm_id}, ${link.account_id}, ${link.actor_id}, ${link.type}, ${link.expires_at})`)

/** Atomic: of concurrent clients exactly one gets the row. */
export const useLink = (db: Queries, now: Date, secretHash: Buffer) =>
  db.maybe<LinkRow>(sql`
    update console_tokens set used_at = ${now} where secret_hash = ${secretHash} and used_at is null and expires_at > ${now} returning ${allColumns('console_tokens')}`)

export const findLink = (db: Queries, secretHash: Buffer) =>
  db.maybe<LinkRow>(sql`select ${allColumns('console_tokens')} from console_tokens where secret_hash = ${secretHash}`)

export const deleteLinksOlderThan = (db: Queries, time: Date) => db.run(sql`delete from console_tokens where expires_at < ${time}`)

/** NOTIFY channel; the payload names the console that has a new session. */
export const SESSIONS = 'berth_consoles'

export interface SessionKey {
  id: string
  vmId: string
  accountId: string
  type: ConsoleType
}

/** Advisory lock that serializes the session limit of an account with its payer and projects until the transaction ends. */
export const lockSessionsOf = (tx: Tx, accountId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('consoles ' || ${payerOf(sql`${accountId}::text`)}, 0))`)

/** Excludes the session of the same console, which a new session takes over. */
export const countOtherSessions = async (db: Queries, now: Date, { accountId, vmId, type }: Omit<SessionKey, 'id'>): Promise<number> =>
  Number(
    (
      await db.one<{ count: bigint }>(sql`
        select count(*) from console_sessions
        where account_id in ${sharing(sql`${accountId}`)} and alive_until > ${now} and not (vm_id = ${vmId} and type = ${type})`)
    ).count,
  )

export const takeSession = (tx: Tx, now: Date, aliveUntil: Date, { id, vmId, accountId, type }: SessionKey) =>
  tx.run(sql`
    with taken as (
      insert into console_sessions (vm_id, type, id, account_id, opened_at, alive_until)
      values (${vmId}, ${type}, ${id}, ${accountId}, ${now}, ${aliveUntil})
      on conflict (vm_id, type) do update set id = excluded.id, account_id = excluded.account_id, opened_at = excluded.opened_at,
        alive_until = excluded.alive_until
      returning 1)
    select pg_notify(${SESSIONS}, ${json({ id, vmId, type })}) from taken`)

/** Looks at the VM's newest 100 events only: more do not happen in a minute, and a longer log costs nothing. */
export const wasOpenedSince = async (tx: Tx, vmId: string, since: Date): Promise<boolean> =>
  (
    await tx.one<{ found: boolean }>(sql`
      select exists (select from (select type, created_at from events where subject_id = ${vmId} order by number desc limit 100) newest
        where type = 'vm.console_opened' and created_at > ${since}) as found`)
  ).found

export const leaveSession = (db: Queries, id: string) => db.run(sql`delete from console_sessions where id = ${id}`)

/** Extends the expiry; returns the sessions that still exist and whose VM is RUNNING. */
export const keepAlive = (db: Queries, ids: string[], aliveUntil: Date) =>
  db.many<{ id: string }>(sql`
    update console_sessions s set alive_until = ${aliveUntil} from vms v
    where s.id = any(${ids}::text[]) and v.id = s.vm_id and v.status = 'RUNNING' returning s.id`)

export const deleteDeadSessions = (db: Queries, now: Date) => db.run(sql`delete from console_sessions where alive_until < ${now}`)

export interface Standing {
  status: string
  host_id: string | null
  /** Label of the open action on the VM. */
  label: string | null
  /** The newest session of the same console. */
  session_id: string | null
}

export const standingOf = (db: Queries, { vmId, type }: SessionKey) =>
  db.maybe<Standing>(sql`
    select v.status, v.host_id, (select label from workflow_runs r where r.subject_id = v.id and r.status in ('PENDING', 'RUNNING')) as label,
      (select s.id from console_sessions s where s.vm_id = v.id and s.type = ${type}) as session_id
    from vms v where v.id = ${vmId}`)
