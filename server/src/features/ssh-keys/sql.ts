import type { SortField } from '../../http/api/schema.ts'
import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { containing, sortedByAge, sortedByNumber, sortedByText, type SortedRange } from '../../kernel/database/page-range.ts'
import { selectedBy, type Labels } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import type { SshKeyQuery } from './schema.ts'

export type SshKeyRow = Row<'ssh_keys'>

export type CountedRow = SshKeyRow & { vm_count: number }

const countedVms = sql`(select count(*)::int from ssh_key_uses u where u.ssh_key_id = k.id)`
const vmCount = sql`${countedVms} as vm_count`

/** Returns no row when the account already has the key. */
export const insertKey = (tx: Tx, row: SshKeyRow) =>
  tx.maybe<SshKeyRow>(sql`
    insert into ssh_keys (id, account_id, name, labels, type, fingerprint, public_key, created_at)
    values (${row.id}, ${row.account_id}, ${row.name}, ${json(row.labels)}, ${row.type}, ${row.fingerprint}, ${row.public_key}, ${row.created_at})
    on conflict (account_id, fingerprint) do nothing returning ${allColumns('ssh_keys')}`)

export type SshKeyFilter = Omit<SshKeyQuery, 'sort'>

const listed = (accountId: string, { name, labelSelector }: SshKeyFilter) =>
  sql`k.account_id = ${accountId} and ${containing(sql`k.name`, name)} ${selectedBy(sql`k.labels`, labelSelector)}`

export const countKeys = async (db: Queries, accountId: string, filter: SshKeyFilter): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from ssh_keys k where ${listed(accountId, filter)}`)).count)

export type SshKeyField = SortField<SshKeyQuery>

function sorted(range: SortedRange<SshKeyField>): Sql {
  switch (range.field) {
    case 'createdAt':
      return sortedByAge(sql`k.id`, range)
    case 'name':
      return sortedByText(sql`k.name`, sql`k.id`, range)
    case 'type':
      return sortedByText(sql`k.type`, sql`k.id`, range)
    case 'vmCount':
      return sortedByNumber(countedVms, sql`k.id`, range)
  }
}

export const listKeys = (db: Queries, accountId: string, filter: SshKeyFilter, range: SortedRange<SshKeyField>) =>
  db.many<CountedRow>(sql`
    select ${allColumns('ssh_keys', 'k')}, ${vmCount} from ssh_keys k where ${listed(accountId, filter)} ${sorted(range)}`)

export const findKey = (db: Queries, accountId: string, id: string) =>
  db.maybe<CountedRow>(
    sql`select ${allColumns('ssh_keys', 'k')}, ${vmCount} from ssh_keys k where id = ${id} and account_id = ${accountId}`,
  )

/** What is null stays. */
export const describeKey = (tx: Tx, accountId: string, id: string, name: string | null, labels: Labels | null) =>
  tx.maybe<CountedRow>(sql`
    update ssh_keys k set name = coalesce(${name}, name), labels = coalesce(${labels && json(labels)}::jsonb, labels)
    where id = ${id} and account_id = ${accountId} returning ${allColumns('ssh_keys', 'k')}, ${vmCount}`)

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
