// What of a VM is paid, and until when.
import { sql, type Tx } from '../../../kernel/database/db.ts'

/** Until when each add-on is paid, whether or not it is switched on. */
export interface PaidAddOns {
  daily_backup_paid_until: Date | null
  network_10g_paid_until: Date | null
}

export const paidAddOns = (tx: Tx, id: string) =>
  tx.one<PaidAddOns>(sql`select daily_backup_paid_until, network_10g_paid_until from vms where id = ${id}`)

export const setPaidAddOns = (tx: Tx, id: string, paid: PaidAddOns) =>
  tx.run(sql`
    update vms set daily_backup_paid_until = ${paid.daily_backup_paid_until}, network_10g_paid_until = ${paid.network_10g_paid_until}
    where id = ${id}`)

/** The monthly price at which the VM's snapshots and backups are paid for until the period ends. */
export const paidForCopies = async (tx: Tx, id: string): Promise<bigint> =>
  (
    await tx.one<{ cents: bigint }>(sql`
      select ((select coalesce(sum(price_cents), 0) from snapshots where vm_id = ${id})
        + (select coalesce(sum(price_cents), 0) from backups where vm_id = ${id}))::int8 as cents`)
  ).cents

/** A renewal pays for the copies that exist, at the price of today. */
export async function setCopyPrices(tx: Tx, id: string): Promise<void> {
  const price = sql`counted_gib * (select value from catalog_values where name = 'price.copies_gib')`
  const priced = sql`case when status in ('AVAILABLE', 'RESTORING') then ${price} else 0 end`
  const isPaidByAddOn = sql`(type = 'DAILY' and not is_extra and (select v.daily_backup and v.shelved_at is null from vms v where v.id = vm_id))`
  const pricedBackup = sql`case when ${isPaidByAddOn} then 0 else ${priced} end`
  await Promise.all([
    tx.run(sql`update snapshots set price_cents = ${priced} where vm_id = ${id} and price_cents <> ${priced}`),
    tx.run(sql`update backups set price_cents = ${pricedBackup} where vm_id = ${id} and price_cents <> ${pricedBackup}`),
  ])
}

/** After an unbilled time: an expired period renews from now, without charging for the time in between. */
export const resumeBilling = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`
    update vms set suspended_at = null, past_due_at = null, billing_status = 'ACTIVE', next_renewal_at = greatest(next_renewal_at, ${now}),
      renewal_day = case when next_renewal_at < ${now} then extract(day from ${now}::timestamptz at time zone 'UTC') else renewal_day end
    where id = ${id}`)

/** Restarts the retention of an unpaid VM. */
export const restartRetention = (tx: Tx, now: Date, id: string) => tx.run(sql`update vms set suspended_at = ${now} where id = ${id}`)
