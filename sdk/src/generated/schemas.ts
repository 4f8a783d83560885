// Made from openapi/v1.json by `npm run sdk:types`: change it there.

export interface Region {
  id: string
  name: string
  slug: string
  /** ISO 3166 alpha-2 */
  country: string
  city: string
  /** The flag as an emoji */
  flag: string
  available: boolean
}

export interface Plan {
  id: string
  slug: string
  name: string
  vcpu: number
  /** MiB */
  ram: number
  /** GiB */
  disk: number
  /** GB (10^9 bytes) per billing month; 0 = unmetered */
  bandwidth: number
  /** Mbit/s */
  networkSpeed: number
  /** Decimal with two places, for example "12.00"; debits are negative */
  priceMonthly: string
  currency: string
  /** Mbit/s once the bandwidth is used up */
  throttleMbps: number
  available: boolean
  /** Slugs of the regions it is sold in */
  regions: string[]
}

export interface OsTemplate {
  id: string
  slug: string
  name: string
  version: string
  distribution: string
  arch: string
  /** GiB */
  minDisk: number
  /** MiB */
  minRam: number
  defaultUser: string
  cloudInit: boolean
  /** Bytes as a decimal string */
  sizeBytes: string
  checksum: string
  available: boolean
  /** ISO 8601, UTC */
  deprecatedAt: string | null
  /** ISO 8601, UTC */
  createdAt: string
}

export interface Account {
  id: string
  email: string
  name: string
  /** ISO 8601, UTC */
  createdAt: string
}

export interface AccountLimit {
  /** vms, vcpu, ram (MiB), disk (GiB), networks, firewalls, rulesPerFirewall, snapshotsPerVm, webhooks, sshKeys, tokens, openTickets or repliesPerTicket; others may follow */
  name: string
  /** The most the account, or each single thing, may hold */
  limit: number
  /** How much of it is in use; null where the limit holds for each single thing */
  used: number | null
}

export interface Action {
  id: string
  vmId: string
  /** CREATE, START, STOP, RESTART, UPGRADE, REBUILD, DELETE, … */
  action: string
  status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  progress: number
  /** Why it failed or was cancelled */
  error: string | null
  errorCode: string | null
  steps: Array<{
    name: string
    status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'UNDONE'
    /** ISO 8601, UTC */
    startedAt: string | null
    /** ISO 8601, UTC */
    completedAt: string | null
  }>
  /** ISO 8601, UTC */
  startedAt: string | null
  /** ISO 8601, UTC */
  completedAt: string | null
  /** ISO 8601, UTC */
  createdAt: string
}

export interface Pagination {
  page: number
  limit: number
  total: number
  totalPages: number
}

export interface Event {
  id: string
  /** The event's number in the account, from 1 without a gap: pass the last one as `after` */
  cursor: string
  /** What webhooks can subscribe to, and others such as vm.upgraded */
  type: string
  /** ISO 8601, UTC */
  timestamp: string
  data: Record<string, unknown>
}

export interface Wallet {
  /** Decimal with two places, for example "12.00"; debits are negative */
  balance: string
  /** ISO 4217, for example USD */
  currency: string
  /** What renewals will charge within 7 days: decimal with two places */
  dueNext7Days: string
  /** Whole days the balance lasts at the present monthly cost; null when nothing renews */
  daysLeft: number | null
}

export interface Transaction {
  id: string
  type: 'DEPOSIT' | 'CREDIT' | 'VM_CHARGE' | 'VM_RENEWAL' | 'VM_UPGRADE' | 'VM_REFUND' | 'BANDWIDTH_PACK' | 'ADDON_CHARGE' | 'ADJUSTMENT'
  description: string
  referenceType: 'VM' | 'PAYMENT' | 'ADMIN'
  /** The id of what the money was for or came from */
  referenceId: string
  /** ISO 8601, UTC */
  createdAt: string
  /** Decimal with two places, for example "12.00"; debits are negative */
  amount: string
  /** Decimal with two places, for example "12.00"; debits are negative */
  balanceAfter: string
}

export interface Deposit {
  id: string
  /** PROCESSING: paid by a method that takes days. SUCCEEDED: in the wallet */
  status: 'PENDING' | 'PROCESSING' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED'
  /** Decimal with two places, for example "12.00"; debits are negative */
  amount: string
  currency: string
  provider: 'manual' | 'stripe'
  /** The page to pay at, while it is PENDING */
  checkoutUrl: string | null
  /** How to pay where there is no page */
  instructions: string | null
  /** What was refunded or charged back since: decimal with two places */
  refunded: string
  /** The entry of the ledger, once it is in the wallet */
  transactionId: string | null
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
}

export interface CreateDeposit {
  /** From 1.00 to 50000.00, as a decimal string */
  amount: string
}

export interface InvoiceSummary {
  id: string
  /** Without gaps over all invoices, for example INV-000042 */
  number: string
  /** For example 2027-01 */
  month: string
  currency: string
  /** Decimal with two places, for example "12.00"; debits are negative */
  openingBalance: string
  /** What was bought, less what was given back for it: decimal with two places */
  charged: string
  /** What came into the wallet, less what was taken back: decimal with two places */
  paid: string
  /** Decimal with two places, for example "12.00"; debits are negative */
  closingBalance: string
  /** ISO 8601, UTC */
  issuedAt: string
}

export interface Invoice {
  id: string
  /** Without gaps over all invoices, for example INV-000042 */
  number: string
  /** For example 2027-01 */
  month: string
  currency: string
  /** Decimal with two places, for example "12.00"; debits are negative */
  openingBalance: string
  /** What was bought, less what was given back for it: decimal with two places */
  charged: string
  /** What came into the wallet, less what was taken back: decimal with two places */
  paid: string
  /** Decimal with two places, for example "12.00"; debits are negative */
  closingBalance: string
  /** ISO 8601, UTC */
  issuedAt: string
  seller: {
    name: string
    address: string[]
    tax: string
  }
  customer: {
    name: string
    email: string
  }
  /** The entries of the ledger, oldest first */
  lines: Transaction[]
  /** A page to print, for whoever has this link, for an hour */
  pageUrl: string
}

export interface AuditEntry {
  id: string
  /** The operationId of the call, the words of an operator's command, or "refusals" for those that were only counted */
  action: string
  actor: {
    type: 'token' | 'person' | 'operator' | 'system'
    /** Of the token or the person; null for others */
    id: string | null
    /** Of the token, at that time, or the e-mail address of the person */
    name: string
  }
  /** Where the call came from */
  ip: string | null
  method: string | null
  /** For example /vms/{id}/restart */
  route: string | null
  /** What it was done to, or what was made */
  resourceId: string | null
  /** All ids of the path in its order, and then of what was made */
  resourceIds: string[]
  result: 'succeeded' | 'refused'
  /** The HTTP status; null where there was no call of the API */
  status: number | null
  /** As in the header X-Error-Code */
  errorCode: string | null
  /** As in the header X-Request-Id */
  requestId: string | null
  /** More than 1 where refusals came so often that they were only counted */
  count: number
  /** ISO 8601, UTC */
  createdAt: string
}

export interface Node {
  id: string
  name: string
  available: boolean
}

export interface SshKey {
  id: string
  name: string
  /** As in the key, for example ssh-ed25519 */
  type: string
  /** SHA256:… as ssh-keygen -l shows it */
  fingerprint: string
  /** The type and the key, without a comment */
  publicKey: string
  /** How many VMs the key was installed on */
  vmCount: number
  /** ISO 8601, UTC */
  createdAt: string
}

export interface Network {
  id: string
  name: string
  cidr: string
  /** Null only with SNAT and DHCP both off */
  gateway: string | null
  enableSnat: boolean
  enableDhcp: boolean
  region: {
    name: string
    country: string
    flag: string
  }
  /** How many VMs are attached */
  attachmentCount: number
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
}

export interface CreateNetwork {
  name: string
  /** A node's id, or a region's id: then a node where the range is free is chosen */
  nodeId: string
  /** A private range from /8 to /30; host bits are masked away */
  cidr: string
  /** must be an IPv4 address such as 10.0.0.1, or null */
  gateway?: string | null | undefined
  /** VMs reach the internet through the gateway */
  enableSnat?: boolean | undefined
  /** VMs are told their addresses by DHCP */
  enableDhcp?: boolean | undefined
}

export interface RenameNetwork {
  name: string
}

export interface DeletedNetwork {
  id: string
}

export interface Firewall {
  id: string
  name: string
  description: string
  /** What happens to packets to a VM that no rule matches */
  defaultInbound: string
  /** What happens to packets from a VM that no rule matches */
  defaultOutbound: string
  ruleCount: number
  /** How many VMs it is bound to */
  bindingCount: number
  /** Whether the hosts of all these VMs have its latest rules */
  applied: boolean
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
}

export interface CreateFirewall {
  name: string
  description?: string | undefined
}

export interface ChangeFirewall {
  name?: string | undefined
  description?: string | undefined
}

export interface FirewallRule {
  id: string
  firewallId: string
  /** From 1; the first rule that matches decides */
  position: number
  /** IN or OUT */
  direction: string
  /** ACCEPT, DROP or REJECT */
  action: string
  /** TCP, UDP, ICMP, ICMPV6 or ANY */
  protocol: string
  /** "any", or destination ports such as "22", "80,443" or "8000-9000" */
  port: string
  /** Empty = any */
  sourceIps: string[]
  /** Empty = any */
  destIps: string[]
  description: string
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
}

export interface AddRule {
  direction: 'IN' | 'OUT'
  action: 'ACCEPT' | 'DROP' | 'REJECT'
  protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6' | 'ANY'
  /** Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all */
  port?: string | null | undefined
  /** IPv4 addresses and ranges; empty = any */
  sourceIps?: string[] | undefined
  /** IPv4 addresses and ranges; empty = any */
  destIps?: string[] | undefined
  description?: string | undefined
  /** Where to insert it; at the end when absent */
  position?: number | undefined
}

export interface RuleInput {
  direction: 'IN' | 'OUT'
  action: 'ACCEPT' | 'DROP' | 'REJECT'
  protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6' | 'ANY'
  /** Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all */
  port?: string | null | undefined
  /** IPv4 addresses and ranges; empty = any */
  sourceIps?: string[] | undefined
  /** IPv4 addresses and ranges; empty = any */
  destIps?: string[] | undefined
  description?: string | undefined
}

export interface ReplaceRules {
  /** In the order they are to be asked */
  rules: RuleInput[]
}

export interface ChangeRule {
  direction?: 'IN' | 'OUT' | undefined
  action?: 'ACCEPT' | 'DROP' | 'REJECT' | undefined
  protocol?: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6' | 'ANY' | undefined
  /** Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all */
  port?: string | null | undefined
  /** IPv4 addresses and ranges; empty = any */
  sourceIps?: string[] | undefined
  /** IPv4 addresses and ranges; empty = any */
  destIps?: string[] | undefined
  description?: string | undefined
  /** Moves it there; the others keep their order */
  position?: number | undefined
}

export interface FirewallBindingState {
  firewallId: string
  vmId: string
  /** Whether the VM's host has the latest rules */
  applied: boolean
  state: 'APPLIED' | 'PENDING' | 'FAILED'
  /** ISO 8601, UTC */
  appliedAt: string | null
  /** Why the host does not have them yet; it is tried again */
  error: string | null
  /** When it is tried again after a failure */
  nextTryAt: string | null
}

export interface Vm {
  id: string
  name: string
  hostname: string
  status: 'PROVISIONING' | 'RUNNING' | 'STOPPED' | 'SUSPENDED' | 'REBUILDING' | 'UPGRADING' | 'UNMANAGED' | 'ERROR'
  vcpu: number
  /** MiB */
  ram: number
  /** GiB */
  disk: number
  /** GB (10^9 bytes) per billing month; 0 = unmetered */
  bandwidth: number
  /** Mbit/s */
  networkSpeed: number
  network10gEnabled: boolean
  dailyBackupEnabled: boolean
  isProtected: boolean
  /** Null while none is assigned */
  ipAddress: string | null
  region: {
    slug: string
    name: string
  }
  plan: {
    slug: string
    name: string
    /** Decimal with two places, for example "12.00"; debits are negative */
    priceMonthly: string
  }
  osTemplate: {
    slug: string
    name: string
    version: string
  }
  billing: {
    /** ISO 8601, UTC */
    nextRenewalAt: string
    status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED' | 'CANCELLED'
    /** What the next renewal will charge, add-ons included */
    priceMonthly: string
  }
  /** ISO 8601, UTC */
  createdAt: string
  /** Whether its node can hold it to networkSpeed, and to the throttle at its traffic cap; false where the kernel lacks the modules */
  networkLimited: boolean
  bandwidthUsedBytes: number
  /** Bytes as a decimal string */
  bandwidthPackBytes: string
  sshKeys: Array<{
    id: string
    name: string
    fingerprint: string
  }>
  firewalls: Array<{
    id: string
    name: string
  }>
  privateNetworks: Array<{
    id: string
    name: string
    /** The VM's own address in it */
    ipAddress: string
  }>
  /** ISO 8601, UTC */
  updatedAt: string
  currentAction: {
    id: string
    action: string
    status: string
    progress: number
  } | null
  /** What the API would accept now */
  allowedActions: string[]
  readiness: 'booting' | 'reachable'
  statusReason: string | null
}

export interface VmCreated {
  vm: Vm
  actionId: string
}

export interface Quote {
  /** What would be taken from the wallet now, for example "12.00"; negative: given back */
  charge: string
  /** What the VM would cost a month from then on */
  monthly: string
  currency: string
  /** Decimal with two places, for example "12.00"; debits are negative */
  balanceAfter: string
}

export interface CustomConfig {
  vcpu: number
  /** must be 512-262144 MiB in steps of 256 */
  ram: number
  /** must be 5-4096 GiB */
  disk: number
}

export interface CreateVm {
  /** must be an id: c and at least 8 more characters */
  regionId: string
  /** must be an id: c and at least 8 more characters */
  osTemplateId: string
  /** must be 1-63 letters, digits or hyphens, and begin and end with a letter or digit */
  hostname: string
  /** must be an id: c and at least 8 more characters */
  planId?: string | undefined
  customConfig?: CustomConfig | undefined
  password?: string | undefined
  sshKeyIds?: string[] | undefined
  name?: string | undefined
  dailyBackupEnabled?: boolean | undefined
  network10gEnabled?: boolean | undefined
  isProtected?: boolean | undefined
  firewallIds?: string[] | undefined
  privateNetworkIds?: string[] | undefined
}

export interface VmListItem {
  id: string
  name: string
  hostname: string
  status: 'PROVISIONING' | 'RUNNING' | 'STOPPED' | 'SUSPENDED' | 'REBUILDING' | 'UPGRADING' | 'UNMANAGED' | 'ERROR'
  vcpu: number
  /** MiB */
  ram: number
  /** GiB */
  disk: number
  /** GB (10^9 bytes) per billing month; 0 = unmetered */
  bandwidth: number
  /** Mbit/s */
  networkSpeed: number
  network10gEnabled: boolean
  dailyBackupEnabled: boolean
  isProtected: boolean
  /** Null while none is assigned */
  ipAddress: string | null
  region: {
    slug: string
    name: string
  }
  plan: {
    slug: string
    name: string
    /** Decimal with two places, for example "12.00"; debits are negative */
    priceMonthly: string
  }
  osTemplate: {
    slug: string
    name: string
    version: string
  }
  billing: {
    /** ISO 8601, UTC */
    nextRenewalAt: string
    status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED' | 'CANCELLED'
    /** What the next renewal will charge, add-ons included */
    priceMonthly: string
  }
  /** ISO 8601, UTC */
  createdAt: string
}

export interface UpdateVm {
  name?: string | undefined
  isProtected?: boolean | undefined
  dailyBackupEnabled?: boolean | undefined
  network10gEnabled?: boolean | undefined
}

export interface ActionStarted {
  actionId: string
}

export interface UpgradeVm {
  /** must be an id: c and at least 8 more characters */
  planId: string
}

export interface RebuildVm {
  /** must be an id: c and at least 8 more characters */
  osTemplateId: string
  password?: string | undefined
  sshKeyIds?: string[] | undefined
}

export interface SetPassword {
  password: string
}

export interface AttachNetwork {
  /** must be an id: c and at least 8 more characters */
  networkId: string
}

export interface ConsoleLink {
  /** A WebSocket URL that opens the console once. It is a secret: whoever has it is at the console */
  url: string
  /** ISO 8601, UTC */
  expiresAt: string
}

/** serial is text and there is one on every host; vnc is the screen, where the host offers it */
export interface OpenConsole {
  type: 'serial' | 'vnc'
}

export interface VmMetrics {
  /** ISO 8601, UTC */
  from: string
  /** ISO 8601, UTC */
  to: string
  /** Seconds between two points */
  step: number
  /** Where each point begins; all series have as many values */
  timestamps: string[]
  /** Averages; null where nothing was measured */
  series: {
    /** Of all its vCPUs together: 0 to 100 */
    cpuPercent: Array<number | null>
    /** MiB, as the guest tells; null when it does not */
    ramUsed: Array<number | null>
    /** Read from its disks */
    diskReadBytesPerSecond: Array<number | null>
    /** Written to its disks */
    diskWriteBytesPerSecond: Array<number | null>
    /** Received on all interfaces */
    networkInBytesPerSecond: Array<number | null>
    /** Sent on all interfaces */
    networkOutBytesPerSecond: Array<number | null>
    /** MiB */
    ramTotal: Array<number | null>
  }
  /** The highest minute of each point */
  maxima: {
    /** Of all its vCPUs together: 0 to 100 */
    cpuPercent: Array<number | null>
    /** MiB, as the guest tells; null when it does not */
    ramUsed: Array<number | null>
    /** Read from its disks */
    diskReadBytesPerSecond: Array<number | null>
    /** Written to its disks */
    diskWriteBytesPerSecond: Array<number | null>
    /** Received on all interfaces */
    networkInBytesPerSecond: Array<number | null>
    /** Sent on all interfaces */
    networkOutBytesPerSecond: Array<number | null>
  }
}

export interface Snapshot {
  id: string
  vmId: string
  name: string
  description: string
  status: 'CREATING' | 'AVAILABLE' | 'RESTORING' | 'DELETING' | 'FAILED'
  /** Bytes as a decimal string */
  size: string
  /** ISO 8601, UTC */
  sizeRefreshedAt: string | null
  /** ISO 8601, UTC */
  createdAt: string
}

export interface SnapshotCreated {
  snapshot: Snapshot
  actionId: string
}

export interface CreateSnapshot {
  name: string
  description?: string | undefined
}

export interface Backup {
  id: string
  vmId: string
  name: string
  type: 'DAILY' | 'MANUAL'
  status: 'PENDING' | 'RUNNING' | 'AVAILABLE' | 'RESTORING' | 'DELETING' | 'FAILED'
  /** Bytes as a decimal string */
  size: string
  /** ISO 8601, UTC */
  startedAt: string | null
  /** ISO 8601, UTC */
  completedAt: string | null
  /** Of daily backups: when the seventh after it is due. Without a newer one it is kept, unless daily backups are switched off */
  expiresAt: string | null
  /** Why it failed */
  error: string | null
  /** What it does not protect from, where there is only one host to keep it on */
  warning: string | null
  /** ISO 8601, UTC */
  createdAt: string
}

export interface BackupCreated {
  backup: Backup
  actionId: string
}

export interface CreateBackup {
  name: string
}

export interface RestoreBackup {
  /** When the host of the VM is lost, its private networks are lost with it: true brings the VM back without them. Otherwise it changes nothing */
  withoutNetworks?: boolean | undefined
}

export interface BackupDeleted {
  message: string
}

export interface FirewallBinding {
  firewallId: string
  vmId: string
}

export interface BindFirewall {
  /** must be an id: c and at least 8 more characters */
  vmId: string
}

export interface FirewallVerdict {
  /** ACCEPT, DROP or REJECT */
  action: string
  /** RULE, or DEFAULT when no rule matches */
  decidedBy: string
  /** The firewall of the rule; it may be another of the VM's firewalls */
  firewallId: string | null
  rule: FirewallRule | null
  /** Whether the VM's host has the latest rules */
  applied: boolean
}

export interface CheckPacket {
  /** must be an id: c and at least 8 more characters */
  vmId: string
  direction: 'IN' | 'OUT'
  protocol: 'TCP' | 'UDP' | 'ICMP'
  /** Destination port of TCP or UDP */
  port?: number | null | undefined
  /** The other end */
  address: string
}

export interface BandwidthUsage {
  vmId: string
  vmName: string
  /** The VM's status */
  status: string
  /** ISO 8601, UTC */
  nextRenewalAt: string
  throttled: boolean
  /** ISO 8601, UTC */
  throttledAt: string | null
  /** Both directions, since the billing month began */
  usedBytes: number
  /** Bytes as a decimal string */
  packBytes: string
  /** Plan and packs in bytes, as a decimal string; null = unmetered */
  capBytes: string | null
}

export interface BuyBandwidthPack {
  /** GB (10^9 bytes); they last until the next renewal */
  gigabytes: number
}

export interface Webhook {
  id: string
  url: string
  events: string[]
  /** False after a 410, after 10 failures in a row with no success for 5 days, or when switched off */
  isActive: boolean
  description: string
  /** Attempts that have failed in a row */
  failCount: number
  /** Why isActive became false by itself */
  disabledReason: string | null
  /** ISO 8601, UTC */
  lastSuccessAt: string | null
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
}

export interface WebhookWithSecret {
  id: string
  url: string
  events: string[]
  /** False after a 410, after 10 failures in a row with no success for 5 days, or when switched off */
  isActive: boolean
  description: string
  /** Attempts that have failed in a row */
  failCount: number
  /** Why isActive became false by itself */
  disabledReason: string | null
  /** ISO 8601, UTC */
  lastSuccessAt: string | null
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
  /** whsec_…, shown this once: signatures are checked with it (Standard Webhooks) */
  secret: string
}

export interface WebhookDelivery {
  /** The webhook-id header, the same on every attempt */
  id: string
  /** Null for a test */
  eventId: string | null
  type: string
  status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED'
  /** Of 8; a redelivery begins anew */
  attempts: number
  /** ISO 8601, UTC */
  nextAttemptAt: string | null
  /** Of the last attempt, as are error and latencyMs */
  responseStatus: number | null
  error: string | null
  latencyMs: number | null
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  completedAt: string | null
}

export interface WebhookAttempt {
  /** ISO 8601, UTC */
  attemptedAt: string
  latencyMs: number
  url: string
  requestHeaders: Record<string, unknown>
  responseStatus: number | null
  /** The first 1024 bytes */
  responseBody: string
  error: string | null
}

export interface WebhookDeliveryLog {
  /** The webhook-id header, the same on every attempt */
  id: string
  /** Null for a test */
  eventId: string | null
  type: string
  status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED'
  /** Of 8; a redelivery begins anew */
  attempts: number
  /** ISO 8601, UTC */
  nextAttemptAt: string | null
  /** Of the last attempt, as are error and latencyMs */
  responseStatus: number | null
  error: string | null
  latencyMs: number | null
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  completedAt: string | null
  /** What is sent and signed, byte for byte */
  requestBody: string
  log: WebhookAttempt[]
}

export interface Ticket {
  id: string
  subject: string
  /** OPEN waits for support, ANSWERED for you */
  status: 'OPEN' | 'ANSWERED' | 'CLOSED'
  replyCount: number
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
  /** ISO 8601, UTC */
  closedAt: string | null
}

export interface TicketReply {
  id: string
  author: 'customer' | 'staff'
  body: string
  /** ISO 8601, UTC */
  createdAt: string
}

export interface TicketWithReplies {
  id: string
  subject: string
  /** OPEN waits for support, ANSWERED for you */
  status: 'OPEN' | 'ANSWERED' | 'CLOSED'
  replyCount: number
  /** ISO 8601, UTC */
  createdAt: string
  /** ISO 8601, UTC */
  updatedAt: string
  /** ISO 8601, UTC */
  closedAt: string | null
  body: string
  /** The oldest first */
  replies: TicketReply[]
}

/** Why a request was refused: the catalogue stands under /docs/errors of every server. */
export type ErrorCode =
  | 'invalid_json'
  | 'malformed_request'
  | 'validation_failed'
  | 'unauthorized'
  | 'wrong_credentials'
  | 'wrong_totp'
  | 'insufficient_funds'
  | 'missing_scope'
  | 'origin_not_allowed'
  | 'https_required'
  | 'operator_only'
  | 'reauthentication_required'
  | 'sign_up_closed'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'busy'
  | 'invalid_state'
  | 'protected'
  | 'in_use'
  | 'already_exists'
  | 'networks_overlap'
  | 'networks_lost'
  | 'idempotency_in_progress'
  | 'link_gone'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'plan_not_larger'
  | 'unavailable'
  | 'incompatible'
  | 'quota_exceeded'
  | 'region_mismatch'
  | 'url_not_allowed'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'no_capacity'
  | 'service_unavailable'
