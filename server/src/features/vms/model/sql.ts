import type { ComputeSize } from '../../../hypervisor/driver.ts'
import { json, sql, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import { allColumns } from '../../../schema/columns.ts'
import type { Row } from '../../../schema/rows.gen.ts'
import { countOpenRuns } from '../../../workflow/run-store.ts'
import { recordAddressesOfVm } from '../../address-history/service.ts'
import { contactOf, isSuspended, payerOf, payingTogether, withProjects } from '../../accounts/service.ts'
import { selectedBy } from '../../labels/service.ts'
import type { VmStatus } from '../schema.ts'
import type { PaidAddOns } from './billing.sql.ts'
import { hasIso } from './iso.ts'
import { isInRescue } from './rescue.ts'
import type { NewVm, VmDetails, VmRow } from './rows.ts'

export * from './billing.sql.ts'
export * from './placement.sql.ts'
export type * from './rows.ts'

const paidUntil = (addOn: boolean, vm: Pick<VmRow, 'next_renewal_at'>): Date | null => (addOn ? vm.next_renewal_at : null)

export async function insertVm(tx: Tx, vm: NewVm): Promise<void> {
  await tx.run(sql`
    insert into vms (id, account_id, region_id, host_id, plan_id, os_template_id, uuid, name, hostname, status, vcpu, ram_mib, disk_gib, storage, storage_id,
      bandwidth_gb, network_mbps, throttle_mbps, disk_iops, disk_mib_per_second, dedicated_cpu, custom_price_cents, network_10g, daily_backup, daily_backup_paid_until, network_10g_paid_until,
      is_protected, public_ipv4, ip_address, address_pool_id, ipv6_address, ipv6_prefix, ipv6_pool_id, mac, renewal_day, period_started_at, period_price_cents, next_renewal_at, labels, created_at, updated_at)
    values (${vm.id}, ${vm.account_id}, ${vm.region_id}, ${vm.host_id}, ${vm.plan_id}, ${vm.os_template_id}, ${vm.uuid}, ${vm.name},
      ${vm.hostname}, 'PROVISIONING', ${vm.vcpu}, ${vm.ram_mib}, ${vm.disk_gib}, ${vm.storage}, ${vm.storage_id}, ${vm.bandwidth_gb}, ${vm.network_mbps}, ${vm.throttle_mbps},
      ${vm.disk_iops}, ${vm.disk_mib_per_second}, ${vm.dedicated_cpu},
      ${vm.custom_price_cents}, ${vm.network_10g}, ${vm.daily_backup}, ${paidUntil(vm.daily_backup, vm)}, ${paidUntil(vm.network_10g, vm)},
      ${vm.is_protected}, ${vm.public_ipv4}, ${vm.ip_address}, ${vm.address_pool_id}, ${vm.ipv6_address}, ${vm.ipv6_prefix}, ${vm.ipv6_pool_id}, ${vm.mac}, ${vm.renewal_day}, ${vm.period_started_at}, ${vm.period_price_cents}, ${vm.next_renewal_at}, ${json(vm.labels)}, ${vm.created_at}, ${vm.created_at})`)
  await recordAddressesOfVm(tx, vm.created_at, vm.id)
}

const details = sql`
  select ${allColumns('vm_details', 'd')}, host(d.ip_address) as ip_address, ${isSuspended(sql`d.account_id`)} as account_suspended, ${isInRescue(sql`d.id`)} as in_rescue, ${hasIso(sql`d.id`)} as has_iso from vm_details d`

export const findVm = (db: Queries, accountId: string, id: string) =>
  db.maybe<VmDetails>(sql`${details} where d.id = ${id} and d.account_id = ${accountId}`)

export const vmById = (db: Queries, id: string) => db.maybe<VmDetails>(sql`${details} where d.id = ${id}`)

export const vmsById = (db: Queries, ids: readonly string[]) => db.many<VmDetails>(sql`${details} where d.id = any(${ids}::text[])`)

/** Of the row of `vms` with this alias; a VM has every address of a prefix of its own. */
export const hasPublicAddress = (vm: Sql, address: string | null): Sql =>
  sql`(${vm}.ip_address = ${address}::inet or ${vm}.ipv6_address = ${address}::inet or ${vm}.ipv6_prefix >>= ${address}::inet)`

/** The account's VMs that have the address, as their public one or in a private network. */
export const holdersOf = (db: Queries, accountId: string, address: string) =>
  db.many<{ vm_id: string; network_id: string | null }>(sql`
    select id as vm_id, null as network_id from vms
    where account_id = ${accountId} and ${hasPublicAddress(sql`vms`, address)}
    union all select vm_id, null from addresses where account_id = ${accountId} and address = ${address}::inet and vm_id is not null
    union all select vm_id, network_id from network_attachments where account_id = ${accountId} and address = ${address}::inet`)

/** Locks nothing of another account, whose transactions would wait. */
export const lockVm = async (tx: Tx, accountId: string, id: string): Promise<VmDetails | undefined> => {
  const lock = tx.run(sql`select 1 from vms where id = ${id} and account_id = ${accountId} for update`)
  const [, vm] = await Promise.all([lock, findVm(tx, accountId, id)])
  return vm
}

/** In a fixed order, so that concurrent requests for the same VMs do not deadlock. */
export type VmSelection = { ids: string[] } | { labelSelector: string }

export const lockSelectedVms = (tx: Tx, accountId: string, selection: VmSelection, limit: number) =>
  tx.many<Pick<VmRow, 'id' | 'name'>>(sql`
    select id, name from vms where account_id = ${accountId}
      ${'ids' in selection ? sql`and id = any(${selection.ids}::text[])` : selectedBy(sql`labels`, selection.labelSelector)}
    order by id limit ${limit} for update`)

/** Locks the VM's row before reading it, so that the values stay valid until the transaction ends. */
export const lockVmById = async (tx: Tx, id: string): Promise<VmDetails | undefined> => {
  // Pipelined in order: the second statement reads the row under the lock.
  const [, vm] = await Promise.all([tx.run(sql`select 1 from vms where id = ${id} for update`), vmById(tx, id)])
  return vm
}

export interface StatusChange {
  status: VmStatus
  reason?: string | null
  readiness?: 'booting' | 'reachable'
  desiredRunning?: boolean
}

/** Also clears the power state that the power reconciler observed under the old status. */
export const setStatus = (tx: Tx, now: Date, id: string, { status, reason = null, readiness, desiredRunning }: StatusChange) =>
  tx.run(sql`
    update vms set status = ${status}, status_reason = ${reason}, readiness = coalesce(${readiness ?? null}, readiness),
      desired_running = coalesce(${desiredRunning ?? null}, desired_running), observed_power = null, observed_at = null, updated_at = ${now}
    where id = ${id}`)

export const markProvisioned = (tx: Tx, now: Date, id: string, generation: number) =>
  tx.run(sql`update vms set provisioned = true, generation = ${generation}, updated_at = ${now} where id = ${id}`)

/** From now on as one that never came up: a rebuild makes it anew. */
export const markLost = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update vms set provisioned = false, lost_at = ${now} where id = ${id}`)

/** A generation number that no disk of this VM has used. */
export const nextGeneration = async (tx: Tx, id: string): Promise<number> =>
  (
    await tx.one<{ last_generation: number }>(
      sql`update vms set last_generation = last_generation + 1 where id = ${id} returning last_generation`,
    )
  ).last_generation

export const setTemplate = (tx: Tx, id: string, templateId: string) =>
  tx.run(sql`update vms set os_template_id = ${templateId} where id = ${id}`)

export interface VmSize {
  planId: string | null
  vcpu: number
  ramMiB: number
  diskGiB: number
  bandwidthGb: number
  networkMbps: number
  throttleMbps: number
  diskIops: number | null
  diskMiBPerSecond: number | null
  customPriceCents: bigint | null
  periodPriceCents: bigint
  /** Of `bandwidthGb`, what is not part of this period. */
  bandwidthWithheldBytes: bigint
}

export const setShape = (tx: Tx, now: Date, id: string, shape: VmSize) =>
  tx.run(sql`
    update vms set plan_id = ${shape.planId}, vcpu = ${shape.vcpu}, ram_mib = ${shape.ramMiB}, disk_gib = ${shape.diskGiB},
      bandwidth_gb = ${shape.bandwidthGb}, network_mbps = ${shape.networkMbps}, throttle_mbps = ${shape.throttleMbps},
      disk_iops = ${shape.diskIops}, disk_mib_per_second = ${shape.diskMiBPerSecond},
      custom_price_cents = ${shape.customPriceCents}, period_price_cents = ${shape.periodPriceCents},
      bandwidth_withheld_bytes = ${shape.bandwidthWithheldBytes}, updated_at = ${now}
    where id = ${id}`)

export type VmTraffic = Pick<VmSize, 'bandwidthGb' | 'bandwidthWithheldBytes' | 'networkMbps' | 'throttleMbps'>

export const setTraffic = (tx: Tx, now: Date, id: string, traffic: VmTraffic) =>
  tx.run(sql`
    update vms set bandwidth_gb = ${traffic.bandwidthGb}, bandwidth_withheld_bytes = ${traffic.bandwidthWithheldBytes},
      network_mbps = ${traffic.networkMbps}, throttle_mbps = ${traffic.throttleMbps}, updated_at = ${now}
    where id = ${id}`)

/** What the machine itself is like. */
export type MachineSize = Pick<VmSize, 'vcpu' | 'ramMiB' | 'diskGiB' | 'diskIops' | 'diskMiBPerSecond'>

export const setMachineSize = (tx: Tx, now: Date, id: string, size: MachineSize) =>
  tx.run(sql`
    update vms set vcpu = ${size.vcpu}, ram_mib = ${size.ramMiB}, disk_gib = ${size.diskGiB}, disk_iops = ${size.diskIops},
      disk_mib_per_second = ${size.diskMiBPerSecond}, updated_at = ${now}
    where id = ${id}`)

/** Of a machine that was started or has grown, as its host says. */
export const setRoom = (db: Queries, id: string, room: ComputeSize | null) =>
  db.run(sql`
    update vms set room_vcpu = ${room?.vcpu ?? null}, room_ram_mib = ${room?.ramMiB ?? null}
    where id = ${id} and (room_vcpu, room_ram_mib) is distinct from (${room?.vcpu ?? null}::int, ${room?.ramMiB ?? null}::int)`)

/** Null: it does not grow while it runs. */
export async function findRoom(db: Queries, id: string): Promise<ComputeSize | null> {
  const row = await db.maybe<Pick<Row<'vms'>, 'room_vcpu' | 'room_ram_mib'>>(sql`select room_vcpu, room_ram_mib from vms where id = ${id}`)
  return row?.room_vcpu && row.room_ram_mib ? { vcpu: row.room_vcpu, ramMiB: row.room_ram_mib } : null
}

export const updateVm = (
  tx: Tx,
  now: Date,
  vm: Pick<VmRow, 'id' | 'name' | 'labels' | 'is_protected' | 'daily_backup' | 'network_10g' | 'period_price_cents'> & PaidAddOns,
) =>
  tx.run(sql`
    update vms set name = ${vm.name}, labels = ${json(vm.labels)}, is_protected = ${vm.is_protected}, daily_backup = ${vm.daily_backup}, network_10g = ${vm.network_10g},
      daily_backup_paid_until = ${vm.daily_backup_paid_until}, network_10g_paid_until = ${vm.network_10g_paid_until},
      period_price_cents = ${vm.period_price_cents}, updated_at = ${now}
    where id = ${vm.id}`)

/** Open ones of the account, and of all with the same payer. */
export const countRunsOfPayer = (tx: Tx, accountId: string, names: string[]): Promise<number> =>
  countOpenRuns(tx, payingTogether(sql`${accountId}`), names)

/** Requests of a payer at the same time count each other. */
export const queueForPlace = (tx: Tx, accountId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('places ' || ${payerOf(sql`${accountId}::text`)}, 0))`)

/** The ledger goes on naming it. */
export async function deleteVm(tx: Tx, now: Date, id: string): Promise<void> {
  await tx.run(sql`
    with gone as (delete from vms where id = ${id} returning id, account_id, name, labels)
    insert into deleted_resources (id, account_id, type, name, labels) select id, account_id, 'VM', name, labels from gone on conflict do nothing`)
  await recordAddressesOfVm(tx, now, id)
}

export const countEvent = (tx: Tx, id: string) => tx.run(sql`update vms set event_sequence = event_sequence + 1 where id = ${id}`)

/** See `DESPITE_SUSPENSION` for what a VM with a pending hold accepts. */
export const setPendingHold = (tx: Tx, id: string, hold: VmRow['pending_hold']) =>
  tx.run(sql`update vms set pending_hold = ${hold} where id = ${id}`)

/** Keeps the first `suspended_at` when a suspended VM was started on its host and is stopped again. */
export const markSuspended = (tx: Tx, now: Date, id: string, unpaid: boolean) =>
  tx.run(sql`
    update vms set suspended_at = coalesce(suspended_at, ${now}), billing_status = case when ${unpaid} then 'SUSPENDED' else billing_status end,
      pending_hold = case when pending_hold = 'UNMANAGE' then pending_hold end
    where id = ${id}`)

/** With those of its projects. */
export const vmIdsOfAccount = async (db: Queries, accountId: string): Promise<string[]> =>
  (await db.many<{ id: string }>(sql`select id from vms where account_id in ${withProjects(sql`${accountId}`)} order by id`)).map(
    ({ id }) => id,
  )

/** For operators: VMs of all accounts. */
export const listAllVms = (db: Queries, accountId: string | null) =>
  db.many<VmDetails & { email: string; host_name: string | null }>(sql`
    select ${allColumns('vm_details', 'd')}, host(d.ip_address) as ip_address, a.suspended_at is not null as account_suspended, ${isInRescue(sql`d.id`)} as in_rescue, ${hasIso(sql`d.id`)} as has_iso, ${contactOf(sql`a`)} as email, h.name as host_name
    from vm_details d join accounts a on a.id = d.account_id left join hosts h on h.id = d.host_id
    where ${accountId}::text is null or a.id = ${accountId} order by d.id`)
