import { sql, type NotNull, type Queries, type Tx } from '../../kernel/database/db.ts'
import { contactOf, membersOf, payingTogether } from '../accounts/service.ts'
import type { UnnumberedEvent } from '../events/service.ts'

/** An owner, before all the one with the address of the account; the address itself only while nobody can sign in. Of a project an owner of its own, or one of its payer. */
const recipient = sql`
  coalesce((select u.email from ${membersOf(sql`a.id`)} m join users u on u.id = m.user_id where m.role = 'owner'
    order by m.is_inherited, lower(u.email) = lower(a.email) desc nulls last, m.created_at, u.id limit 1), ${contactOf(sql`a`)})`

/** Writers of events of one account take turns, so the count is exact. */
export const insertMail = (tx: Tx, id: string, event: UnnumberedEvent, mostPerHour: number | null) =>
  tx.run(sql`
    insert into emails (id, account_id, event_id, recipient, next_attempt_at, created_at)
    select ${id}, a.id, ${event.id}, ${recipient}, ${event.created_at}, ${event.created_at} from accounts a where a.id = ${event.account_id}
      and (${mostPerHour}::int is null or ${mostPerHour}::int > (
        select count(*) from emails m join events e on e.id = m.event_id
        where m.account_id in ${payingTogether(sql`${event.account_id}`)} and e.type = ${event.type} and m.created_at > ${event.created_at}::timestamptz - '1 hour'::interval))`)

export interface Claim {
  id: string
  claims: number
  attempts: number
  recipient: string
  message_id: NotNull<string>
  type: string
  data: unknown
  created_at: Date
  /** Of the recipient; null where it is not known. */
  language: string | null
}

/** Skips rows that another worker has locked. `domain` becomes part of the Message-ID of emails without one. */
export const claimDue = (db: Queries, now: Date, until: Date, domain: string, limit: number) =>
  db.many<Claim>(sql`
    with due as (
      select id from emails where status = 'PENDING' and next_attempt_at <= ${now} and (claimed_until is null or claimed_until <= ${now})
      order by next_attempt_at limit ${limit} for update skip locked)
    update emails m set claims = m.claims + 1, claimed_until = ${until}, message_id = coalesce(m.message_id, m.id || '@' || ${domain}::text)
    from due, events e where m.id = due.id and e.id = m.event_id
    returning m.id, m.claims, m.attempts, m.recipient, m.message_id, e.type, e.data, m.created_at,
      (select u.language from users u where lower(u.email) = lower(m.recipient)) as language`)

export interface Outcome {
  status: 'PENDING' | 'SENT' | 'FAILED'
  error: string | null
  nextAttemptAt: Date | null
}

/** Fenced by the claim: a superseded claim changes nothing. */
export const settle = (db: Queries, now: Date, { id, claims }: Claim, { status, error, nextAttemptAt }: Outcome) =>
  db.run(sql`
    update emails set status = ${status}, attempts = attempts + 1, next_attempt_at = ${nextAttemptAt}, claimed_until = null, error = ${error},
      completed_at = ${status === 'PENDING' ? null : now}::timestamptz
    where id = ${id} and claims = ${claims} and status = 'PENDING'`)

export const giveBack = (db: Queries, claims: Claim[]) =>
  db.run(sql`
    update emails m set claimed_until = null from unnest(${claims.map(({ id }) => id)}::text[], ${claims.map((each) => each.claims)}::int[]) as c(id, claims)
    where m.id = c.id and m.claims = c.claims`)

export const discardBefore = (db: Queries, now: Date, createdBefore: Date) =>
  db.run(sql`
    update emails set status = 'DISCARDED', next_attempt_at = null, claimed_until = null, completed_at = ${now}, error = 'Mail is switched off'
    where status = 'PENDING' and created_at <= ${createdBefore}`)

export const deleteBefore = (db: Queries, completedBefore: Date, most: number) =>
  db.run(sql`
    delete from emails where id in (select id from emails where status <> 'PENDING' and completed_at < ${completedBefore} limit ${most})`)
