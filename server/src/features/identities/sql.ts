import { sql, type NotNull, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type ProviderRow = Row<'identity_providers'>
export type IdentityRow = Row<'identities'>
export type FlowRow = Row<'identity_flows'>
export type MailRow = Row<'identity_mails'>

export const insertProvider = (tx: Tx, row: ProviderRow) =>
  tx.run(sql`
    insert into identity_providers (${allColumns('identity_providers')})
    values (${row.id}, ${row.name}, ${row.title}, ${row.issuer}, ${row.client_id}, ${row.client_secret}, ${row.is_second_factor},
      ${JSON.stringify(row.metadata)}, ${row.discovered_at}, ${row.discovery_error}, ${row.created_at})
    on conflict do nothing`)

export const updateProvider = (tx: Tx, { id, title, client_id, client_secret, is_second_factor }: ProviderRow) =>
  tx.run(sql`
    update identity_providers set title = ${title}, client_id = ${client_id}, client_secret = ${client_secret}, is_second_factor = ${is_second_factor}
    where id = ${id}`)

export const setMetadata = (db: Queries, id: string, metadata: unknown, now: Date) =>
  db.run(sql`
    update identity_providers set metadata = ${JSON.stringify(metadata)}, discovered_at = ${now}, discovery_error = null where id = ${id}`)

export const setDiscoveryError = (db: Queries, id: string, error: string) =>
  db.run(sql`update identity_providers set discovery_error = ${error} where id = ${id}`)

export const findProvider = (db: Queries, name: string) =>
  db.maybe<ProviderRow>(sql`select ${allColumns('identity_providers')} from identity_providers where name = ${name}`)

export const getProvider = (db: Queries, id: string) =>
  db.one<ProviderRow>(sql`select ${allColumns('identity_providers')} from identity_providers where id = ${id}`)

/** It is not removed before the transaction ends. */
export const holdProvider = (tx: Tx, id: string) =>
  tx.maybe<Pick<ProviderRow, 'is_second_factor'>>(sql`select is_second_factor from identity_providers where id = ${id} for key share`)

export const lockProvider = (tx: Tx, name: string) =>
  tx.maybe<ProviderRow>(sql`select ${allColumns('identity_providers')} from identity_providers where name = ${name} for update`)

export const listProviders = (db: Queries) =>
  db.many<ProviderRow & { identities: number }>(sql`
    select ${allColumns('identity_providers', 'p')}, (select count(*) from identities i where i.provider_id = p.id)::int as identities
    from identity_providers p order by p.title, p.id`)

export const listOffered = (db: Queries) =>
  db.many<{ name: string; title: string }>(sql`select name, title from identity_providers order by title, id`)

export const deleteProvider = (tx: Tx, id: string) => tx.run(sql`delete from identity_providers where id = ${id}`)

/** Who signs in by it, and whether in no other way. */
export const listPeopleOf = (tx: Tx, providerId: string) =>
  tx.many<{ user_id: string; email: string; label: string; is_last: boolean }>(sql`
    select i.user_id, u.email, i.label,
      u.password_hash is null and not exists (select from identities o where o.user_id = u.id and o.id <> i.id) as is_last
    from identities i join users u on u.id = i.user_id where i.provider_id = ${providerId} order by u.email for no key update of u`)

export const insertIdentity = (tx: Tx, row: IdentityRow) =>
  tx.run(sql`
    insert into identities (${allColumns('identities')})
    values (${row.id}, ${row.provider_id}, ${row.subject}, ${row.user_id}, ${row.label}, ${row.created_at}, ${row.last_used_at})
    on conflict do nothing`)

export const findIdentity = (db: Queries, providerId: string, subject: string) =>
  db.maybe<IdentityRow>(sql`select ${allColumns('identities')} from identities where provider_id = ${providerId} and subject = ${subject}`)

/** It is not deleted before the transaction ends. */
export const holdIdentity = (tx: Tx, id: string) =>
  tx.maybe<IdentityRow>(sql`select ${allColumns('identities')} from identities where id = ${id} for key share`)

export interface ListedIdentity extends IdentityRow {
  name: string
  title: string
}

export const listIdentities = (db: Queries, userId: string) =>
  db.many<ListedIdentity>(sql`
    select ${allColumns('identities', 'i')}, p.name, p.title from identities i join identity_providers p on p.id = i.provider_id
    where i.user_id = ${userId} order by i.id`)

/** Of all people. */
export const listLinked = (db: Queries) =>
  db.many<{ user_id: string; name: string; label: string }>(sql`
    select i.user_id, p.name, i.label from identities i join identity_providers p on p.id = i.provider_id order by i.user_id, i.id`)

export const noteUse = (tx: Tx, id: string, now: Date, label: string) =>
  tx.run(sql`update identities set last_used_at = ${now}, label = ${label} where id = ${id}`)

export const deleteIdentity = (tx: Tx, id: string) => tx.run(sql`delete from identities where id = ${id}`)

/** Inserts nothing when the provider was removed. */
export const insertFlow = (db: Queries, row: FlowRow) =>
  db.run(sql`
    insert into identity_flows (${allColumns('identity_flows')})
    select ${row.id}, ${row.kind}, p.id, ${row.state_hash}, ${row.browser_hash}, ${row.secret}, ${row.redirect_uri}, ${row.user_id},
      ${row.session_id}, ${row.identity_id}, ${row.authenticated_at}, ${row.created_at}, ${row.expires_at}
    from identity_providers p where p.id = ${row.provider_id} for key share`)

export interface Return {
  kind: FlowRow['kind']
  providerId: string
  stateHash: Buffer
  browserHash: Buffer
  userId: string | null
  sessionId: string | null
}

/** Once, and only as it was begun: by that browser, for that provider and purpose, and where somebody was signed in, in that session. */
export const takeFlow = (db: Queries, now: Date, { kind, providerId, stateHash, browserHash, userId, sessionId }: Return) =>
  db.maybe<Omit<FlowRow, 'secret'> & { secret: NotNull<Buffer> }>(sql`
    delete from identity_flows where state_hash = ${stateHash} and browser_hash = ${browserHash} and kind = ${kind} and provider_id = ${providerId}
      and user_id is not distinct from ${userId} and session_id is not distinct from ${sessionId} and expires_at > ${now}
    returning ${allColumns('identity_flows')}`)

interface CodeFlow extends Omit<FlowRow, 'user_id' | 'identity_id' | 'authenticated_at'> {
  user_id: NotNull<string>
  identity_id: NotNull<string>
  authenticated_at: NotNull<Date>
}

export const findCodeFlow = (db: Queries, now: Date, browserHash: Buffer) =>
  db.maybe<CodeFlow>(sql`
    select ${allColumns('identity_flows')} from identity_flows where browser_hash = ${browserHash} and kind = 'CODE' and expires_at > ${now}`)

export const takeCodeFlow = (tx: Tx, id: string) => tx.run(sql`delete from identity_flows where id = ${id}`)

export const dropOldFlows = (db: Queries, now: Date) => db.run(sql`delete from identity_flows where expires_at <= ${now}`)

export const insertMail = (tx: Tx, row: MailRow) =>
  tx.run(sql`
    insert into identity_mails (${allColumns('identity_mails')})
    values (${row.id}, ${row.user_id}, ${row.kind}, ${row.provider_title}, ${row.label}, ${row.link_base}, ${row.attempts}, ${row.due_at}, ${row.created_at})`)

/** Its next attempt is at `next`, unless it is deleted before. */
export const claimMail = (tx: Tx, now: Date, next: Date) =>
  tx.maybe<MailRow & { email: string; language: string | null }>(sql`
    with due as (select id from identity_mails where due_at <= ${now} order by due_at limit 1 for update skip locked)
    update identity_mails m set due_at = ${next}, attempts = m.attempts + 1 from due, users u where m.id = due.id and u.id = m.user_id
    returning ${allColumns('identity_mails', 'm')}, u.email, u.language`)

export const deleteMail = (db: Queries, id: string) => db.run(sql`delete from identity_mails where id = ${id}`)

export const dropMailsBefore = (db: Queries, before: Date) => db.run(sql`delete from identity_mails where created_at <= ${before}`)

export const endSessionsOf = (tx: Tx, providerId: string) =>
  tx.run(sql`
    delete from sessions s using identities i where i.id = s.identity_id and i.provider_id = ${providerId} and s.has_second_factor`)
