// A VM as its owner sees it.
import { type Queries, sql } from '../../../kernel/database/db.ts'
import { notFound } from '../../../kernel/errors.ts'
import { openRunAsJson } from '../../../workflow/run-store.ts'
import { isSuspended } from '../../accounts/service.ts'
import { firewallsAsJson } from '../../firewalls/service.ts'
import { networksAsJson } from '../../networks/service.ts'
import { groupAsJson } from '../../placement-groups/service.ts'
import { reverseNameAsJson } from '../../reverse-names/service.ts'
import { keysAsJson } from '../../ssh-keys/service.ts'
import type { Vm } from '../schema.ts'
import { backupPolicyAsJson, nextBackupOf } from './backup-policy.ts'
import { isoAsJson } from './iso.ts'
import { rescueAsJson } from './rescue.ts'
import type { VmDetailRow } from './sql.ts'
import { initializationAsJson } from './user-data.ts'
import { toVm } from './view.ts'

export const getVm = async (db: Queries, accountId: string, id: string): Promise<Vm> => toVm(await getVmDetail(db, accountId, id))

export const listColumns = sql`
  d.id, d.name, d.hostname, d.status, d.vcpu, d.ram_mib, d.disk_gib, d.storage, d.dedicated_cpu, d.bandwidth_gb, d.network_mbps, d.network_10g, d.daily_backup,
  d.is_protected, d.public_ipv4, host(d.ip_address) as ip_address, d.ipv6_address, d.ipv6_prefix, d.region_slug, d.region_name, d.plan_slug, d.plan_name, d.plan_price_cents,
  d.template_slug, d.template_name, d.template_version, d.template_arch, d.next_renewal_at, d.billing_status, d.renewal_price_cents, d.created_at, d.labels, d.shelved_at, d.host_unreachable_since`

const id = sql`d.id`
const detailColumns = sql`
  ${listColumns}, d.account_id, d.copies_price_cents, d.bandwidth_used_bytes, d.bandwidth_pack_bytes, d.readiness, d.status_reason, d.host_fenced_at, d.provisioned,
  d.event_sequence, d.updated_at, d.pending_hold, ${isSuspended(sql`d.account_id`)} as account_suspended,
  ${keysAsJson(id)} as ssh_keys, ${firewallsAsJson(id)} as firewalls, ${networksAsJson(id)} as networks, ${groupAsJson(id)} as placement_group, ${openRunAsJson(id)} as open_run,
  ${backupPolicyAsJson(id)} as backup_policy, ${nextBackupOf(id)} as next_backup_at, ${initializationAsJson(id)} as initialization, ${rescueAsJson(id)} as rescue, ${isoAsJson(id)} as iso,
  ${reverseNameAsJson(sql`d.ip_address`, sql`d.account_id`)} as reverse, ${reverseNameAsJson(sql`d.ipv6_address`, sql`d.account_id`)} as ipv6_reverse`

export async function getVmDetail(db: Queries, accountId: string, vmId: string): Promise<VmDetailRow> {
  const row = await db.maybe<VmDetailRow>(
    sql`select ${detailColumns} from vm_details d where d.id = ${vmId} and d.account_id = ${accountId}`,
  )
  if (!row) throw notFound('VM')
  return row
}
