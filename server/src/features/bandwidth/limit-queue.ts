// Queue of interfaces whose bandwidth limit must change. An update is enqueued in the transaction that changes the desired limit, and
// stays queued until the host has applied it.
import { sql, type NotNull, type Queries } from '../../kernel/database/db.ts'
import { hasOpenRun } from '../../workflow/run-store.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import type { VmRow } from '../vms/service.ts'

export const APPLY_LIMITS = 'bandwidth.limit'

export async function enqueueLimitUpdates(tx: Queries, now: Date, vmIds: string[]): Promise<void> {
  if (vmIds.length === 0) return
  await tx.run(sql`
    insert into bandwidth_limit_queue as l (vm_id, next_try_at) select id, ${now} from vms where id = any(${vmIds}::text[]) order by id
    on conflict (vm_id) do update set version = l.version + 1, next_try_at = excluded.next_try_at`)
  await triggerReconciler(tx, APPLY_LIMITS)
}

const onHost = sql`join vms v on v.id = l.vm_id and v.mac is not null and v.status <> 'UNMANAGED'`

export const hostsWithOrders = (db: Queries, now: Date) =>
  db.many<{ host_id: NotNull<string> }>(sql`select distinct v.host_id from bandwidth_limit_queue l ${onHost} where l.next_try_at <= ${now}`)

export interface LimitUpdate {
  vm_id: string
  version: number
}

/** Claims the next update; no other process claims it before `until`. */
export const claimOrder = (db: Queries, hostId: string, now: Date, until: Date) =>
  db.maybe<LimitUpdate>(sql`
    update bandwidth_limit_queue set next_try_at = ${until} where vm_id = (
      select l.vm_id from bandwidth_limit_queue l ${onHost} where v.host_id = ${hostId} and l.next_try_at <= ${now}
      order by l.next_try_at limit 1 for update of l skip locked)
    returning vm_id, version`)

/** Keeps the update when a newer version was enqueued meanwhile. */
export const completeLimitUpdate = (db: Queries, { vm_id, version }: LimitUpdate) =>
  db.run(sql`delete from bandwidth_limit_queue where vm_id = ${vm_id} and version = ${version}`)

export const postponeOrder = (db: Queries, { vm_id, version }: LimitUpdate, until: Date) =>
  db.run(sql`update bandwidth_limit_queue set next_try_at = ${until} where vm_id = ${vm_id} and version = ${version}`)

export type Speeds = Pick<VmRow, 'id' | 'mac' | 'throttled_at' | 'throttle_mbps' | 'network_10g' | 'network_mbps'>

/** Desired limits of idle VMs only: an open run applies the limit itself. */
export const desiredLimits = (db: Queries, hostId: string, vmIds: string[]) =>
  db.many<Speeds>(sql`
    select id, mac, throttled_at, throttle_mbps, network_10g, network_mbps from vms v
    where id = any(${vmIds}::text[]) and host_id = ${hostId} and status in ('RUNNING', 'STOPPED')
      and not ${hasOpenRun(sql`v.id`)}`)
