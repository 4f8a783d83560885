import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { selectedBy } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type AlertRow = Row<'alerts'>
export type FiringRow = Row<'alert_firings'> & { vm_labels: Record<string, string> }

/** The VM of what concerns the account. */
export const ACCOUNT = ''

/** How long one that has ended does not fire again. */
const REST = sql`'10 minutes'::interval`

const columns = allColumns('alerts')

export const insertAlert = (tx: Tx, row: AlertRow) =>
  tx.run(sql`
    insert into alerts (id, account_id, name, metric, comparison, threshold, for_minutes, vm_ids, label_selector, labels, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.name}, ${row.metric}, ${row.comparison}, ${row.threshold}, ${row.for_minutes}, ${row.vm_ids},
      ${row.label_selector}, ${json(row.labels)}, ${row.created_at}, ${row.updated_at})`)

const listed = (accountId: string, labelSelector: string | undefined) =>
  sql`account_id = ${accountId} ${selectedBy(sql`labels`, labelSelector)}`

export const countAlerts = async (db: Queries, accountId: string, labelSelector: string | undefined): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from alerts where ${listed(accountId, labelSelector)}`)).count)

export const listAlerts = (db: Queries, accountId: string, labelSelector: string | undefined, range: PageRange) =>
  db.many<AlertRow>(sql`select ${columns} from alerts where ${listed(accountId, labelSelector)} ${newestFirst(sql`id`, range)}`)

export const findAlert = (db: Queries, accountId: string, id: string) =>
  db.maybe<AlertRow>(sql`select ${columns} from alerts where id = ${id} and account_id = ${accountId}`)

export const lockAlert = (tx: Tx, accountId: string, id: string) =>
  tx.maybe<AlertRow>(sql`select ${columns} from alerts where id = ${id} and account_id = ${accountId} for update`)

export const updateAlert = (tx: Tx, row: AlertRow) =>
  tx.run(sql`
    update alerts set name = ${row.name}, comparison = ${row.comparison}, threshold = ${row.threshold}, for_minutes = ${row.for_minutes},
      vm_ids = ${row.vm_ids}, label_selector = ${row.label_selector}, labels = ${json(row.labels)}, updated_at = ${row.updated_at}
    where id = ${row.id}`)

export const deleteAlert = (tx: Tx, id: string) => tx.run(sql`delete from alerts where id = ${id}`)

/** How many of these VMs the account has. */
export const countOwnVms = async (tx: Tx, accountId: string, vmIds: string[]): Promise<number> =>
  (
    await tx.one<{ count: number }>(
      sql`select count(*)::int as count from vms where account_id = ${accountId} and id = any(${vmIds}::text[])`,
    )
  ).count

/** Where these alerts fire. */
export const firingsOf = (db: Queries, alertIds: string[]) =>
  db.many<FiringRow>(sql`
    select ${allColumns('alert_firings')} from alert_firings where alert_id = any(${alertIds}::text[]) and resolved_at is null
    order by alert_id, fired_at, vm_id`)

/** True for exactly one worker. A clock that was ahead silences no other for long. */
export const claimMinute = async (db: Queries, minute: Date): Promise<boolean> =>
  (await db.run(sql`
    insert into alert_minutes as a (minute) values (${minute})
    on conflict (is_only) do update set minute = excluded.minute
    where a.minute < excluded.minute or a.minute > excluded.minute + '2 minutes'::interval`)) > 0

export const accountsWithAlerts = (db: Queries) =>
  db.many<{ account_id: string }>(sql`select distinct account_id from alerts order by account_id`)

export const alertsOf = (db: Queries, accountId: string) =>
  db.many<AlertRow>(sql`select ${columns} from alerts where account_id = ${accountId} order by id`)

export interface Target {
  id: string
  name: string
  status: string
  labels: Record<string, string>
}

export const targetsOf = (db: Queries, { account_id, vm_ids, label_selector }: AlertRow) =>
  db.many<Target>(sql`
    select id, name, status, labels from vms
    where account_id = ${account_id} and (${vm_ids}::text[] is null or id = any(${vm_ids}::text[]))
      ${selectedBy(sql`labels`, label_selector ?? undefined)}`)

/** False where it fires already, or has ended just now. */
export const fire = async (tx: Tx, now: Date, alertId: string, vm: Target, value: number): Promise<boolean> =>
  (await tx.run(sql`
    insert into alert_firings as f (alert_id, vm_id, vm_name, vm_labels, value, fired_at)
    values (${alertId}, ${vm.id}, ${vm.name}, ${json(vm.labels)}, ${value}, ${now})
    on conflict (alert_id, vm_id) do update set vm_name = excluded.vm_name, vm_labels = excluded.vm_labels, value = excluded.value, fired_at = excluded.fired_at, resolved_at = null
    where f.resolved_at <= ${now}::timestamptz - ${REST}`)) > 0

export const resolve = async (tx: Tx, now: Date, { alert_id, vm_id, fired_at }: FiringRow): Promise<boolean> =>
  (await tx.run(sql`
    update alert_firings set resolved_at = ${now}
    where alert_id = ${alert_id} and vm_id = ${vm_id} and fired_at = ${fired_at} and resolved_at is null`)) > 0

export const forgetResolved = (db: Queries, now: Date) =>
  db.run(sql`delete from alert_firings where resolved_at <= ${now}::timestamptz - ${REST}`)
