import { lastAddress, parseCidr } from '../../kernel/cidr.ts'
import { formatCents } from '../../kernel/money.ts'
import type { StepRow } from '../../workflow/run-store.ts'
import type { QuotaRow } from '../accounts/service.ts'
import { removedAfter, type OrphanVolumeRow } from '../backups/service.ts'
import type { TemplateRow } from '../catalog/service.ts'
import type { TemplateImportRow } from '../images/service.ts'
import {
  type CertificateRow,
  type ChassisRow,
  endOf,
  enrollmentStateOf,
  toCapacity,
  type HostRow,
  type ListedEnrollment,
  type ListedPool,
} from '../hosts/service.ts'
import type { WaitingRecovery as WaitingRecoveryRow } from '../recovery/service.ts'
import type { VisitRow } from '../sessions/service.ts'
import type { ListedUser } from '../users/service.ts'
import type { AccountDetails, OperatorAccount, OperatorVm, Visit } from './customers.schema.ts'
import type { HostEnrollment } from './enrollments.schema.ts'
import type { OperatorHost, OperatorHostDetails, OperatorTemplate, Pool, WaitingRecovery } from './fleet.schema.ts'
import type { TemplateImport } from './templates.schema.ts'
import type { OperatorAction, Stray } from './work.schema.ts'
import type { StorageBackendRow } from '../storage/service.ts'
import type { AccountRow, ActionRow, HostPorts, VmRow } from './sql.ts'

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

function stateOf(row: HostRow, isLost: boolean): OperatorHost['state'] {
  if (row.lost_at) return 'destroyed'
  if (row.fenced_at) return 'fenced'
  if (row.unreachable_since) return isLost ? 'lost' : 'unreachable'
  if (row.maintenance) return 'maintenance'
  return row.last_seen_at ? 'ready' : 'unseen'
}

export const toHost = (
  row: HostRow & { region_slug: string },
  { vmCount, pins, draining, isLost }: { vmCount: number; pins: number; draining: boolean; isLost: boolean },
): OperatorHost => ({
  id: row.id,
  name: row.name,
  region: row.region_slug,
  driver: row.driver,
  uri: row.uri,
  arch: row.arch,
  acceleration: row.acceleration,
  guestTypes: row.guest_types,
  ...toCapacity(row),
  overcommit: row.vcpu_overcommit,
  ramOvercommit: row.ram_overcommit,
  traits: row.all_traits,
  dedicatedCpus: { used: pins, total: row.dedicated_cpus.length },
  diskReserve: row.disk_reserve_percent,
  vmCount,
  maintenance: row.maintenance,
  draining,
  state: stateOf(row, isLost),
  unreachableSince: iso(row.unreachable_since),
  lastSeenAt: iso(row.last_seen_at),
  createdAt: row.created_at.toISOString(),
})

interface HostParts {
  backends: StorageBackendRow[]
  ports: HostPorts
  certificates: CertificateRow[]
  chassis: ChassisRow[]
}

export const toHostDetails = (
  host: OperatorHost,
  row: HostRow,
  { backends, ports, certificates, chassis }: HostParts,
): OperatorHostDetails => ({
  ...host,
  hostname: row.hostname,
  uplinkMbps: row.uplink_mbps,
  cpuNodes: row.cpu_nodes && new Set(row.cpu_nodes).size,
  reachableSince: iso(row.reachable_since),
  hasPowerControl: row.power_url !== null,
  diskFreeGiB: row.disk_free_gib,
  storages: [
    {
      name: row.name,
      kind: 'LOCAL',
      totalGiB: row.disk_total_gib,
      soldGiB: row.disk_used_gib,
      freeGiB: row.disk_free_gib,
      isReachable: row.unreachable_since === null,
    },
    ...backends.map((each) => ({
      name: each.name,
      kind: each.kind,
      totalGiB: each.capacity_gib,
      soldGiB: each.used_gib,
      freeGiB: each.free_gib,
      isReachable: each.unreachable_since === null,
    })),
  ],
  ports,
  certificates: certificates.map(({ kind, subject, issuer, expires_at, seen_at }) => ({
    kind,
    subject,
    issuer,
    expiresAt: expires_at.toISOString(),
    seenAt: seen_at.toISOString(),
  })),
  chassis: chassis.map(({ name, encaps, ports: bound, confirmed_at, seen_at }) => ({
    name,
    encaps,
    ports: bound,
    confirmedAt: iso(confirmed_at),
    seenAt: seen_at.toISOString(),
  })),
})

export const toEnrollment = (row: ListedEnrollment, now: Date): HostEnrollment => ({
  id: row.id,
  name: row.name,
  address: row.address,
  region: row.region_slug,
  uplink: row.uplink,
  state: enrollmentStateOf(row, now),
  endsAt: endOf(row).toISOString(),
  checks: row.checks,
  checkedAt: iso(row.checked_at),
  hostId: row.host_id,
  createdAt: row.created_at.toISOString(),
})

export const toWaitingRecovery = (row: WaitingRecoveryRow): WaitingRecovery => ({
  vmId: row.vm_id,
  name: row.vm_name,
  from: row.source,
  host: row.host_name,
  failures: row.failures,
  step: row.step,
  problem: row.problem,
  actionId: row.action_id,
  isUnderWay: row.is_under_way,
  nextAttemptAt: iso(row.next_attempt_at),
})

/** All but network, broadcast and gateway address. */
function usableAddresses(cidr: string): number {
  const range = parseCidr(cidr)!
  return lastAddress(range) - range.base - 2
}

export const toPool = (row: ListedPool): Pool => ({
  id: row.id,
  region: row.region_slug,
  host: row.host_name,
  cidr: row.cidr,
  gateway: row.gateway,
  dns: row.dns,
  free: row.free === null ? null : Number(row.free),
  resting: row.resting === null ? null : Number(row.resting),
  total: row.free === null ? null : usableAddresses(row.cidr),
  createdAt: row.created_at.toISOString(),
})

export const toTemplate = (row: TemplateRow, berthd: string): OperatorTemplate => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  version: row.version,
  distribution: row.distribution,
  arch: row.arch,
  state: templateState(row),
  sizeBytes: String(row.size_bytes),
  virtualBytes: String(row.virtual_bytes),
  checksum: row.checksum,
  origin: row.origin,
  command: row.checksum === '' ? templateCommand(row, berthd) : null,
  canImport: row.image_url !== null,
  importedAt: iso(row.imported_at),
  createdAt: row.created_at.toISOString(),
})

function templateState({ checksum, lacks_image, deprecated_at, available }: TemplateRow): OperatorTemplate['state'] {
  if (checksum === '') return lacks_image ? 'no image' : 'simulated'
  return deprecated_at ? 'deprecated' : available ? 'available' : 'not offered'
}

function templateCommand({ slug, recipe, image_url }: TemplateRow, berthd: string): string | null {
  if (recipe) return `${berthd} template build ${slug}`
  return image_url ? `${berthd} template import ${slug}` : null
}

export const toTemplateImport = (row: TemplateImportRow): TemplateImport => ({
  id: row.id,
  slug: row.slug,
  url: row.url,
  status: row.status,
  doing: row.doing,
  error: row.error,
  createdAt: row.created_at.toISOString(),
  completedAt: iso(row.completed_at),
})

export const toAccount = (row: AccountRow, currency: string): OperatorAccount => ({
  id: row.id,
  email: row.email,
  name: row.name,
  paidBy: row.payer_account_id,
  balance: formatCents(row.balance_cents),
  currency,
  vmCount: Number(row.vm_count),
  suspendedAt: iso(row.suspended_at),
  createdAt: row.created_at.toISOString(),
})

export const toLimit = ({ name, limit, used, is_default }: QuotaRow): AccountDetails['limits'][number] => ({
  name,
  limit: Number(limit),
  used: used === null ? null : Number(used),
  isDefault: is_default,
})

export const toUser = (row: ListedUser): AccountDetails['users'][number] => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  isOperator: row.is_operator,
  totpEnabled: row.totp_enabled_at !== null,
  hasPassword: row.password_hash !== null,
  lastSeenAt: iso(row.last_seen_at),
})

/** It is over with its session too. */
export const toVisit = (row: VisitRow & { user_email: string }, now: Date): Visit => ({
  id: row.id,
  by: row.user_email,
  reason: row.reason,
  startedAt: row.started_at.toISOString(),
  endedAt: iso(row.ended_at ?? (row.session_id === null || row.ends_at <= now ? row.ends_at : null)),
  writesReason: row.writes_reason,
})

export const toVm = (row: VmRow): OperatorVm => ({
  id: row.id,
  name: row.name,
  accountId: row.account_id,
  email: row.email,
  status: row.status,
  statusReason: row.status_reason,
  plan: row.plan_slug,
  host: row.host_name,
  ipAddress: row.ip_address,
  ipv6Address: row.ipv6_address,
  createdAt: row.created_at.toISOString(),
})

export const toAction = (row: ActionRow): OperatorAction => ({
  id: row.id,
  workflow: row.name,
  action: row.label,
  status: row.status,
  isRollingBack: row.compensating,
  isCleanupFailed: row.cleanup_failed,
  progress: row.progress,
  attempt: row.attempt,
  accountId: row.owner_id,
  email: row.email,
  subjectId: row.subject_id,
  subjectName: row.subject_name,
  error: row.error,
  errorCode: row.error_code,
  nextAttemptAt: row.next_attempt_at.toISOString(),
  deadlineAt: row.deadline_at.toISOString(),
  startedAt: iso(row.started_at),
  completedAt: iso(row.completed_at),
  createdAt: row.created_at.toISOString(),
})

export const toStep = ({ name, status, tries, error, started_at, completed_at }: StepRow) => ({
  name,
  status,
  tries,
  error,
  startedAt: iso(started_at),
  completedAt: iso(completed_at),
})

export const toStray = (row: OrphanVolumeRow & { host_name: string }): Stray => ({
  host: row.host_name,
  kind: row.kind,
  id: row.id,
  vmId: row.vm_id,
  generation: row.generation,
  sizeBytes: String(row.size_bytes),
  reason: row.is_old_disk ? 'The VM has a newer disk' : 'Nothing that we know of needs it',
  firstSeenAt: row.first_seen_at.toISOString(),
  removedAfter: removedAfter(row).toISOString(),
})
