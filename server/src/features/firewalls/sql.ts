import type { SortField } from '../../http/api/schema.ts'
import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { containing, sortedByAge, sortedByNumber, sortedByText, type SortedRange } from '../../kernel/database/page-range.ts'
import { selectedBy } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import type { FirewallQuery } from './schema.ts'

export type FirewallRow = Row<'firewalls'>

export type CountedRow = FirewallRow & {
  rule_count: number
  binding_count: number
  applied: boolean
  pending_count: number
  rules_version: string
  undo_until: Date | null
  confirm_by: Date | null
}

export type RuleRow = Row<'firewall_rules'>

/** By what the rules say and their order, not by a counter: versions of Berth without a counter may run beside this one. */
function versionOf(rules: Sql): Sql {
  return sql`(select md5(coalesce(jsonb_agg(jsonb_build_array(
    r.direction, r.action, r.protocol, r.port, to_jsonb(r.source_ips), to_jsonb(r.dest_ips), r.description) order by r.position)::text, ''))
    from ${rules})`
}

export const rulesVersion = async (db: Queries, firewallId: string): Promise<string> =>
  (await db.one<{ version: string }>(sql`select ${versionOf(sql`firewall_rules r where r.firewall_id = ${firewallId}`)} as version`))
    .version

/** To be restored: with the columns that only newer versions of Berth know. */
export const rulesToKeep = async (db: Queries, firewallId: string): Promise<string> =>
  (
    await db.one<{ rules: string }>(sql`
      select coalesce(jsonb_agg(to_jsonb(r) order by r.position), '[]')::text as rules from firewall_rules r where r.firewall_id = ${firewallId}`)
  ).rules

const ruleCount = sql`(select count(*)::int from firewall_rules r where r.firewall_id = f.id)`
const bindingCount = sql`(select count(*)::int from firewall_bindings b where b.firewall_id = f.id)`

const counts = sql`
  ${ruleCount} as rule_count,
  ${bindingCount} as binding_count,
  not exists (
    select from firewall_bindings b left join vm_ports v on v.vm_id = b.vm_id
    where b.firewall_id = f.id and v.applied_version is distinct from coalesce(v.desired_version, 0)) as applied,
  (select count(*)::int from firewall_bindings b join vm_ports v on v.vm_id = b.vm_id
    where b.firewall_id = f.id and v.is_managed and v.applied_version is distinct from v.desired_version) as pending_count,
  ${versionOf(sql`firewall_rules r where r.firewall_id = f.id`)} as rules_version,
  (select u.undo_until from firewall_undos u where u.firewall_id = f.id) as undo_until,
  (select u.confirm_by from firewall_undos u where u.firewall_id = f.id) as confirm_by`

export const insertFirewall = (tx: Tx, row: FirewallRow) =>
  tx.run(sql`
    insert into firewalls (id, account_id, name, labels, description, covers_private, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.name}, ${json(row.labels)}, ${row.description}, ${row.covers_private}, ${row.created_at}, ${row.updated_at})`)

export type FirewallFilter = Omit<FirewallQuery, 'sort'>

const listed = (accountId: string, { name, labelSelector }: FirewallFilter) =>
  sql`f.account_id = ${accountId} and ${containing(sql`f.name`, name)} ${selectedBy(sql`f.labels`, labelSelector)}`

export const countFirewalls = async (db: Queries, accountId: string, filter: FirewallFilter): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from firewalls f where ${listed(accountId, filter)}`)).count)

export type FirewallField = SortField<FirewallQuery>

function sorted(range: SortedRange<FirewallField>): Sql {
  switch (range.field) {
    case 'createdAt':
      return sortedByAge(sql`f.id`, range)
    case 'name':
      return sortedByText(sql`f.name`, sql`f.id`, range)
    case 'ruleCount':
      return sortedByNumber(ruleCount, sql`f.id`, range)
    case 'bindingCount':
      return sortedByNumber(bindingCount, sql`f.id`, range)
  }
}

export const listFirewalls = (db: Queries, accountId: string, filter: FirewallFilter, range: SortedRange<FirewallField>) =>
  db.many<CountedRow>(sql`
    select ${allColumns('firewalls', 'f')}, ${counts} from firewalls f where ${listed(accountId, filter)} ${sorted(range)}`)

export const findFirewall = (db: Queries, accountId: string, id: string) =>
  db.maybe<CountedRow>(
    sql`select ${allColumns('firewalls', 'f')}, ${counts} from firewalls f where id = ${id} and account_id = ${accountId}`,
  )

/** Of a locked row. */
export const updateFirewall = (tx: Tx, { id, name, labels, description, covers_private, updated_at }: FirewallRow) =>
  tx.one<CountedRow>(sql`
    update firewalls f set name = ${name}, labels = ${json(labels)}, description = ${description}, covers_private = ${covers_private}, updated_at = ${updated_at}
    where id = ${id} returning ${allColumns('firewalls', 'f')}, ${counts}`)

/** Exclusive lock until the transaction ends: no concurrent rule change and no binding. */
export const lockFirewall = (tx: Tx, accountId: string, id: string) =>
  tx.maybe<FirewallRow>(sql`select ${allColumns('firewalls')} from firewalls where id = ${id} and account_id = ${accountId} for update`)

/** Shared lock: a binding must not miss a concurrent rule change. Locks in a fixed order to prevent deadlocks. */
export const holdFirewalls = (tx: Tx, accountId: string, ids: string[]) =>
  tx.many<FirewallRow>(sql`
    select ${allColumns('firewalls')} from firewalls where id = any(${ids}::text[]) and account_id = ${accountId} order by id for share`)

export const touchFirewall = (tx: Tx, id: string, now: Date) => tx.run(sql`update firewalls set updated_at = ${now} where id = ${id}`)

export const deleteFirewall = (tx: Tx, id: string) => tx.run(sql`delete from firewalls where id = ${id}`)

export const listRules = (db: Queries, firewallId: string) =>
  db.many<RuleRow>(sql`select ${allColumns('firewall_rules')} from firewall_rules where firewall_id = ${firewallId} order by position`)

export const insertRules = (tx: Tx, rows: readonly RuleRow[]) =>
  tx.run(sql`
    insert into firewall_rules (${allColumns('firewall_rules')})
    select ${allColumns('firewall_rules')} from jsonb_populate_recordset(null::firewall_rules, ${json(rows)}::jsonb)`)

export const updateRule = (tx: Tx, row: RuleRow) =>
  tx.run(sql`
    update firewall_rules set direction = ${row.direction}, action = ${row.action}, protocol = ${row.protocol}, port = ${row.port},
      source_ips = ${row.source_ips}, dest_ips = ${row.dest_ips}, description = ${row.description}, updated_at = ${row.updated_at}
    where id = ${row.id}`)

export const deleteRules = (tx: Tx, ids: string[]) => tx.run(sql`delete from firewall_rules where id = any(${ids}::text[])`)

/** Positions 1, 2, 3 … in the order of the ids. */
export const renumberRules = (tx: Tx, ids: string[]) =>
  tx.run(sql`
    update firewall_rules r set position = o.position from unnest(${ids}::text[]) with ordinality as o(id, position)
    where r.id = o.id and r.position <> o.position`)

/** One row per rule of each VM's firewalls in evaluation order; a firewall without rules yields one row with a null id. */
export const listRulesOfVms = (db: Queries, vmIds: readonly string[]) =>
  db.many<(RuleRow | { id: null }) & { vm_id: string; covers_private: boolean }>(sql`
    select ${allColumns('firewall_rules', 'r')}, b.vm_id, f.covers_private
    from firewall_bindings b join firewalls f on f.id = b.firewall_id left join firewall_rules r on r.firewall_id = b.firewall_id
    where b.vm_id = any(${vmIds}::text[]) order by b.position, r.position`)

export interface FilterSize {
  vm_id: string
  /** In evaluation order. */
  firewalls: string
  /** At least what its rules expand to: a range of ports is at most 30 lines. */
  lines: number
}

/** Of VMs with firewalls. */
export const filterSizes = (db: Queries, vmIds: readonly string[]) =>
  db.many<FilterSize>(sql`
    select b.vm_id, string_agg(b.firewall_id, ' ' order by b.position) as firewalls, sum(f.lines)::int as lines
    from firewall_bindings b cross join lateral (
      select coalesce(sum((1 + regexp_count(coalesce(port, ''), ',') + 29 * regexp_count(coalesce(port, ''), '-'))
        * greatest(1, cardinality(source_ips)) * greatest(1, cardinality(dest_ips))), 0) as lines
      from firewall_rules r where r.firewall_id = b.firewall_id) f
    where b.vm_id = any(${vmIds}::text[]) group by b.vm_id`)

export type UndoRow = Row<'firewall_undos'>

const isDue = (now: Date) => sql`confirm_by <= ${now} and coalesce(next_try_at, '-infinity') <= ${now}`

export const keepUndo = (tx: Tx, firewallId: string, rules: string, row: Pick<UndoRow, 'version_after' | 'undo_until' | 'confirm_by'>) =>
  tx.run(sql`
    insert into firewall_undos (firewall_id, rules, version_after, undo_until, confirm_by)
    values (${firewallId}, ${rules}::jsonb, ${row.version_after}, ${row.undo_until}, ${row.confirm_by})
    on conflict (firewall_id) do update set rules = excluded.rules, version_after = excluded.version_after, undo_until = excluded.undo_until,
      confirm_by = excluded.confirm_by, failures = 0, next_try_at = null`)

const restoresVersion = versionOf(sql`jsonb_populate_recordset(null::firewall_rules, u.rules) r`)

export type KeptUndo = Pick<UndoRow, 'version_after' | 'undo_until' | 'confirm_by'> & { restores_version: string }

/** Of a locked firewall. */
export const findUndo = (tx: Tx, firewallId: string) =>
  tx.maybe<KeptUndo>(sql`
    select version_after, undo_until, confirm_by, ${restoresVersion} as restores_version from firewall_undos u where firewall_id = ${firewallId}`)

/** One row per rule that it would restore; without any, one row with a null id. */
export const findUndoWithRules = (db: Queries, firewallId: string) =>
  db.many<(RuleRow | { id: null }) & KeptUndo>(sql`
    select ${allColumns('firewall_rules', 'r')}, u.version_after, u.undo_until, u.confirm_by, ${restoresVersion} as restores_version
    from firewall_undos u left join lateral jsonb_populate_recordset(null::firewall_rules, u.rules) r on true
    where u.firewall_id = ${firewallId} order by r.position`)

/** Of the firewalls of these VMs that go back to them unless somebody confirms what came after. */
export const listUnconfirmedRules = (db: Queries, vmIds: readonly string[]) =>
  db.many<RuleRow & { vm_id: string }>(sql`
    select ${allColumns('firewall_rules', 'r')}, b.vm_id
    from firewall_bindings b join firewall_undos u on u.firewall_id = b.firewall_id, jsonb_populate_recordset(null::firewall_rules, u.rules) r
    where u.confirm_by is not null and b.vm_id = any(${vmIds}::text[])`)

/** In place of rules that were deleted. With all columns, also those that this process does not know: there is no result that could change. */
export const restoreRules = (tx: Tx, firewallId: string) =>
  tx.run(sql`
    insert into firewall_rules
    select (jsonb_populate_record(null::firewall_rules, rule)).* from firewall_undos, jsonb_array_elements(rules) rule where firewall_id = ${firewallId}`)

export const deleteUndo = (tx: Tx, firewallId: string) => tx.run(sql`delete from firewall_undos where firewall_id = ${firewallId}`)

export const clearConfirmation = (tx: Tx, firewallId: string) =>
  tx.run(sql`update firewall_undos set confirm_by = null where firewall_id = ${firewallId}`)

/** Nothing where another process did that meanwhile, or where nothing is to be undone any more. */
export const postponeUndo = (tx: Tx, firewallId: string, now: Date, nextTryAt: Date) =>
  tx.maybe<Pick<UndoRow, 'failures'>>(sql`
    update firewall_undos set failures = failures + 1, next_try_at = ${nextTryAt} where firewall_id = ${firewallId} and ${isDue(now)}
    returning failures`)

export const deleteUndosUntil = (db: Queries, now: Date) =>
  db.run(sql`delete from firewall_undos where undo_until <= ${now} and confirm_by is null`)

export const listDueUndos = (db: Queries, now: Date) =>
  db.many<FirewallRow & { failures: number }>(sql`
    select ${allColumns('firewalls', 'f')}, u.failures from firewall_undos u join firewalls f on f.id = u.firewall_id
    where ${isDue(now)} order by u.confirm_by limit 100`)
