import { sql, type NotNull, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { contactOf } from '../accounts/service.ts'

/** The public addresses that VMs have now, as `vm_id`, `address` and `address_id`. Of a floating one the VM whose port may still have it. */
const held = sql`(
  select id as vm_id, ip_address as address, null as address_id from vms where ip_address is not null
  union all select id, coalesce(ipv6_prefix, ipv6_address::cidr)::inet, null from vms where ipv6_address is not null
  union all select v.id, a.address, a.id from addresses a join vms v on v.id = coalesce(a.releasing_vm_id, a.vm_id))`

/** `whose`: of `h`, the addresses to bring up to date. The first statements end what the last begins again for another VM. Clocks of two
 *  processes may differ: an interval begins when the one before it has ended. */
async function record(tx: Tx, now: Date, whose: Sql): Promise<void> {
  const ended = tx.run(sql`
    update address_history h set until = greatest(${now}, h.since) where h.until is null and ${whose}
      and not exists (select from ${held} w where w.vm_id = h.vm_id and w.address = h.address and w.address_id is not distinct from h.address_id)`)
  // A process of an older version has given the address to another VM without recording that.
  const replaced = tx.run(sql`
    update address_history old set until = greatest(${now}, old.since) where old.until is null
      and exists (select from ${held} h where ${whose} and h.address && old.address)
      and not exists (select from ${held} w where w.vm_id = old.vm_id and w.address = old.address and w.address_id is not distinct from old.address_id)`)
  const begun = tx.run(sql`
    insert into address_history (address, vm_id, vm_name, account_id, email, address_id, since)
    select h.address, h.vm_id, v.name, v.account_id, coalesce(${contactOf(sql`a`)}, ''), h.address_id,
      greatest(${now}, (select max(o.until) from address_history o where o.address && h.address))
    from ${held} h join vms v on v.id = h.vm_id join accounts a on a.id = v.account_id
    where ${whose} and not exists (select from address_history o where o.until is null and o.vm_id = h.vm_id and o.address = h.address
      and o.address_id is not distinct from h.address_id)`)
  await Promise.all([ended, replaced, begun])
}

export const recordOfVm = (tx: Tx, now: Date, vmId: string) => record(tx, now, sql`h.vm_id = ${vmId} and h.address_id is null`)

export const recordFloating = (tx: Tx, now: Date, addressId: string) => record(tx, now, sql`h.address_id = ${addressId}`)

/** What is not recorded as it is: written by a process of an older version. */
export const findUnrecorded = (db: Queries) =>
  db.many<{ vm_id: NotNull<string>; address_id: string | null }>(sql`
    select coalesce(w.vm_id, h.vm_id) as vm_id, coalesce(w.address_id, h.address_id) as address_id
    from ${held} w full join (select vm_id, address, address_id from address_history where until is null) h
      on h.vm_id = w.vm_id and h.address = w.address and h.address_id is not distinct from w.address_id
    where w.vm_id is null or h.vm_id is null order by 1 limit 500`)

export const deleteBefore = (db: Queries, moment: Date, most: number) =>
  db.run(sql`
    delete from address_history where id = any(array(select id from address_history where until < ${moment} limit ${most}))`)

export interface HolderRow {
  address: string
  vm_id: string
  vm_name: string
  vm_exists: boolean
  account_id: string
  email: string
  is_floating: boolean
  since: Date
  until: Date | null
}

/** Newest first. At a moment at most one. */
export const listHolders = (db: Queries, address: string, at: Date | null, limit: number) =>
  db.many<HolderRow>(sql`
    select h.address::text as address, h.vm_id, coalesce(v.name, h.vm_name) as vm_name, v.id is not null as vm_exists, h.account_id,
      coalesce(nullif(h.email, ''), ${contactOf(sql`a`)}, '') as email, h.address_id is not null as is_floating, h.since, h.until
    from address_history h left join vms v on v.id = h.vm_id left join accounts a on a.id = h.account_id
    where h.address && ${address}::inet and (${at}::timestamptz is null or tstzrange(h.since, h.until) @> ${at}::timestamptz)
    order by h.since desc, h.id desc limit ${limit}`)
