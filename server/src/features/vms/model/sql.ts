import type { ComputeSize } from '../../../hypervisor/driver.ts'
import { sql, type NotNull, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import { isOpen, type OpenRun } from '../../../workflow/run-store.ts'
import { allColumns } from '../../../schema/columns.ts'
import type { ReverseName } from '../../reverse-names/service.ts'
import type { Row } from '../../../schema/rows.gen.ts'
import { isSuspended } from '../../accounts/service.ts'
import type { BackupPolicy, VmStatus } from '../schema.ts'

/** `lost_at` is for the invariants of money alone, the room of its machine for those who change its size. */
export type VmRow = Omit<Row<'vms'>, 'lost_at' | 'room_vcpu' | 'room_ram_mib'>

/** A row of the view `vm_details`, with the state of its account. */
export interface VmDetails extends Row<'vm_details'> {
  plan_name: string
  // Never null: a constraint of `vms` requires a plan or a custom price.
  plan_price_cents: bigint
  renewal_price_cents: bigint
  copies_price_cents: bigint
  account_suspended: boolean
}

/** The columns of a list; reading all columns takes more than twice as long. */
export type VmListRow = Pick<
  VmDetails,
  | 'id'
  | 'name'
  | 'hostname'
  | 'status'
  | 'vcpu'
  | 'ram_mib'
  | 'disk_gib'
  | 'storage'
  | 'dedicated_cpu'
  | 'bandwidth_gb'
  | 'network_mbps'
  | 'network_10g'
  | 'daily_backup'
  | 'is_protected'
  | 'public_ipv4'
  | 'ip_address'
  | 'ipv6_address'
  | 'ipv6_prefix'
  | 'region_slug'
  | 'region_name'
  | 'plan_slug'
  | 'plan_name'
  | 'plan_price_cents'
  | 'template_slug'
  | 'template_name'
  | 'template_version'
  | 'next_renewal_at'
  | 'billing_status'
  | 'renewal_price_cents'
  | 'created_at'
  | 'shelved_at'
>

interface Named {
  id: string
  name: string
}

/** The detail form of a VM with its related resources. */
export interface VmDetailRow
  extends
    VmListRow,
    Pick<
      VmDetails,
      | 'account_id'
      | 'copies_price_cents'
      | 'bandwidth_used_bytes'
      | 'bandwidth_pack_bytes'
      | 'readiness'
      | 'status_reason'
      | 'provisioned'
      | 'event_sequence'
      | 'updated_at'
      | 'account_suspended'
      | 'pending_hold'
    > {
  ssh_keys: (Named & { fingerprint: string })[]
  firewalls: Named[]
  placement_group: Named | null
  networks: (Named & { address: string })[]
  open_run: OpenRun | null
  reverse: ReverseName | null
  ipv6_reverse: ReverseName | null
  /** Null for the default. */
  backup_policy: BackupPolicy | null
}

export type NewVm = Omit<
  VmRow,
  | 'generation'
  | 'last_generation'
  | 'network_10g_paid_until'
  | 'daily_backup_paid_until'
  | 'status'
  | 'status_reason'
  | 'readiness'
  | 'desired_running'
  | 'provisioned'
  | 'billing_status'
  | 'past_due_at'
  | 'suspended_at'
  | 'pending_hold'
  | 'bandwidth_withheld_bytes'
  | 'bandwidth_pack_bytes'
  | 'throttled_at'
  | 'observed_power'
  | 'observed_at'
  | 'event_sequence'
  | 'updated_at'
  | 'shelved_at'
  | 'shelved_credit_cents'
  | 'shelved_price_cents'
>

const paidUntil = (addOn: boolean, vm: Pick<VmRow, 'next_renewal_at'>): Date | null => (addOn ? vm.next_renewal_at : null)

export const insertVm = (tx: Tx, vm: NewVm) =>
  tx.run(sql`
    insert into vms (id, account_id, region_id, host_id, plan_id, os_template_id, uuid, name, hostname, status, vcpu, ram_mib, disk_gib, storage, storage_id,
      bandwidth_gb, network_mbps, throttle_mbps, disk_iops, disk_mib_per_second, dedicated_cpu, custom_price_cents, network_10g, daily_backup, daily_backup_paid_until, network_10g_paid_until,
      is_protected, public_ipv4, ip_address, address_pool_id, ipv6_address, ipv6_prefix, ipv6_pool_id, mac, renewal_day, period_started_at, period_price_cents, next_renewal_at, created_at, updated_at)
    values (${vm.id}, ${vm.account_id}, ${vm.region_id}, ${vm.host_id}, ${vm.plan_id}, ${vm.os_template_id}, ${vm.uuid}, ${vm.name},
      ${vm.hostname}, 'PROVISIONING', ${vm.vcpu}, ${vm.ram_mib}, ${vm.disk_gib}, ${vm.storage}, ${vm.storage_id}, ${vm.bandwidth_gb}, ${vm.network_mbps}, ${vm.throttle_mbps},
      ${vm.disk_iops}, ${vm.disk_mib_per_second}, ${vm.dedicated_cpu},
      ${vm.custom_price_cents}, ${vm.network_10g}, ${vm.daily_backup}, ${paidUntil(vm.daily_backup, vm)}, ${paidUntil(vm.network_10g, vm)},
      ${vm.is_protected}, ${vm.public_ipv4}, ${vm.ip_address}, ${vm.address_pool_id}, ${vm.ipv6_address}, ${vm.ipv6_prefix}, ${vm.ipv6_pool_id}, ${vm.mac}, ${vm.renewal_day}, ${vm.period_started_at}, ${vm.period_price_cents}, ${vm.next_renewal_at}, ${vm.created_at}, ${vm.created_at})`)

const details = sql`
  select ${allColumns('vm_details', 'd')}, host(d.ip_address) as ip_address, ${isSuspended(sql`d.account_id`)} as account_suspended from vm_details d`

export const findVm = (db: Queries, accountId: string, id: string) =>
  db.maybe<VmDetails>(sql`${details} where d.id = ${id} and d.account_id = ${accountId}`)

export const vmById = (db: Queries, id: string) => db.maybe<VmDetails>(sql`${details} where d.id = ${id}`)

export const vmsById = (db: Queries, ids: readonly string[]) => db.many<VmDetails>(sql`${details} where d.id = any(${ids}::text[])`)

/** Of the row of `vms` with this alias; a VM has every address of a prefix of its own. */
export const hasPublicAddress = (vm: Sql, address: string | null): Sql =>
  sql`(${vm}.ip_address = ${address}::inet or ${vm}.ipv6_address = ${address}::inet or ${vm}.ipv6_prefix >>= ${address}::inet)`

/** The account's VMs that have the address, as their public one or in a private network. */
export const holdersOf = (db: Queries, accountId: string, address: string) =>
  db.many<{ vm_id: string; network_id: string | null; network_name: string | null }>(sql`
    select id as vm_id, null as network_id, null as network_name from vms
    where account_id = ${accountId} and ${hasPublicAddress(sql`vms`, address)}
    union all select vm_id, null, null from addresses where account_id = ${accountId} and address = ${address}::inet and vm_id is not null
    union all select a.vm_id, a.network_id, n.name from network_attachments a join networks n on n.id = a.network_id
    where a.account_id = ${accountId} and a.address = ${address}::inet`)

/** Locks nothing of another account, whose transactions would wait. */
export const lockVm = async (tx: Tx, accountId: string, id: string): Promise<VmDetails | undefined> => {
  const lock = tx.run(sql`select 1 from vms where id = ${id} and account_id = ${accountId} for update`)
  const [, vm] = await Promise.all([lock, findVm(tx, accountId, id)])
  return vm
}

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

export const clearPlacement = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`
    update vms set host_id = null, storage_id = null, ip_address = null, address_pool_id = null, ipv6_address = null, ipv6_prefix = null, ipv6_pool_id = null, mac = null,
      billing_status = 'CANCELLED', updated_at = ${now}
    where id = ${id}`)

type PlaceColumns = Pick<
  VmRow,
  'host_id' | 'storage_id' | 'ip_address' | 'address_pool_id' | 'mac' | 'ipv6_address' | 'ipv6_prefix' | 'ipv6_pool_id'
>

const placeColumns = (place: PlaceColumns): Sql => sql`
  host_id = ${place.host_id}, storage_id = ${place.storage_id ?? null}, ip_address = ${place.ip_address}, address_pool_id = ${place.address_pool_id}, mac = ${place.mac},
  ipv6_address = ${place.ipv6_address ?? null}, ipv6_prefix = ${place.ipv6_prefix ?? null}, ipv6_pool_id = ${place.ipv6_pool_id ?? null}`

export const assignPlacement = (
  tx: Tx,
  now: Date,
  id: string,
  place: PlaceColumns & Pick<VmRow, 'next_renewal_at' | 'period_price_cents'>,
) =>
  tx.run(sql`
    update vms set ${placeColumns(place)},
      generation = last_generation + 1, last_generation = last_generation + 1,
      billing_status = 'ACTIVE', throttled_at = null,
      renewal_day = extract(day from ${now}::timestamptz at time zone 'UTC'), period_started_at = ${now},
      period_price_cents = ${place.period_price_cents}, next_renewal_at = ${place.next_renewal_at}, updated_at = ${now},
      daily_backup_paid_until = case when daily_backup then ${place.next_renewal_at}::timestamptz end,
      network_10g_paid_until = case when network_10g then ${place.next_renewal_at}::timestamptz end
    where id = ${id}`)

/** Does not start a new billing period: an evacuated VM is already paid. */
export const setPlacement = (tx: Tx, now: Date, id: string, place: PlaceColumns) =>
  tx.run(sql`update vms set ${placeColumns(place)}, updated_at = ${now} where id = ${id}`)

/** Of a VM that keeps its addresses. */
export const setHost = (tx: Tx, now: Date, id: string, hostId: string) =>
  tx.run(sql`update vms set host_id = ${hostId}, updated_at = ${now} where id = ${id}`)

export interface ShelfTerms {
  creditCents: bigint
  /** Of the period before it was shelved. */
  priceCents: bigint
  periodPriceCents: bigint
}

/** It leaves its host and keeps its addresses, and a disk in a storage backend. */
export const markShelved = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update vms set host_id = null, shelved_at = ${now}, updated_at = ${now} where id = ${id}`)

export const setShelfTerms = (tx: Tx, id: string, { creditCents, priceCents, periodPriceCents }: ShelfTerms) =>
  tx.run(sql`
    update vms set shelved_credit_cents = ${creditCents}, shelved_price_cents = ${priceCents}, period_price_cents = ${periodPriceCents}
    where id = ${id}`)

export interface OffShelf {
  hostId: string | null
  generation: number
  periodPriceCents: bigint
  bandwidthWithheldBytes: bigint
}

/** Of one that is being unshelved, or stays shelved after that has failed. */
export const setOffShelf = (tx: Tx, now: Date, id: string, { hostId, generation, periodPriceCents, bandwidthWithheldBytes }: OffShelf) =>
  tx.run(sql`
    update vms set host_id = ${hostId}, generation = ${generation}, period_price_cents = ${periodPriceCents},
      bandwidth_withheld_bytes = ${bandwidthWithheldBytes}, updated_at = ${now}
    where id = ${id}`)

/** Hosts that serve its addresses, and on which nothing of it is about to be removed. */
export const hostsForShelved = async (db: Queries, vm: WithAddresses): Promise<Set<string>> =>
  new Set(
    (
      await db.many<{ id: string }>(sql`
        select h.id from hosts h where ${serves(vm)} and not exists (select from stale_machines l where l.host_id = h.id and l.vm_id = ${vm.id})`)
    ).map(({ id }) => id),
  )

type WithAddresses = Pick<VmRow, 'id' | 'region_id' | 'address_pool_id' | 'ipv6_pool_id'>

const serves = (vm: WithAddresses): Sql => sql`
  h.region_id = ${vm.region_id} and h.removed_at is null
  and not exists (select from address_pools p where p.id in (${vm.address_pool_id}, ${vm.ipv6_pool_id}) and p.host_id <> h.id)`

/** By a host that may not be ready for the VM. */
export const isServed = async (db: Queries, vm: WithAddresses): Promise<boolean> =>
  (await db.maybe(sql`select from hosts h where ${serves(vm)} limit 1`)) !== undefined

/** The machine on that host is to have them. A VM with volumes on its host is not shelved. */
export const takeVolumesTo = (tx: Tx, now: Date, vmId: string, hostId: string) =>
  tx.run(sql`update volumes set vm_host_id = ${hostId}, updated_at = ${now} where vm_id = ${vmId}`)

export const markUnshelved = (tx: Tx, id: string) =>
  tx.run(sql`update vms set shelved_at = null, shelved_credit_cents = null, shelved_price_cents = null where id = ${id}`)

/** Copies of the VM that are files on its host, and volumes of the account that are. */
export const countLocalFiles = (db: Queries, id: string) =>
  db.one<{ snapshots: number; volumes: string[] }>(sql`
    select (select count(*)::int from snapshots where vm_id = ${id} and storage_id is null and status <> 'FAILED') as snapshots,
      array(select name from volumes where vm_id = ${id} and storage_id is null order by name) as volumes`)

const isStoredOnHost = sql`host_id is not null and status not in ('DELETING', 'FAILED')`

/** Hosts that store backups of the VM, as far as those are on hosts. */
export const hostsWithBackups = async (db: Queries, id: string): Promise<Set<string>> =>
  new Set(
    (await db.many<{ host_id: NotNull<string> }>(sql`select distinct host_id from backups where vm_id = ${id} and ${isStoredOnHost}`)).map(
      ({ host_id }) => host_id,
    ),
  )

const isMove = sql`r.name in ('vm.migrate', 'vm.resize_elsewhere')`

/** Where the VM is being migrated to. */
export const findDestination = async (db: Queries, id: string): Promise<string | undefined> =>
  (
    await db.maybe<{ host_id: string }>(sql`
      select h.id as host_id from workflow_runs r join hosts h on h.id = r.input ->> 'destinationId'
      where r.subject_id = ${id} and ${isMove} and ${isOpen} order by r.id desc limit 1`)
  )?.host_id

/** Where VMs are being migrated to while they run. */
export const findDestinations = (db: Queries, ids: string[]) =>
  db.many<{ vm_id: string; hostname: string }>(sql`
    select v.id as vm_id, h.hostname from workflow_runs r join vms v on v.id = r.subject_id join hosts h on h.id = r.input ->> 'destinationId'
    where r.subject_id = any(${ids}::text[]) and ${isMove} and ${isOpen} and r.input @> '{"isOn": true}' and v.host_id <> h.id`)

export const setIpv6 = (
  tx: Tx,
  id: string,
  { ipv6_address, ipv6_prefix, ipv6_pool_id }: Pick<PlaceColumns, 'ipv6_address' | 'ipv6_prefix' | 'ipv6_pool_id'>,
) =>
  tx.run(sql`update vms set ipv6_address = ${ipv6_address}, ipv6_prefix = ${ipv6_prefix}, ipv6_pool_id = ${ipv6_pool_id} where id = ${id}`)

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

/** What the machine itself is like. */
export type MachineSize = Pick<VmSize, 'vcpu' | 'ramMiB' | 'diskGiB' | 'diskIops' | 'diskMiBPerSecond'>

export const setMachineSize = (tx: Tx, now: Date, id: string, size: MachineSize) =>
  tx.run(sql`
    update vms set vcpu = ${size.vcpu}, ram_mib = ${size.ramMiB}, disk_gib = ${size.diskGiB}, disk_iops = ${size.diskIops},
      disk_mib_per_second = ${size.diskMiBPerSecond}, updated_at = ${now}
    where id = ${id}`)

/** Of a machine that was started, as its host says. */
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
  vm: Pick<VmRow, 'id' | 'name' | 'is_protected' | 'daily_backup' | 'network_10g' | 'period_price_cents'> & PaidAddOns,
) =>
  tx.run(sql`
    update vms set name = ${vm.name}, is_protected = ${vm.is_protected}, daily_backup = ${vm.daily_backup}, network_10g = ${vm.network_10g},
      daily_backup_paid_until = ${vm.daily_backup_paid_until}, network_10g_paid_until = ${vm.network_10g_paid_until},
      period_price_cents = ${vm.period_price_cents}, updated_at = ${now}
    where id = ${vm.id}`)

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

export const deleteVm = (tx: Tx, id: string) => tx.run(sql`delete from vms where id = ${id}`)

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

/** After an unbilled time: an expired period renews from now, without charging for the time in between. */
export const resumeBilling = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`
    update vms set suspended_at = null, past_due_at = null, billing_status = 'ACTIVE', next_renewal_at = greatest(next_renewal_at, ${now}),
      renewal_day = case when next_renewal_at < ${now} then extract(day from ${now}::timestamptz at time zone 'UTC') else renewal_day end
    where id = ${id}`)

/** Restarts the retention of an unpaid VM. */
export const restartRetention = (tx: Tx, now: Date, id: string) => tx.run(sql`update vms set suspended_at = ${now} where id = ${id}`)

export const vmIdsOfAccount = async (db: Queries, accountId: string): Promise<string[]> =>
  (await db.many<{ id: string }>(sql`select id from vms where account_id = ${accountId} order by id`)).map(({ id }) => id)

/** For operators: VMs of all accounts. */
export const listAllVms = (db: Queries, accountId: string | null) =>
  db.many<VmDetails & { email: string; host_name: string | null }>(sql`
    select ${allColumns('vm_details', 'd')}, host(d.ip_address) as ip_address, a.suspended_at is not null as account_suspended, a.email, h.name as host_name
    from vm_details d join accounts a on a.id = d.account_id left join hosts h on h.id = d.host_id
    where ${accountId}::text is null or a.id = ${accountId} order by d.id`)
