import { inline, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type MaintenanceRow = Row<'maintenances'>

/** Of those that operators see. */
const MOST = inline(500)

export const insertMaintenance = (tx: Tx, row: Omit<MaintenanceRow, 'cancelled_at'>) =>
  tx.run(sql`
    insert into maintenances (id, host_id, text, starts_at, ends_at, created_at)
    values (${row.id}, ${row.host_id}, ${row.text}, ${row.starts_at}, ${row.ends_at}, ${row.created_at})`)

/** Those of the host that have not ended. */
export const openOn = (db: Queries, hostId: string, now: Date) =>
  db.many<{ id: string }>(
    sql`select id from maintenances where host_id = ${hostId} and cancelled_at is null and ends_at > ${now} order by id`,
  )

/** The accounts with VMs on the host, in the order in which their event logs are locked. */
export const recordAccounts = (tx: Tx, id: string, hostId: string) =>
  tx.run(sql`
    insert into maintenance_accounts (maintenance_id, account_id)
    select distinct ${id}::text, account_id from vms where host_id = ${hostId} and status <> 'UNMANAGED'`)

export const accountsOf = async (db: Queries, id: string): Promise<string[]> =>
  (
    await db.many<{ account_id: string }>(sql`select account_id from maintenance_accounts where maintenance_id = ${id} order by account_id`)
  ).map(({ account_id }) => account_id)

export interface OwnMaintenance extends MaintenanceRow {
  vm_ids: string[]
}

/** As the account sees it. */
const own = (accountId: string): Sql => sql`${allColumns('maintenances', 'm')},
  array(select v.id from vms v where v.account_id = ${accountId} and v.host_id = m.host_id and v.status <> 'UNMANAGED' order by v.id) as vm_ids`

/** It was told, or has got a VM on the host since while the maintenance is still to come. */
const concerns = (accountId: string, now: Date): Sql => sql`
  (exists (select from maintenance_accounts a where a.maintenance_id = m.id and a.account_id = ${accountId})
    or (m.cancelled_at is null and m.ends_at > ${now} and exists (
      select from vms v where v.account_id = ${accountId} and v.host_id = m.host_id and v.status <> 'UNMANAGED')))`

export const listOwn = (db: Queries, accountId: string, now: Date, range: PageRange) =>
  db.many<OwnMaintenance>(
    sql`select ${own(accountId)} from maintenances m where ${concerns(accountId, now)} ${newestFirst(sql`m.id`, range)}`,
  )

export const countOwn = async (db: Queries, accountId: string, now: Date): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from maintenances m where ${concerns(accountId, now)}`)).count

export const getOwn = (db: Queries, accountId: string, id: string) =>
  db.one<OwnMaintenance>(sql`select ${own(accountId)} from maintenances m where m.id = ${id}`)

export const lockMaintenance = (tx: Tx, id: string) =>
  tx.maybe<MaintenanceRow>(sql`select ${allColumns('maintenances')} from maintenances where id = ${id} for update`)

export const markCancelled = (tx: Tx, now: Date, id: string) => tx.run(sql`update maintenances set cancelled_at = ${now} where id = ${id}`)

/** Who sees, or may have seen, those that `listAll` has. */
export const listConcerned = (db: Queries) =>
  db.many<{ maintenance_id: string; account_id: string }>(sql`
    with shown as (select id, host_id from maintenances order by id desc limit ${MOST})
    select a.maintenance_id, a.account_id from shown join maintenance_accounts a on a.maintenance_id = shown.id
    union select shown.id, v.account_id from shown join vms v on v.host_id = shown.host_id`)

export const namesOf = (db: Queries, vmIds: string[]) =>
  db.many<{ id: string; name: string }>(sql`select id, name from vms where id = any(${vmIds}::text[]) order by name, id`)

export interface CountedMaintenance extends MaintenanceRow {
  host_name: string
  accounts: number
  vms: number
}

/** For operators, newest first. */
export const listAll = (db: Queries) =>
  db.many<CountedMaintenance>(sql`
    select ${allColumns('maintenances', 'm')}, h.name as host_name,
      (select count(*)::int from maintenance_accounts a where a.maintenance_id = m.id) as accounts,
      (select count(*)::int from vms v where v.host_id = m.host_id and v.status <> 'UNMANAGED') as vms
    from maintenances m join hosts h on h.id = m.host_id order by m.id desc limit ${MOST}`)
