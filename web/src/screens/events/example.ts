// Example webhook payloads, held to the types of the SDK.
import type { Backup, EventData, EventType, Snapshot, Ticket, VmEventData, VmListItem, Webhook } from '@berth/sdk'

const at = '2027-03-01T09:30:00.000Z'
const vmId = 'cmb3v8k2p0001examplevm001'

const vm: VmListItem = {
  id: vmId,
  name: 'web-1',
  hostname: 'web-1',
  status: 'RUNNING',
  vcpu: 2,
  ram: 4096,
  disk: 40,
  bandwidth: 4000,
  networkSpeed: 1000,
  network10gEnabled: false,
  dailyBackupEnabled: true,
  isProtected: false,
  publicIpv4: true,
  ipAddress: '198.18.0.10',
  ipv6Address: null,
  ipv6Prefix: null,
  region: { slug: 'local', name: 'Local' },
  plan: { slug: 'medium', name: 'Medium', priceMonthly: '12.00' },
  osTemplate: { slug: 'debian-12', name: 'Debian', version: '12' },
  billing: { nextRenewalAt: '2027-04-01T09:30:00.000Z', status: 'ACTIVE', priceMonthly: '12.00' },
  createdAt: at,
}
const ofVm: VmEventData = { vm, actionId: 'cmb3v8k2p0005exampleac001', reason: null, sequence: 4 }
const wallet = { balance: '42.00', currency: 'USD' }
const ticket: Ticket = {
  id: 'cmb3v8k2p0003exampletk001',
  subject: 'A question',
  status: 'ANSWERED',
  replyCount: 1,
  createdAt: at,
  updatedAt: at,
  closedAt: null,
}
const snapshot: Snapshot = {
  id: 'cmb3v8k2p0006examplesn001',
  vmId,
  name: 'before upgrade',
  description: '',
  status: 'AVAILABLE',
  size: '1288490188',
  sizeRefreshedAt: at,
  createdAt: at,
}
const backup: Backup = {
  id: 'cmb3v8k2p0007examplebk001',
  vmId,
  name: 'daily',
  type: 'DAILY',
  status: 'AVAILABLE',
  size: '1288490188',
  startedAt: at,
  completedAt: at,
  expiresAt: '2027-03-08T09:30:00.000Z',
  error: null,
  consistency: 'FILESYSTEM',
  warning: null,
  createdAt: at,
}
const webhook: Webhook = {
  id: 'cmb3v8k2p0008examplewh001',
  url: 'https://example.com/hook',
  events: ['vm.created'],
  isActive: false,
  description: '',
  failCount: 10,
  disabledReason: 'The receiver answered 410: it wants no more events',
  lastSuccessAt: null,
  createdAt: at,
  updatedAt: at,
}
const ofAddress = {
  address: {
    id: 'cmb3v8k2p0012examplead001',
    name: 'www',
    address: '198.51.100.7',
    region: { slug: 'fra1', name: 'Frankfurt' },
    vmId: ofVm.vm.id,
    guestState: 'CONFIGURED' as const,
    guestReason: null,
    currentAction: null,
    reverseName: null,
    reverseNameState: null,
    reverseNameReason: null,
    billing: { nextRenewalAt: at, status: 'ACTIVE' as const, priceMonthly: '2.00' },
    createdAt: at,
    updatedAt: at,
  },
  actionId: null,
  reason: null,
}
const network = { id: 'cmb3v8k2p0009examplenw001' }
const ofSnapshot = { snapshot, ...ofVm }
const ofBackup = { backup, ...ofVm }

/** The others show a VM only. */
const OTHERS: { [Type in EventType as VmEventData extends EventData<Type> ? never : Type]: EventData<Type> } = {
  'billing.payment_received': {
    source: 'payment',
    transaction: {
      id: 'cmb3v8k2p0002exampletx001',
      type: 'DEPOSIT',
      description: 'Deposit',
      referenceType: 'PAYMENT',
      referenceId: 'cmb3v8k2p0010examplepm001',
      createdAt: at,
      amount: '25.00',
      balanceAfter: '42.00',
    },
    wallet,
  },
  'billing.low_balance': { transaction: null, wallet, dueNext7Days: '54.00' },
  'ticket.reply': { ticket, reply: { id: 'cmb3v8k2p0004examplerp001', author: 'staff', body: 'Here is the answer.', createdAt: at } },
  'ticket.closed': { ticket: { ...ticket, status: 'CLOSED', closedAt: at } },
  'snapshot.created': ofSnapshot,
  'snapshot.deleted': ofSnapshot,
  'snapshot.restored': ofSnapshot,
  'backup.created': ofBackup,
  'backup.failed': ofBackup,
  'backup.deleted': ofBackup,
  'backup.restored': ofBackup,
  'vm.network_attached': { network, ...ofVm },
  'vm.network_detached': { network, ...ofVm },
  'vm.console_opened': { console: { type: 'serial', sessionId: 'cmb3v8k2p0011examplecs001' }, ...ofVm },
  'address.reserved': ofAddress,
  'address.assigned': ofAddress,
  'address.unassigned': ofAddress,
  'address.assignment_failed': ofAddress,
  'address.renewed': ofAddress,
  'address.past_due': ofAddress,
  'address.released': ofAddress,
  'webhook.disabled': { webhook, reason: webhook.disabledReason },
}

const dataOf = (type: EventType): object => (type in OTHERS ? OTHERS[type as keyof typeof OTHERS] : ofVm)

export const examplePayload = (type: EventType): object => ({ id: 'cmb3v8k2p0000exampleev001', type, timestamp: at, data: dataOf(type) })
