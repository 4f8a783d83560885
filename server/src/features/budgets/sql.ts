import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { selectedBy } from '../labels/service.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type BudgetRow = Row<'budgets'>

export type Limits = Pick<BudgetRow, 'monthly_cents' | 'max_vms' | 'label_selector'>

/** Whose budget it is. */
export interface Holder {
  type: 'TOKEN' | 'MEMBER' | 'INVITATION' | 'PROJECT'
  id: string
}

export interface StateRow extends Limits, Holder {
  /** Of a token; empty for others. */
  name: string
  has_budget: boolean
  /** Neither a revoked token nor somebody who is no member any more. */
  is_active: boolean
  used_cents: bigint
  vms: number
}

/** As rows of `h (type, id)`. */
const rowsOf = (holders: readonly Holder[]): Sql =>
  sql`unnest(${holders.map(({ type }) => type)}::text[], ${holders.map(({ id }) => id)}::text[]) as h(type, id)`

/** What is used of it in the month is in `last`. */
const lastEntry = (month: string): Sql => sql`
  left join lateral (select used_after_cents from budget_entries e where e.subject_type = h.type and e.subject_id = h.id
    and e.month = ${month}::date order by number desc limit 1) last on true`

/** Whether they have a budget or not; a deleted token is missing. */
export const findStates = (db: Queries, month: string, holders: readonly Holder[]) =>
  db.many<StateRow>(sql`
    select h.type, h.id, coalesce(k.name, '') as name, b.subject_id is not null as has_budget, b.monthly_cents, b.max_vms, b.label_selector,
      case h.type when 'TOKEN' then k.revoked_at is null
        when 'MEMBER' then exists (
          select from members m where m.account_id = split_part(h.id, '/', 1) and m.user_id = split_part(h.id, '/', 2)) else true end as is_active,
      coalesce(last.used_after_cents, 0) as used_cents, case when b.subject_id is null then 0 else (select count(*)::int from budget_resources r
        where r.subject_type = h.type and r.subject_id = h.id and r.vm_id is not null) end as vms
    from ${rowsOf(holders)} left join api_tokens k on h.type = 'TOKEN' and k.id = h.id
    left join budgets b on b.subject_type = h.type and b.subject_id = h.id ${lastEntry(month)}
    where h.type <> 'TOKEN' or k.id is not null order by h.type, h.id`)

/** Whether the ledger has nothing of it before this entry. */
export const isFirst = async (tx: Tx, accountId: string, referenceId: string, number: number): Promise<boolean> =>
  (
    await tx.one<{ first: boolean }>(sql`
      select not exists(select from wallet_transactions where reference_id = ${referenceId} and account_id = ${accountId} and number < ${number}) as first`)
  ).first

/** Whether what is charged for has such labels. */
export const isSelected = async (tx: Tx, referenceId: string, selector: string): Promise<boolean> =>
  (
    await tx.one<{ selected: boolean }>(sql`
      select exists(select from (
        select labels from vms where id = ${referenceId} union all select labels from volumes where id = ${referenceId}
        union all select labels from addresses where id = ${referenceId} union all select labels from images where id = ${referenceId}) r
      where true ${selectedBy(sql`r.labels`, selector)}) as selected`)
  ).selected

export interface Entry {
  accountId: string
  /** Of the ledger's entry. */
  number: number
  referenceId: string
  kind: 'CHARGE' | 'RENEWAL' | 'REFUND'
  cents: bigint
  now: Date
}

/** After the last entry that each has in the month. `monthly_cents`: what a charge was held to. */
export const insertEntries = (tx: Tx, month: string, holders: (Holder & Partial<Limits>)[], entry: Entry) =>
  tx.run(sql`
    insert into budget_entries (subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, limit_cents, created_at)
    select h.type, h.id, ${month}::date, ${entry.number}, ${entry.accountId}, ${entry.referenceId}, ${entry.kind}, ${entry.cents}::int8,
      coalesce(last.used_after_cents, 0) + ${entry.cents}::int8, h.monthly_cents, ${entry.now}
    from unnest(${holders.map(({ type }) => type)}::text[], ${holders.map(({ id }) => id)}::text[],
      ${holders.map(({ monthly_cents: cents }) => cents ?? null)}::int8[]) as h(type, id, monthly_cents) ${lastEntry(month)}`)

/** Of whoever made it. */
export const insertRenewal = (tx: Tx, month: string, entry: Entry) =>
  tx.run(sql`
    insert into budget_entries (subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, created_at)
    select h.type, h.id, ${month}::date, ${entry.number}, ${entry.accountId}, ${entry.referenceId}, ${entry.kind}, ${entry.cents}::int8,
      coalesce(last.used_after_cents, 0) + ${entry.cents}::int8, ${entry.now}
    from (select subject_type, subject_id from budget_resources where reference_id = ${entry.referenceId}) h(type, id) ${lastEntry(month)}`)

export type ResourceType = 'VM' | 'VOLUME' | 'ADDRESS' | 'IMAGE'

export const insertResource = (tx: Tx, holders: (Holder & Pick<StateRow, 'vms' | 'max_vms'>)[], type: ResourceType, id: string) =>
  tx.run(sql`
    insert into budget_resources (subject_type, subject_id, vm_id, volume_id, address_id, image_id, vms_after, max_vms)
    select h.type, h.id, ${type === 'VM' ? id : null}, ${type === 'VOLUME' ? id : null}, ${type === 'ADDRESS' ? id : null},
      ${type === 'IMAGE' ? id : null}, case when ${type === 'VM'} then h.vms end, case when ${type === 'VM'} then h.max_vms end
    from unnest(${holders.map((each) => each.type)}::text[], ${holders.map((each) => each.id)}::text[],
      ${holders.map(({ vms }) => vms + 1)}::int4[], ${holders.map(({ max_vms }) => max_vms)}::int4[]) h(type, id, vms, max_vms)
    on conflict do nothing`)

export const entriesOf = (tx: Tx, accountId: string, referenceId: string) =>
  tx.many<Holder & { month: string; number: number }>(sql`
    select subject_type as type, subject_id as id, month::text as month, number from budget_entries
    where reference_id = ${referenceId} and account_id = ${accountId} and kind <> 'REFUND' order by number`)

/** Packs are never given back. */
export const ledgerOf = (tx: Tx, accountId: string, referenceId: string) =>
  tx.many<{ number: number; amount_cents: bigint }>(sql`
    select number, amount_cents from wallet_transactions
    where reference_id = ${referenceId} and account_id = ${accountId} and type <> 'BANDWIDTH_PACK' order by number`)

export const findBudgets = (db: Queries, holders: readonly Holder[]) =>
  db.many<Limits & { id: string }>(sql`
    select h.id, monthly_cents, max_vms, label_selector from ${rowsOf(holders)} join budgets b on b.subject_type = h.type and b.subject_id = h.id`)

export const setBudget = (tx: Tx, accountId: string, { type, id }: Holder, limits: Limits) =>
  tx.run(sql`
    insert into budgets (subject_type, subject_id, account_id, monthly_cents, max_vms, label_selector)
    values (${type}, ${id}, ${accountId}, ${limits.monthly_cents}, ${limits.max_vms}, ${limits.label_selector})
    on conflict (subject_type, subject_id) do update set monthly_cents = excluded.monthly_cents, max_vms = excluded.max_vms,
      label_selector = excluded.label_selector`)

/** Returns those that had more. */
export const narrowBudgets = (tx: Tx, accountId: string, holders: readonly Holder[], limits: Limits) =>
  tx.many<{ id: string }>(sql`
    insert into budgets as b (subject_type, subject_id, account_id, monthly_cents, max_vms, label_selector)
    select h.type, h.id, ${accountId}, ${limits.monthly_cents}, ${limits.max_vms}, ${limits.label_selector} from ${rowsOf(holders)}
    on conflict (subject_type, subject_id) do update set monthly_cents = least(b.monthly_cents, excluded.monthly_cents),
      max_vms = least(b.max_vms, excluded.max_vms), label_selector = coalesce(b.label_selector, excluded.label_selector)
    where (b.monthly_cents, b.max_vms, b.label_selector) is distinct from (least(b.monthly_cents, excluded.monthly_cents),
      least(b.max_vms, excluded.max_vms), coalesce(b.label_selector, excluded.label_selector))
    returning subject_id as id`)

export const deleteBudgets = (tx: Tx, holders: readonly Holder[]) =>
  tx.run(sql`delete from budgets b using ${rowsOf(holders)} where b.subject_type = h.type and b.subject_id = h.id`)

export const deleteUses = async (tx: Tx, holders: readonly Holder[]): Promise<void> => {
  await tx.run(sql`delete from budget_resources r using ${rowsOf(holders)} where r.subject_type = h.type and r.subject_id = h.id`)
  await tx.run(sql`delete from budget_entries e using ${rowsOf(holders)} where e.subject_type = h.type and e.subject_id = h.id`)
}
