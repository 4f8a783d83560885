// Types and queries of /api/dashboard/operator, see docs/dashboard-api.md.
import type { Action, AuditEntry, Plan, Region, Ticket, TicketWithReplies, Transaction } from '@berth/sdk'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { apiRequest, apiRequestPage } from './request.ts'

interface Usage {
  used: number
  total: number
}

interface ResourceUsage {
  vcpu: Usage
  ramMiB: Usage
  diskGiB: Usage
}

export interface Host extends ResourceUsage {
  id: string
  name: string
  region: string
  driver: string
  uri: string
  arch: string | null
  acceleration: string | null
  overcommit: number
  ramOvercommit: number
  traits: string[]
  dedicatedCpus: Usage
  vmCount: number
  maintenance: boolean
  draining: boolean
  state: 'ready' | 'maintenance' | 'unreachable' | 'lost' | 'fenced' | 'destroyed' | 'unseen'
  unreachableSince: string | null
  lastSeenAt: string | null
  createdAt: string
}

export interface HostDetails extends Host {
  hostname: string
  uplinkMbps: number | null
  cpuNodes: number | null
  reachableSince: string | null
  hasPowerControl: boolean
  diskFreeGiB: number | null
  storages: { name: string; kind: string; totalGiB: number | null; soldGiB: number; freeGiB: number | null; isReachable: boolean }[]
  ports: { total: number; pending: number; failed: number; error: string | null }
  certificates: { kind: 'LIBVIRT' | 'CHASSIS'; subject: string; issuer: string; expiresAt: string; seenAt: string }[]
  chassis: { name: string; encaps: { type: string; address: string }[]; ports: number; confirmedAt: string | null; seenAt: string }[]
}

export interface HostEnrollment {
  id: string
  name: string
  address: string
  region: string
  uplink: string | null
  state: 'WAITING' | 'FETCHED' | 'JOINED' | 'EXPIRED' | 'REVOKED'
  endsAt: string
  checks: { status: 'ok' | 'warning' | 'failure'; message: string; fix: string | null }[]
  checkedAt: string | null
  hostId: string | null
  createdAt: string
}

export interface HostLoadPoint {
  at: string
  cpus: number
  ramUsedMiB: number
  diskBytesPerSecond: number
  networkInBytesPerSecond: number
  networkOutBytesPerSecond: number
  vms: number
}

export interface WaitingRecovery {
  vmId: string
  name: string
  from: string
  host: string | null
  failures: number
  step: string | null
  problem: string | null
  actionId: string | null
  isUnderWay: boolean
  nextAttemptAt: string | null
}

export interface OperatorMaintenance {
  id: string
  host: string
  state: 'SCHEDULED' | 'IN_PROGRESS' | 'COMPLETED' | 'CANCELLED'
  startsAt: string
  endsAt: string
  accounts: number
  vms: number
  text: string
}

interface VmRef {
  vmId: string
  name: string
}

export interface DrainPlan {
  moves: (VmRef & { to: string; bytes: number; seconds: number; note: string | null })[]
  stays: (VmRef & { reason: string; isTemporary: boolean })[]
  seconds: number
  backups: number
}

export interface Drain {
  status: 'RUNNING' | 'COMPLETED' | 'INCOMPLETE' | 'CANCELLED'
  vms: number
  moved: (VmRef & { to: string; seconds: number | null; restarted: boolean })[]
  moving: (VmRef & { to: string })[]
  remaining: (VmRef & { reason: string })[]
  startedAt: string
  endedAt: string | null
}

export interface MigrationPlan {
  from: string
  to: string
  note: string | null
}

export interface RegionCapacity extends ResourceUsage {
  region: string
  name: string
  hosts: number
  addresses: Usage
}

export interface Revenue {
  month: string
  currency: string
  rows: { type: Transaction['type']; region: string | null; amount: string; count: number }[]
  charges: string
  refunds: string
  net: string
  deposits: string
  credits: string
  change: string
  balances: string
  monthly: string
  outstanding: string
  topAccounts: { accountId: string; email: string; net: string }[]
  capacity: RegionCapacity[]
}

export interface OperatorAnnouncement {
  id: string
  level: 'INFO' | 'WARNING' | 'CRITICAL'
  text: string
  regionId: string | null
  region: string | null
  state: 'SCHEDULED' | 'SHOWN' | 'OVER' | 'WITHDRAWN'
  startsAt: string
  endsAt: string | null
  createdAt: string
}

export interface Pool {
  id: string
  region: string
  host: string | null
  cidr: string
  gateway: string
  dns: string[]
  free: number | null
  resting: number | null
  total: number | null
  createdAt: string
}

export interface Template {
  id: string
  slug: string
  name: string
  version: string
  distribution: string
  arch: string
  state: 'available' | 'not offered' | 'deprecated' | 'no image' | 'simulated'
  sizeBytes: string
  virtualBytes: string
  checksum: string
  origin: string
  command: string | null
  canImport: boolean
  importedAt: string | null
  createdAt: string
}

export interface TemplateImport {
  id: string
  slug: string
  url: string
  status: Action['status']
  doing: string
  error: string | null
  createdAt: string
  completedAt: string | null
}

export interface AccountRow {
  id: string
  email: string
  name: string
  balance: string
  currency: string
  vmCount: number
  suspendedAt: string | null
  createdAt: string
}

export interface Limit {
  name: string
  limit: number
  /** Null if the limit applies per resource, for example per VM. */
  used: number | null
  isDefault: boolean
}

export interface AccountDetails extends AccountRow {
  limits: Limit[]
  users: {
    id: string
    email: string
    name: string
    isOperator: boolean
    totpEnabled: boolean
    hasPassword: boolean
    lastSeenAt: string | null
  }[]
}

export interface SuspensionResult {
  account: AccountRow
  actionIds: string[]
  skipped: { vmId: string; reason: string }[]
}

export interface OperatorVm {
  id: string
  name: string
  accountId: string
  email: string
  status: string
  statusReason: string | null
  plan: string
  host: string | null
  ipAddress: string | null
  ipv6Address: string | null
  createdAt: string
}

export interface AddressHolder {
  address: string
  vmId: string
  vmName: string
  vmExists: boolean
  accountId: string
  email: string
  isFloating: boolean
  since: string
  until: string | null
}

export interface Visit {
  id: string
  by: string
  reason: string
  startedAt: string
  endedAt: string | null
  writesReason: string | null
}

export interface OperatorAction {
  id: string
  workflow: string
  action: string
  status: Action['status']
  isRollingBack: boolean
  isCleanupFailed: boolean
  progress: number
  attempt: number
  accountId: string | null
  email: string | null
  subjectId: string | null
  subjectName: string | null
  error: string | null
  errorCode: string | null
  nextAttemptAt: string
  deadlineAt: string
  startedAt: string | null
  completedAt: string | null
  createdAt: string
}

export interface OperatorActionDetails extends OperatorAction {
  steps: (Action['steps'][number] & { tries: number; error: string | null })[]
}

export interface OrphanedVolume {
  host: string
  kind: string
  id: string
  vmId: string | null
  generation: number
  sizeBytes: string
  reason: string
  firstSeenAt: string
  removedAfter: string
}

export type MailLanguage = 'en' | 'de'
type PerLanguage<T> = Record<MailLanguage, T>

export interface MailText {
  subject: string
  body: string
}

export interface BrandingSettings {
  productName: string
  showName: boolean
  accentLight: string | null
  accentDark: string | null
  links: Record<'imprint' | 'privacy' | 'terms' | 'support' | 'status', string | null>
  mail: {
    senderName: string | null
    language: MailLanguage
    signature: PerLanguage<string | null>
    texts: (MailText & { kind: string; language: MailLanguage })[]
  }
}

type BrandingImage = { path: string; type: string } | null

export interface OperatorBranding extends BrandingSettings {
  images: Record<'logo' | 'logo-dark' | 'favicon', BrandingImage>
  changedAt: string | null
  mailKinds: { kind: string; placeholders: string[]; texts: PerLanguage<MailText> }[]
}

interface Accent {
  accent: string
  text: string
  soft: string
}

export interface BrandingPreview {
  accents: Record<'light' | 'dark', Accent> | null
  mails: { kind: string; language: MailLanguage; from: string | null; subject: string; text: string }[]
}

export interface StaffTicket extends Ticket {
  email: string
  accountId: string
}

export type StaffTicketDetails = StaffTicket & TicketWithReplies

export interface Health {
  version: string
  schema: string
  startedAt: string
  checks: { name: string; isOk: boolean; message: string }[]
  counts: { name: string; count: number; isAlert: boolean }[]
}

const path = (rest: string): string => `/operator${rest}`

const list = <T>(name: string, refetchInterval?: number) =>
  queryOptions({ queryKey: ['operator', name], queryFn: () => apiRequest<T>('GET', path(`/${name}`)), refetchInterval })

export const hostsQuery = list<Host[]>('hosts', 5_000)
export const enrollmentsQuery = list<HostEnrollment[]>('host-enrollments', 5_000)
export const recoveriesQuery = list<WaitingRecovery[]>('recoveries', 5_000)
export const operatorMaintenancesQuery = list<OperatorMaintenance[]>('maintenances', 30_000)
export const operatorAnnouncementsQuery = list<OperatorAnnouncement[]>('announcements', 30_000)
export const brandingQuery = list<OperatorBranding>('branding')
export const brandingPreviewQuery = (settings: BrandingSettings) =>
  queryOptions({
    queryKey: ['operator-branding-preview', settings],
    queryFn: () => apiRequest<BrandingPreview>('PUT', path('/branding?dryRun=true'), settings),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  })
export const capacityQuery = list<RegionCapacity[]>('capacity', 10_000)
export const operatorRegionsQuery = list<Region[]>('regions')
export const poolsQuery = list<Pool[]>('pools')
export const operatorTemplatesQuery = list<Template[]>('templates', 10_000)
export const templateImportsQuery = list<TemplateImport[]>('template-imports', 2_000)
export const operatorPlansQuery = list<Plan[]>('plans')
export const orphanedVolumesQuery = list<OrphanedVolume[]>('quarantine', 30_000)
export const healthQuery = list<Health>('health', 5_000)

type Filter = Record<string, string | number | boolean | undefined>

const pages = <T>(name: string, query: Filter, refetchInterval?: number) =>
  queryOptions({
    queryKey: ['operator', name, query],
    queryFn: () => apiRequestPage<T>(path(`/${name}`), query),
    placeholderData: keepPreviousData,
    refetchInterval,
  })

export const accountsQuery = (query: Filter) => pages<AccountRow>('accounts', query)
export const operatorVmsQuery = (query: Filter) => pages<OperatorVm>('vms', query, 5_000)
export const operatorActionsQuery = (query: Filter) => pages<OperatorAction>('actions', query, 2_000)
export const staffTicketsQuery = (query: Filter) => pages<StaffTicket>('tickets', query, 10_000)

const read = <T>(rest: string, refetchInterval?: number) =>
  queryOptions({ queryKey: ['operator', 'one', rest], queryFn: () => apiRequest<T>('GET', path(rest)), refetchInterval })
const one = <T>(name: string, id: string, refetchInterval?: number) => read<T>(`/${name}/${encodeURIComponent(id)}`, refetchInterval)

export const accountQuery = (id: string) => one<AccountDetails>('accounts', id)
export const operatorActionQuery = (id: string) => one<OperatorActionDetails>('actions', id, 2_000)
export const staffTicketQuery = (id: string) => one<StaffTicketDetails>('tickets', id, 10_000)

export const hostQuery = (id: string) => one<HostDetails>('hosts', id, 10_000)
export const hostLoadQuery = (id: string) => read<HostLoadPoint[]>(`/hosts/${id}/load`, 60_000)
export const revenueQuery = (month: string) => read<Revenue>(`/revenue?month=${month}`)
export const drainPlanQuery = (hostId: string) => read<DrainPlan>(`/hosts/${hostId}/drain/plan`)
export const drainQuery = (hostId: string) => read<Drain | null>(`/hosts/${hostId}/drain`, 2_000)
export const visitsQuery = (accountId: string) => read<Visit[]>(`/accounts/${accountId}/visits`)
export const accountTransactionsQuery = (accountId: string, query: Filter) =>
  pages<Transaction>(`accounts/${accountId}/transactions`, query)
export const accountAuditQuery = (accountId: string, query: Filter) => pages<AuditEntry>(`accounts/${accountId}/audit-log`, query)
export const addressHistoryQuery = (address: string, at: string | undefined) =>
  read<AddressHolder[]>(`/addresses/${encodeURIComponent(address)}/history${at === undefined ? '' : `?at=${encodeURIComponent(at)}`}`)
export const migrationPlanQuery = (vmId: string, to: string) =>
  read<MigrationPlan>(`/vms/${vmId}/migration/plan${to === '' ? '' : `?to=${encodeURIComponent(to)}`}`)

export const operatorRequest = <T>(method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', rest: string, body?: unknown): Promise<T> =>
  apiRequest<T>(method, path(rest), body)
