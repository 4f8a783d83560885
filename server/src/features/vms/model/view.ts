import { formatCents } from '../../../kernel/money.ts'
import { toIpv6ReverseFields, toReverseFields } from '../../reverse-names/service.ts'
import { allowedActions, isPreemptible } from './allowed-actions.ts'
import { DEFAULT_BACKUP_POLICY } from './backup-policy.ts'
import type { Vm, VmListItem } from '../schema.ts'
import type { VmListRow, VmDetailRow } from './sql.ts'

export const toVmListItem = (row: VmListRow): VmListItem => ({
  id: row.id,
  name: row.name,
  hostname: row.hostname,
  status: row.status,
  vcpu: row.vcpu,
  ram: row.ram_mib,
  disk: row.disk_gib,
  storage: row.storage,
  dedicatedCpu: row.dedicated_cpu,
  bandwidth: row.bandwidth_gb,
  networkSpeed: row.network_10g ? 10_000 : row.network_mbps,
  network10gEnabled: row.network_10g,
  dailyBackupEnabled: row.daily_backup,
  isProtected: row.is_protected,
  publicIpv4: row.public_ipv4,
  ipAddress: row.ip_address,
  ipv6Address: row.ipv6_address,
  ipv6Prefix: row.ipv6_prefix,
  region: { slug: row.region_slug, name: row.region_name },
  plan: { slug: row.plan_slug, name: row.plan_name, priceMonthly: formatCents(row.plan_price_cents) },
  osTemplate: { slug: row.template_slug, name: row.template_name, version: row.template_version, arch: row.template_arch },
  billing: {
    nextRenewalAt: row.next_renewal_at.toISOString(),
    status: row.billing_status,
    priceMonthly: formatCents(row.renewal_price_cents),
  },
  createdAt: row.created_at.toISOString(),
  labels: row.labels,
  shelvedAt: row.shelved_at?.toISOString() ?? null,
  hostUnreachableSince: row.host_unreachable_since?.toISOString() ?? null,
})

export const toVm = (row: VmDetailRow): Vm => ({
  ...toVmListItem(row),
  networkLimited: true,
  ...toReverseFields(row.reverse),
  ...toIpv6ReverseFields(row.ipv6_reverse),
  backupPolicy: row.backup_policy ?? DEFAULT_BACKUP_POLICY,
  nextBackupAt: row.next_backup_at?.toISOString() ?? null,
  copiesPriceMonthly: formatCents(row.copies_price_cents),
  bandwidthUsedBytes: Number(row.bandwidth_used_bytes),
  bandwidthPackBytes: row.bandwidth_pack_bytes.toString(),
  sshKeys: row.ssh_keys.map(({ id, name, fingerprint }) => ({ id, name, fingerprint })),
  firewalls: row.firewalls.map(({ id, name }) => ({ id, name })),
  placementGroup: row.placement_group && { id: row.placement_group.id, name: row.placement_group.name },
  privateNetworks: row.networks.map(({ id, name, address }) => ({ id, name, ipAddress: address })),
  updatedAt: row.updated_at.toISOString(),
  currentAction: row.open_run && toCurrentAction(row.open_run),
  allowedActions:
    row.open_run && !isPreemptible(row.open_run)
      ? []
      : allowedActions({ ...row, in_rescue: row.rescue !== null, has_iso: row.iso !== null }),
  readiness: row.readiness,
  statusReason: statusReasonOf(row),
  initialization: row.initialization,
  rescue: row.rescue && {
    since: new Date(row.rescue.since).toISOString(),
    endsAt: new Date(row.rescue.ends_at).toISOString(),
    user: row.rescue.user,
  },
  iso: row.iso && {
    imageId: row.iso.image_id,
    name: row.iso.name,
    since: new Date(row.iso.since).toISOString(),
    active: row.iso.active,
  },
})

/** What is said of one that is in `ERROR`, or held back, says already what comes next. */
const SAYS_ITSELF = new Set<Vm['status']>(['ERROR', 'SUSPENDED', 'UNMANAGED'])

/** Of a host that does not answer nobody knows what runs there. */
function statusReasonOf(row: Pick<VmDetailRow, 'status' | 'status_reason' | 'host_unreachable_since' | 'host_fenced_at'>): string | null {
  if (SAYS_ITSELF.has(row.status)) return row.status_reason
  if (row.host_unreachable_since)
    return `Its host has not answered since ${row.host_unreachable_since.toISOString()}: whether the VM runs is not known until the host answers, or the VM is started on another`
  return row.host_fenced_at
    ? 'Its host failed, has returned, and is being put back into service: the VM starts in a few minutes if it ran'
    : row.status_reason
}

const toCurrentAction = ({ id, label, status, progress }: NonNullable<VmDetailRow['open_run']>): Vm['currentAction'] => ({
  id,
  action: label,
  status,
  progress,
})
