import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type SshKeyRow = Row<'ssh_keys'>

export type CountedRow = SshKeyRow & { vm_count: number }

const vmCount = sql`(select count(*)::int from ssh_key_uses u where u.ssh_key_id = k.id) as vm_count`

/** Returns no row when the account already has the key. */
export const insertKey = (tx: Tx, row: SshKeyRow) =>
  tx.maybe<SshKeyRow>(sql`
    insert into ssh_keys (id, account_id, name, type, fingerprint, public_key, created_at)
    values (${row.id}, ${row.account_id}, ${row.name}, ${row.type}, ${row.fingerprint}, ${row.public_key}, ${row.created_at})
    on conflict (account_id, fingerprint) do nothing returning ${allColumns('ssh_keys')}`)

/** With the total count, which the quota keeps small. */
export const listKeys = (db: Queries, accountId: string, range: PageRange) =>
  db.many<CountedRow & { total: number }>(sql`
    select ${allColumns('ssh_keys', 'k')}, ${vmCount}, (select count(*)::int from ssh_keys where account_id = ${accountId}) as total
    from ssh_keys k where account_id = ${accountId} ${newestFirst(sql`id`, range)}`)

export const findKey = (db: Queries, accountId: string, id: string) =>
  db.maybe<CountedRow>(
    sql`select ${allColumns('ssh_keys', 'k')}, ${vmCount} from ssh_keys k where id = ${id} and account_id = ${accountId}`,
  )

export const renameKey = (tx: Tx, accountId: string, id: string, name: string) =>
  tx.maybe<CountedRow>(sql`
    update ssh_keys k set name = ${name} where id = ${id} and account_id = ${accountId} returning ${allColumns('ssh_keys', 'k')}, ${vmCount}`)

export const deleteKey = (tx: Tx, accountId: string, id: string) =>
  tx.run(sql`delete from ssh_keys where id = ${id} and account_id = ${accountId}`)

/** Locked until the transaction ends, so that none is deleted before its use is recorded. */
export const holdKeys = (tx: Tx, accountId: string, ids: string[]) =>
  tx.many<SshKeyRow>(sql`
    select ${allColumns('ssh_keys')} from ssh_keys where id = any(${ids}::text[]) and account_id = ${accountId} order by id for key share`)

/** Skips keys that were deleted in the meantime. */
export const insertUses = (tx: Tx, userId: string, keyIds: string[]) =>
  tx.run(sql`
    insert into ssh_key_uses (ssh_key_id, vm_id) select id, ${userId} from ssh_keys where id = any(${keyIds}::text[]) on conflict do nothing`)

export const deleteUses = (tx: Tx, userId: string) => tx.run(sql`delete from ssh_key_uses where vm_id = ${userId}`)

/** Subquery: the keys of a VM as a JSON list. */
export const keysAsJson = (userId: Sql) => sql`
  (select coalesce(json_agg(json_build_object('id', k.id, 'name', k.name, 'fingerprint', k.fingerprint) order by k.id), '[]')
    from ssh_key_uses u join ssh_keys k on k.id = u.ssh_key_id where u.vm_id = ${userId})`

export const listKeysUsedBy = (db: Queries, userId: string) =>
  db.many<SshKeyRow>(sql`
    select ${allColumns('ssh_keys', 'k')} from ssh_key_uses u join ssh_keys k on k.id = u.ssh_key_id where u.vm_id = ${userId} order by k.id`)
