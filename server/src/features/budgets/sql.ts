import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { selectedBy } from '../labels/service.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type BudgetRow = Row<'budgets'>

export type Limits = Pick<BudgetRow, 'monthly_cents' | 'max_vms' | 'label_selector'>

export interface StateRow extends Limits {
  id: string
  name: string
  has_budget: boolean
  is_active: boolean
  used_cents: bigint
  vms: number
}

/** Of tokens, whether they have a budget or not; a deleted one is missing. */
export const findStates = (db: Queries, month: string, tokenIds: readonly string[]) =>
  db.many<StateRow>(sql`
    select k.id, k.name, b.subject_id is not null as has_budget, k.revoked_at is null as is_active, b.monthly_cents, b.max_vms, b.label_selector,
      coalesce(last.used_after_cents, 0) as used_cents, case when b.subject_id is null then 0 else (select count(*)::int from budget_resources r
        where r.subject_type = 'TOKEN' and r.subject_id = k.id and r.vm_id is not null) end as vms
    from api_tokens k left join budgets b on b.subject_type = 'TOKEN' and b.subject_id = k.id
    left join lateral (select used_after_cents from budget_entries e where e.subject_type = 'TOKEN' and e.subject_id = k.id
      and e.month = ${month}::date order by number desc limit 1) last on true
    where k.id = any(${[...tokenIds]}::text[]) order by k.id`)

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

/** For each of the subjects, after the last entry that it has in the month. */
export const insertEntries = (tx: Tx, month: string, subjectIds: string[], entry: Entry) =>
  tx.run(sql`
    insert into budget_entries (subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, limit_cents, created_at)
    select 'TOKEN', s.id, ${month}::date, ${entry.number}, ${entry.accountId}, ${entry.referenceId}, ${entry.kind}, ${entry.cents}::int8,
      coalesce(last.used_after_cents, 0) + ${entry.cents}::int8, b.monthly_cents, ${entry.now}
    from unnest(${subjectIds}::text[]) s(id) left join budgets b on b.subject_type = 'TOKEN' and b.subject_id = s.id
    left join lateral (select used_after_cents from budget_entries e where e.subject_type = 'TOKEN' and e.subject_id = s.id
      and e.month = ${month}::date order by number desc limit 1) last on true`)

/** Of whoever made it. */
export const insertRenewal = (tx: Tx, month: string, entry: Entry) =>
  tx.run(sql`
    insert into budget_entries (subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, limit_cents, created_at)
    select r.subject_type, r.subject_id, ${month}::date, ${entry.number}, ${entry.accountId}, ${entry.referenceId}, ${entry.kind}, ${entry.cents}::int8,
      coalesce(last.used_after_cents, 0) + ${entry.cents}::int8, b.monthly_cents, ${entry.now}
    from budget_resources r left join budgets b on b.subject_type = r.subject_type and b.subject_id = r.subject_id
    left join lateral (select used_after_cents from budget_entries e where e.subject_type = r.subject_type and e.subject_id = r.subject_id
      and e.month = ${month}::date order by number desc limit 1) last on true
    where r.reference_id = ${entry.referenceId}`)

export type ResourceType = 'VM' | 'VOLUME' | 'ADDRESS' | 'IMAGE'

export const insertResource = (tx: Tx, subjects: { id: string; vms: number; max_vms: number | null }[], type: ResourceType, id: string) =>
  tx.run(sql`
    insert into budget_resources (subject_type, subject_id, vm_id, volume_id, address_id, image_id, vms_after, max_vms)
    select 'TOKEN', s.id, ${type === 'VM' ? id : null}, ${type === 'VOLUME' ? id : null}, ${type === 'ADDRESS' ? id : null},
      ${type === 'IMAGE' ? id : null}, case when ${type === 'VM'} then s.vms end, case when ${type === 'VM'} then s.max_vms end
    from unnest(${subjects.map((each) => each.id)}::text[], ${subjects.map(({ vms }) => vms + 1)}::int4[],
      ${subjects.map(({ max_vms }) => max_vms)}::int4[]) s(id, vms, max_vms) on conflict do nothing`)

export const entriesOf = (tx: Tx, accountId: string, referenceId: string) =>
  tx.many<{ subject_id: string; month: string; number: number }>(sql`
    select subject_id, month::text as month, number from budget_entries
    where reference_id = ${referenceId} and account_id = ${accountId} and kind <> 'REFUND' order by number`)

/** Packs are never given back. */
export const ledgerOf = (tx: Tx, accountId: string, referenceId: string) =>
  tx.many<{ number: number; amount_cents: bigint }>(sql`
    select number, amount_cents from wallet_transactions
    where reference_id = ${referenceId} and account_id = ${accountId} and type <> 'BANDWIDTH_PACK' order by number`)

export const findBudgets = (db: Queries, tokenIds: string[]) =>
  db.many<Limits & { id: string }>(sql`
    select subject_id as id, monthly_cents, max_vms, label_selector from budgets where subject_type = 'TOKEN' and subject_id = any(${tokenIds}::text[])`)

export const setBudget = (tx: Tx, accountId: string, tokenId: string, limits: Limits) =>
  tx.run(sql`
    insert into budgets (subject_type, subject_id, account_id, monthly_cents, max_vms, label_selector)
    values ('TOKEN', ${tokenId}, ${accountId}, ${limits.monthly_cents}, ${limits.max_vms}, ${limits.label_selector})
    on conflict (subject_type, subject_id) do update set monthly_cents = excluded.monthly_cents, max_vms = excluded.max_vms,
      label_selector = excluded.label_selector`)

/** Returns those that had more. */
export const narrowBudgets = (tx: Tx, accountId: string, tokenIds: string[], limits: Limits) =>
  tx.many<{ id: string }>(sql`
    insert into budgets as b (subject_type, subject_id, account_id, monthly_cents, max_vms, label_selector)
    select 'TOKEN', t.id, ${accountId}, ${limits.monthly_cents}, ${limits.max_vms}, ${limits.label_selector} from unnest(${tokenIds}::text[]) t(id)
    on conflict (subject_type, subject_id) do update set monthly_cents = least(b.monthly_cents, excluded.monthly_cents),
      max_vms = least(b.max_vms, excluded.max_vms), label_selector = coalesce(b.label_selector, excluded.label_selector)
    where (b.monthly_cents, b.max_vms, b.label_selector) is distinct from (least(b.monthly_cents, excluded.monthly_cents),
      least(b.max_vms, excluded.max_vms), coalesce(b.label_selector, excluded.label_selector))
    returning subject_id as id`)

export const deleteBudgets = (tx: Tx, tokenIds: string[]) =>
  tx.run(sql`delete from budgets where subject_type = 'TOKEN' and subject_id = any(${tokenIds}::text[])`)

export const deleteUses = async (tx: Tx, tokenIds: string[]): Promise<void> => {
  await tx.run(sql`delete from budget_resources where subject_type = 'TOKEN' and subject_id = any(${tokenIds}::text[])`)
  await tx.run(sql`delete from budget_entries where subject_type = 'TOKEN' and subject_id = any(${tokenIds}::text[])`)
}
