import { sql, type NotNull, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { NicCounters } from '../../hypervisor/driver.ts'
import { isOpen } from '../../workflow/run-store.ts'
import type { VmDetails } from '../vms/service.ts'

const capBytes = sql`(v.bandwidth_gb * 1000000000::int8 - v.bandwidth_withheld_bytes + v.bandwidth_pack_bytes)`

/** Usage of this period. Lock the VM's row before deciding on it. */
const usedBytes = sql`coalesce((select used_bytes from bandwidth_baselines b where b.vm_id = v.id and b.mac = v.mac), 0)`

export type UsageRow = Pick<
  VmDetails,
  'id' | 'name' | 'status' | 'next_renewal_at' | 'throttled_at' | 'bandwidth_used_bytes' | 'bandwidth_pack_bytes'
> & { cap_bytes: bigint | null }

export const listUsage = (db: Queries, accountId: string) =>
  db.many<UsageRow>(sql`
    select id, name, status, next_renewal_at, throttled_at, bandwidth_used_bytes, bandwidth_pack_bytes,
      case when bandwidth_gb > 0 then ${capBytes} end as cap_bytes
    from vm_details v where account_id = ${accountId} order by id desc`)

export const nextTick = async (db: Queries): Promise<bigint> =>
  (await db.one<{ tick: bigint }>(sql`select nextval('bandwidth_ticks') as tick`)).tick

export const vmsInAction = (db: Queries) =>
  db.many<{ id: string; host_id: NotNull<string> }>(sql`
    select distinct v.id, v.host_id from workflow_runs r join vms v on v.id = r.subject_id where ${isOpen} and v.host_id is not null`)

/** Lock order: VMs by id, before their baselines, so that metering and VM deletion cannot deadlock. */
export const lockVms = (tx: Tx, vmIds: string[]) =>
  tx.run(sql`select from vms where id = any(${vmIds}::text[]) order by id for no key update`)

export interface Counted {
  /** Samples older than the last counted one, and therefore ignored. */
  stale: number
  /** VMs that have just reached their cap, ordered by account. */
  throttled: string[]
}

/**
 * One statement per thousand VMs. The locked VM rows protect their baselines. For an unmanaged VM the baseline advances but the usage
 * does not. Of a host that the VM has left, only what the interface has counted on since the baseline is accepted: an epoch never comes
 * back, so nothing counts twice.
 */
export const countSamples = (tx: Tx, now: Date, hostId: string, tick: bigint, samples: NicCounters[]) =>
  tx.one<Counted>(sql`
    with sample as (
      select vm_id, mac, epoch, received, sent from unnest(${samples.map((each) => each.vmId)}::text[], ${samples.map((each) => each.mac)}::macaddr[],
        ${samples.map((each) => each.epoch)}::text[], ${samples.map((each) => each.receivedBytes)}::int8[],
        ${samples.map((each) => each.sentBytes)}::int8[]) as s(vm_id, mac, epoch, received, sent)),
    known as (
      select s.vm_id, s.mac, s.epoch, s.received, s.sent, v.status <> 'UNMANAGED' as counts, b.tick, b.epoch as last_epoch,
        b.received_bytes as last_received, b.sent_bytes as last_sent
      from sample s join vms v on v.id = s.vm_id and v.mac = s.mac
        left join bandwidth_baselines b on b.vm_id = s.vm_id and b.mac = s.mac
      where v.host_id = ${hostId} or (b.epoch = s.epoch and s.received >= b.received_bytes and s.sent >= b.sent_bytes)),
    fresh as (
      select vm_id, mac, epoch, received, sent, counts, last_epoch, last_received, last_sent,
        received + sent - case when epoch = last_epoch and received >= last_received and sent >= last_sent
        then last_received + last_sent else 0 end as bytes
      from known where tick is null or tick < ${tick}),
    moved as (
      insert into bandwidth_baselines as b (vm_id, mac, epoch, received_bytes, sent_bytes, used_bytes, tick)
      select vm_id, mac, epoch, received, sent, case when counts then bytes else 0 end, (select nextval('bandwidth_ticks')) from fresh
      where (epoch, received, sent) is distinct from (last_epoch, last_received, last_sent)
      on conflict (vm_id, mac) do update set epoch = excluded.epoch, received_bytes = excluded.received_bytes,
        sent_bytes = excluded.sent_bytes, used_bytes = b.used_bytes + excluded.used_bytes, tick = excluded.tick
      returning vm_id, used_bytes),
    slowed as (
      update vms v set throttled_at = ${now} from moved m
      where v.id = m.vm_id and v.throttled_at is null and v.status <> 'UNMANAGED' and v.bandwidth_gb > 0 and m.used_bytes >= ${capBytes}
      returning v.id, v.account_id)
    select (select count(*)::int from known where tick >= ${tick}) as stale,
      array(select id from slowed order by account_id, id) as throttled`)

/** Returns the transition, or null when the state did not change. */
export const setThrottle = async (tx: Tx, now: Date, vmId: string): Promise<'throttled' | 'unthrottled' | null> => {
  const row = await tx.maybe<{ throttled: boolean }>(sql`
    update vms v set throttled_at = case when throttled_at is null then ${now}::timestamptz end
    where id = ${vmId} and (throttled_at is not null) <> (bandwidth_gb > 0 and ${usedBytes} >= ${capBytes})
    returning throttled_at is not null as throttled`)
  return row ? (row.throttled ? 'throttled' : 'unthrottled') : null
}

/** Copies the usage to the VM's current interface. A former interface keeps its counter baseline; a new one starts at zero. */
export const carryUsage = (tx: Tx, vmId: string, macBefore: string) =>
  tx.run(sql`
    insert into bandwidth_baselines (vm_id, mac, epoch, received_bytes, sent_bytes, used_bytes, tick)
    select v.id, v.mac, '', 0, 0, b.used_bytes, nextval('bandwidth_ticks')
    from vms v join bandwidth_baselines b on b.vm_id = v.id and b.mac = ${macBefore}::macaddr where v.id = ${vmId}
    on conflict (vm_id, mac) do update set used_bytes = excluded.used_bytes`)

export const addPack = (tx: Tx, now: Date, vmId: string, bytes: bigint) =>
  tx.run(sql`update vms set bandwidth_pack_bytes = bandwidth_pack_bytes + ${bytes}::int8, updated_at = ${now} where id = ${vmId}`)

export const resetUsage = (tx: Tx, vmId: string) =>
  tx.run(sql`
    with unused as (update bandwidth_baselines set used_bytes = 0 where vm_id = ${vmId})
    update vms set bandwidth_pack_bytes = 0, bandwidth_withheld_bytes = 0 where id = ${vmId}`)
