// Every billing period is charged once, no service is unpaid, and traffic limits match what was paid for.
import { parseDurationMs } from '../kernel/clock.ts'
import { sql, type Sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'
import { isBusy } from './workflows.ts'

const ago = (now: Date, duration: string): Date => new Date(now.getTime() - parseDurationMs(duration))

const once = invariant(
  'renewals.once',
  'Every billing period of a VM is charged once',
  ({ since }) => sql`
    select t.id, format('VM %s was charged %s cents without a renewal', t.reference_id, -t.amount_cents) as what
    from wallet_transactions t left join renewals r on r.transaction_id = t.id
    where t.type = 'VM_RENEWAL' and t.created_at >= ${since} and r.vm_id is distinct from t.reference_id
    union all
    select r.transaction_id, format('VM %s was charged from %s on, although it was paid until %s', r.vm_id, r.period_started_at, before.ends_at)
    from renewals r join wallet_transactions t on t.id = r.transaction_id, lateral (
      select max(period_ends_at) as ends_at from renewals e where e.vm_id = r.vm_id and e.period_started_at < r.period_started_at) before
    where r.period_started_at < before.ends_at and t.created_at >= ${since}`,
)

const paid = invariant(
  'renewals.paid',
  'The current billing period of a VM was charged',
  () => sql`
    select v.id, format('VM %s is %s from %s to %s, without a charge', v.name, v.billing_status, v.period_started_at,
      v.next_renewal_at) as what
    from vms v where v.billing_status <> 'CANCELLED'
      and not exists (select from renewals r where r.vm_id = v.id and r.period_started_at = v.period_started_at)
      and not exists (select from wallet_transactions t
        where t.reference_id = v.id and t.type = 'VM_CHARGE' and t.created_at = v.period_started_at)`,
)

const ofSuspendedAccount = sql`exists (select from accounts a where a.id = v.account_id and a.suspended_at is not null)`

/** Unmanaged VMs and those suspended by an operator are not charged; a VM on an unreachable host cannot be suspended. */
const due = invariant(
  'renewals.due',
  'An expired billing period is renewed, and an unpaid VM is suspended and then deleted',
  ({ now }) => sql`
    select v.id, format('VM %s is %s and %s: renewal was due at %s, past due since %s, suspended since %s', v.name, v.status,
      v.billing_status, v.next_renewal_at, v.past_due_at, v.suspended_at) as what
    from vms v left join hosts h on h.id = v.host_id
    where v.provisioned and v.status <> 'UNMANAGED' and h.unreachable_since is null and not ${isBusy}
      and not ${ofSuspendedAccount}
      and case v.billing_status
        when 'ACTIVE' then v.status <> 'SUSPENDED' and v.next_renewal_at < ${ago(now, '15m')}
        when 'PAST_DUE' then v.status <> 'SUSPENDED' and v.past_due_at < ${ago(now, '25h')}
        when 'SUSPENDED' then v.status <> 'SUSPENDED' or v.suspended_at < ${ago(now, '170h')}
        else true end`,
  { settle: '15m' },
)

const held = invariant(
  'accounts.suspended',
  'No VM of a suspended account is running',
  ({ now }) => sql`
    select v.id, format('VM %s is %s, and its account %s is suspended since %s', v.name, v.status, a.id, a.suspended_at) as what
    from vms v join accounts a on a.id = v.account_id join hosts h on h.id = v.host_id
    where a.suspended_at < ${ago(now, '30m')} and v.status in ('RUNNING', 'STOPPED') and h.unreachable_since is null and not ${isBusy}`,
  { settle: '15m' },
)

const capBytes = sql`(v.bandwidth_gb * 1000000000::int8 - v.bandwidth_withheld_bytes + v.bandwidth_pack_bytes)`

const throttled = invariant(
  'bandwidth.throttled',
  'A VM is throttled exactly while its traffic quota is used up',
  () => sql`
    select v.id, format('VM %s has used %s of %s bytes and is %s', v.name, v.bandwidth_used_bytes, ${capBytes},
      case when v.throttled_at is null then 'not throttled' else 'throttled' end) as what
    from vm_details v where (v.throttled_at is not null) <> (v.bandwidth_gb > 0 and v.bandwidth_used_bytes >= ${capBytes})`,
)

const packs = invariant(
  'bandwidth.packs',
  'Bandwidth packs were bought in the current billing period',
  () => sql`
    select v.id, format('VM %s has packs of %s bytes; %s were bought since %s', v.name, v.bandwidth_pack_bytes, bought.count,
      v.period_started_at) as what
    from vms v, lateral (select count(*) from wallet_transactions t
      where t.reference_id = v.id and t.type = 'BANDWIDTH_PACK' and t.created_at >= v.period_started_at) bought
    where (v.bandwidth_pack_bytes > 0) <> (bought.count > 0)`,
)

interface Renewing {
  what: string
  /** Of each period that was charged: `id, started_at, ends_at, transaction_id`. */
  periods: Sql
  /** Of each that is to be paid: `id, account_id, name, period_started_at, next_renewal_at, billing_status`. */
  current: Sql
}

const renewalsOf = (name: string, { what, periods, current }: Renewing): Invariant =>
  invariant(
    `renewals.${name}`,
    `Every billing period of ${name} is charged once, and the current one is`,
    ({ now, since }) => sql`
      with periods as not materialized (${periods})
      select t.id, format('%s %s was charged %s cents without a period', ${what}::text, t.reference_id, -t.amount_cents) as what
      from wallet_transactions t left join periods p on p.transaction_id = t.id
      where t.type = any(${[`${what.toUpperCase()}_CHARGE`, `${what.toUpperCase()}_RENEWAL`]}::text[]) and t.created_at >= ${since}
        and p.id is distinct from t.reference_id
      union all
      select p.transaction_id, format('%s %s was charged from %s on, although it was paid until %s', ${what}::text, p.id, p.started_at, before.ends_at)
      from periods p join wallet_transactions t on t.id = p.transaction_id, lateral (
        select max(ends_at) as ends_at from periods e where e.id = p.id and e.started_at < p.started_at) before
      where p.started_at < before.ends_at and t.created_at >= ${since}
      union all
      select c.id, format('%s %s has a period from %s without a charge, or its renewal at %s is overdue', ${what}::text, c.name, c.period_started_at,
        c.next_renewal_at)
      from (${current}) c where not exists (select from periods p where p.id = c.id and p.started_at = c.period_started_at)
        or (c.billing_status = 'ACTIVE' and c.next_renewal_at < ${ago(now, '15m')}
          and not exists (select from accounts s where s.id = c.account_id and s.suspended_at is not null))`,
    { settle: '15m' },
  )

const addresses = renewalsOf('addresses', {
  what: 'address',
  periods: sql`select address_id as id, started_at, ends_at, transaction_id from address_periods`,
  current: sql`select id, account_id, host(address) as name, period_started_at, next_renewal_at, billing_status from addresses`,
})

const images = renewalsOf('images', {
  what: 'image',
  periods: sql`select image_id as id, started_at, ends_at, transaction_id from image_periods`,
  current: sql`select id, account_id, name, period_started_at, next_renewal_at, billing_status from images where status = 'AVAILABLE'`,
})

/** Those of a removed host are out of reach, and cost nothing. */
const volumes = renewalsOf('volumes', {
  what: 'volume',
  periods: sql`select volume_id as id, started_at, ends_at, transaction_id from volume_periods`,
  current: sql`select v.id, v.account_id, v.name, v.period_started_at, v.next_renewal_at,
      case when h.removed_at is null then v.billing_status end as billing_status
    from volumes v left join hosts h on h.id = v.host_id where v.deleted_at is null`,
})

export const billingInvariants: Invariant[] = [addresses, images, volumes, once, paid, due, held, throttled, packs]
