// Queries across all accounts, read-only: changes go through the services of the features.
import { sql, type NotNull, type Queries, type Sql } from '../../kernel/database/db.ts'
import { likePattern, newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { parseIp } from '../../kernel/ip-range.ts'
import { allColumns } from '../../schema/columns.ts'
import { contactOf } from '../accounts/service.ts'
import { isOpen } from '../../workflow/run-store.ts'
import type { RunRow } from '../../workflow/run-store.ts'

export interface AccountRow {
  id: string
  email: string
  name: string
  payer_account_id: string | null
  created_at: Date
  suspended_at: Date | null
  balance_cents: bigint
  vm_count: bigint
}

const accounts = sql`
  select a.id, ${contactOf(sql`a`)} as email, a.name, a.payer_account_id, a.created_at, a.suspended_at, coalesce(w.balance_cents, 0) as balance_cents,
    coalesce(q.used, (select count(*) from vms v where v.account_id = a.id)) as vm_count
  from accounts a left join wallets w on w.account_id = a.id left join account_quotas q on q.account_id = a.id and q.name = 'vms'`

const containing = (text: string): Sql => {
  const pattern = likePattern(text)
  return sql`a.deleted_at is null and (${text} = '' or ${contactOf(sql`a`)} ilike ${pattern} or a.name ilike ${pattern} or a.id = ${text})`
}

export const countAccounts = (db: Queries, text: string): Promise<number> => count(db, sql`from accounts a where ${containing(text)}`)

export const listAccounts = (db: Queries, text: string, range: PageRange) =>
  db.many<AccountRow>(sql`${accounts} where ${containing(text)} ${newestFirst(sql`a.id`, range)}`)

export const findAccount = (db: Queries, id: string) => db.maybe<AccountRow>(sql`${accounts} where a.id = ${id}`)

export interface VmFilter {
  q?: string
  account?: string
  host?: string
  status?: string
}

/** Of any kind; null is the address of none. */
const hasAddress = (address: string | null): Sql => sql`(d.ip_address = ${address}::inet or d.ipv6_address = ${address}::inet
  or d.ipv6_prefix >>= ${address}::inet or d.id in (select vm_id from addresses where address = ${address}::inet
    union all select vm_id from network_attachments where address = ${address}::inet))`

export interface VmRow {
  id: string
  name: string
  account_id: string
  email: string
  status: string
  status_reason: string | null
  plan_slug: string
  host_name: string | null
  ip_address: string | null
  ipv6_address: string | null
  created_at: Date
}

const ofVms = ({ q = '', account, host, status }: VmFilter): Sql => sql`
  (${q} = '' or d.name ilike ${likePattern(q)} or d.hostname ilike ${likePattern(q)} or d.id = ${q} or ${hasAddress(parseIp(q) && q)}) and
  (${account ?? null}::text is null or d.account_id = ${account ?? null}) and (${host ?? null}::text is null or d.host_id = ${host ?? null})
  and (${status ?? null}::text is null or d.status = ${status ?? null})`

export const countVms = (db: Queries, filter: VmFilter): Promise<number> => count(db, sql`from vms d where ${ofVms(filter)}`)

export const listVms = (db: Queries, filter: VmFilter, range: PageRange) =>
  db.many<VmRow>(sql`
    select d.id, d.name, d.account_id, ${contactOf(sql`a`)} as email, d.status, d.status_reason, d.plan_slug, h.name as host_name, host(d.ip_address) as ip_address, d.ipv6_address, d.created_at
    from vm_details d join accounts a on a.id = d.account_id left join hosts h on h.id = d.host_id
    where ${ofVms(filter)} ${newestFirst(sql`d.id`, range)}`)

export const vmsPerHost = (db: Queries) =>
  db.many<{ host_id: NotNull<string>; count: number }>(
    sql`select host_id, count(*)::int as count from vms where host_id is not null group by host_id`,
  )

export interface HostPorts {
  total: number
  pending: number
  failed: number
  error: string | null
}

/** Of those that the network controller has, or is to have. */
export const portsOfHost = (db: Queries, hostId: string) =>
  db.one<HostPorts>(sql`
    select count(*)::int as total, count(*) filter (where applied_version is distinct from desired_version)::int as pending,
      count(*) filter (where error is not null)::int as failed, max(error) as error
    from vm_ports where host_id = ${hostId} and is_managed`)

export interface RunFilter {
  host?: string
  status?: string
  account?: string
  vm?: string
  cleanupFailed?: boolean
}

export type ActionRow = RunRow & { email: string | null; subject_name: string | null }

const ofRuns = ({ status, account, vm, host, cleanupFailed }: RunFilter): Sql => sql`
  (${host ?? null}::text is null or r.subject_id = ${host ?? null} or r.subject_id in (select o.id from vms o where o.host_id = ${host ?? null})) and
  (${status ?? null}::text is null or r.status = ${status ?? null}) and (${account ?? null}::text is null or r.owner_id = ${account ?? null})
  and (${vm ?? null}::text is null or r.subject_id = ${vm ?? null}) and (${cleanupFailed ?? null}::bool is null or r.cleanup_failed = ${cleanupFailed ?? null})`

export const countActions = (db: Queries, filter: RunFilter): Promise<number> =>
  count(db, sql`from workflow_runs r where ${ofRuns(filter)}`)

const actions = sql`
  select ${allColumns('workflow_runs', 'r')}, ${contactOf(sql`a`)} as email, v.name as subject_name
  from workflow_runs r left join accounts a on a.id = r.owner_id left join vms v on v.id = r.subject_id`

export const listActions = (db: Queries, filter: RunFilter, range: PageRange) =>
  db.many<ActionRow>(sql`${actions} where ${ofRuns(filter)} ${newestFirst(sql`r.id`, range)}`)

export const findAction = (db: Queries, id: string) => db.maybe<ActionRow>(sql`${actions} where r.id = ${id}`)

/** Maximum depth of pagination; older rows are found by a filter. */
const MAX_COUNTED = 10_000

const count = async (db: Queries, rows: Sql): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from (select 1 ${rows} limit ${MAX_COUNTED}) line`)).count

export interface Counts {
  running_actions: number
  waiting_actions: number
  cleanup_failed_actions: number
  failed_actions: number
  error_vms: number
  unreachable_hosts: number
  failed_recoveries: number
  open_tickets: number
  quarantined_volumes: number
  failed_mails: number
  late_deliveries: number
  unprovable_backups: number
  invariant_violations: number
}

export const systemCounts = (db: Queries, now: Date, lateSince: Date, dayAgo: Date) =>
  db.one<Counts>(sql`
    select (select count(*)::int from workflow_runs r where ${isOpen} and lease_until > ${now}) as running_actions,
      (select count(*)::int from workflow_runs r where ${isOpen} and (lease_until is null or lease_until <= ${now})) as waiting_actions,
      (select count(*)::int from workflow_runs where cleanup_failed) as cleanup_failed_actions,
      (select count(*)::int from workflow_runs where status = 'FAILED' and completed_at > ${dayAgo}) as failed_actions,
      (select count(*)::int from vms where status = 'ERROR') as error_vms,
      (select count(*)::int from hosts where unreachable_since is not null and removed_at is null) as unreachable_hosts,
      (select count(*)::int from failed_recoveries) as failed_recoveries,
      (select count(*)::int from tickets where status = 'OPEN') as open_tickets,
      (select count(*)::int from orphan_volumes) as quarantined_volumes,
      (select count(*)::int from emails where status = 'FAILED') as failed_mails,
      (select count(*)::int from webhook_deliveries where status = 'PENDING' and next_attempt_at < ${lateSince}) as late_deliveries,
      (select count(*)::int from backups where verification = 'FAILED' and status in ('AVAILABLE', 'RESTORING')) as unprovable_backups,
      (select coalesce(max(violations), 0) from invariant_status) as invariant_violations`)

export const newestMigration = async (db: Queries): Promise<string> =>
  (await db.one<{ name: string }>(sql`select max(name) as name from schema_migrations`)).name

export const vmsByStatus = (db: Queries) =>
  db.many<{ region: string; status: string; billing: string; count: number }>(sql`
    select r.slug as region, v.status, v.billing_status as billing, count(*)::int as count
    from vms v join regions r on r.id = v.region_id group by r.slug, v.status, v.billing_status`)

export const businessCounts = (db: Queries) =>
  db.one<{ active: number; suspended: number; tickets: number; balance_cents: bigint }>(sql`
    select (select count(*)::int from accounts where payer_account_id is null and suspended_at is null) as active,
      (select count(*)::int from accounts where payer_account_id is null and suspended_at is not null) as suspended,
      (select count(*)::int from tickets where status = 'OPEN') as tickets,
      (select coalesce(sum(balance_cents), 0)::int8 from wallets) as balance_cents`)

/** From that id on: the ledger has no index of time over all accounts, and its ids are sorted by it. */
export const sumTransactions = (db: Queries, sinceId: string) =>
  db.many<{ type: string; cents: NotNull<bigint> }>(sql`
    select type, sum(amount_cents)::int8 as cents from wallet_transactions where id >= ${sinceId} group by type`)
