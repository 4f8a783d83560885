// Rows of VMs as statements return them.
import type { OpenRun } from '../../../workflow/run-store.ts'
import type { ReverseName } from '../../reverse-names/service.ts'
import type { Row } from '../../../schema/rows.gen.ts'
import type { Initialization } from '../../actions/schema.ts'
import type { BackupPolicy } from '../schema.ts'
import type { IsoShown } from './iso.ts'
import type { RescueShown } from './rescue.ts'

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
  in_rescue: boolean
  has_iso: boolean
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
  | 'template_arch'
  | 'next_renewal_at'
  | 'billing_status'
  | 'renewal_price_cents'
  | 'created_at'
  | 'labels'
  | 'shelved_at'
  | 'host_unreachable_since'
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
      | 'host_fenced_at'
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
  rescue: RescueShown | null
  iso: IsoShown | null
  reverse: ReverseName | null
  ipv6_reverse: ReverseName | null
  /** Null for the default. */
  backup_policy: BackupPolicy | null
  next_backup_at: Date | null
  initialization: Initialization | null
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
