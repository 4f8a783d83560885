// The 21 operations of the specification and the exact schema of their responses: every specified field with its type, and our additions
// under `ours`. A missing, additional or differently typed field breaks the contract.
import { expect } from 'vitest'

type Leaf = 'string' | 'integer' | 'boolean' | 'date-time' | 'money' | 'bytes' | `${'string' | 'integer' | 'date-time' | 'bytes'} or null`
type Check = (value: unknown, where: string) => void
export type Shape = Leaf | Check | [Shape] | { [field: string]: Shape }

const named = { id: 'string', name: 'string' } as const

const labels: Check = (value, where) => {
  for (const [key, each] of Object.entries(value as object)) expectShape(each, 'string', `${where}.${key}`)
}

const vmInList = {
  ...named,
  hostname: 'string',
  status: 'string',
  vcpu: 'integer',
  ram: 'integer',
  disk: 'integer',
  bandwidth: 'integer',
  networkSpeed: 'integer',
  network10gEnabled: 'boolean',
  dailyBackupEnabled: 'boolean',
  isProtected: 'boolean',
  ipAddress: 'string or null',
  region: { slug: 'string', name: 'string' },
  plan: { slug: 'string', name: 'string', priceMonthly: 'money' },
  osTemplate: { slug: 'string', name: 'string', version: 'string', arch: 'string' }, // arch: ours
  billing: { nextRenewalAt: 'date-time', status: 'string', priceMonthly: 'money' },
  createdAt: 'date-time',
  // ours
  storage: 'string',
  dedicatedCpu: 'boolean',
  publicIpv4: 'boolean',
  ipv6Address: 'string or null',
  ipv6Prefix: 'string or null',
  shelvedAt: 'date-time or null',
  hostUnreachableSince: 'date-time or null',
  labels,
} as const satisfies Shape

const currentAction: Check = (value, where) => {
  if (value !== null) expectShape(value, { id: 'string', action: 'string', status: 'string', progress: 'integer' }, where)
}

const namedOrNull: Check = (value, where) => {
  if (value !== null) expectShape(value, named, where)
}

const rescue: Check = (value, where) => {
  if (value !== null) expectShape(value, { since: 'date-time', endsAt: 'date-time', user: 'string' }, where)
}

const iso: Check = (value, where) => {
  if (value !== null) expectShape(value, { imageId: 'string', name: 'string', since: 'date-time', active: 'boolean' }, where)
}

const initialization: Check = (value, where) => {
  if (value !== null) expectShape(value, { status: 'string', seconds: 'integer or null', errors: ['string'] }, where)
}

const actionInitialization: Check = (value, where) => {
  if (value !== null)
    expectShape(value, { status: 'string', seconds: 'integer or null', errors: ['string'], output: 'string or null' }, where)
}

const vm: Shape = {
  ...vmInList,
  bandwidthUsedBytes: 'integer',
  bandwidthPackBytes: 'bytes',
  sshKeys: [{ ...named, fingerprint: 'string' }],
  firewalls: [named],
  privateNetworks: [{ ...named, ipAddress: 'string' }],
  updatedAt: 'date-time',
  // ours
  networkLimited: 'boolean',
  backupPolicy: { hour: 'integer or null', keepDaily: 'integer', keepWeekly: 'integer', keepMonthly: 'integer' },
  nextBackupAt: 'date-time or null',
  copiesPriceMonthly: 'money',
  placementGroup: namedOrNull,
  currentAction,
  allowedActions: ['string'],
  readiness: 'string',
  statusReason: 'string or null',
  initialization,
  rescue,
  iso,
  reverseName: 'string or null',
  reverseNameState: 'string or null',
  reverseNameReason: 'string or null',
  ipv6ReverseName: 'string or null',
  ipv6ReverseNameState: 'string or null',
  ipv6ReverseNameReason: 'string or null',
}

const network = {
  ...named,
  cidr: 'string',
  gateway: 'string or null',
  enableSnat: 'boolean',
  enableDhcp: 'boolean',
  region: { name: 'string', country: 'string', flag: 'string' },
  attachmentCount: 'integer',
  createdAt: 'date-time',
  updatedAt: 'date-time',
  labels, // ours
} as const satisfies Shape

const snapshot = {
  ...named,
  vmId: 'string',
  description: 'string',
  status: 'string',
  size: 'bytes',
  sizeRefreshedAt: 'date-time or null',
  createdAt: 'date-time',
  labels, // ours
} as const satisfies Shape

const action: Shape = {
  id: 'string',
  action: 'string',
  status: 'string',
  error: 'string or null',
  startedAt: 'date-time or null',
  completedAt: 'date-time or null',
  createdAt: 'date-time',
  // ours
  vmId: 'string',
  progress: 'integer',
  steps: [{ name: 'string', status: 'string', startedAt: 'date-time or null', completedAt: 'date-time or null' }],
  errorCode: 'string or null',
  addressId: 'string or null',
  imageId: 'string or null',
  volumeId: 'string or null',
  initialization: actionInitialization,
}

const sshKey = {
  ...named,
  type: 'string',
  fingerprint: 'string',
  publicKey: 'string',
  vmCount: 'integer',
  createdAt: 'date-time',
  labels,
} as const // labels: ours

const rule = {
  id: 'string',
  firewallId: 'string',
  position: 'integer',
  direction: 'string',
  action: 'string',
  protocol: 'string',
  port: 'string',
  sourceIps: ['string'],
  destIps: ['string'],
  description: 'string',
  createdAt: 'date-time',
  updatedAt: 'date-time',
} as const satisfies Shape

const region = { ...named, slug: 'string', country: 'string', city: 'string', flag: 'string', available: 'boolean' } as const

const transaction = {
  id: 'string',
  type: 'string',
  description: 'string',
  referenceType: 'string',
  referenceId: 'string',
  createdAt: 'date-time',
  amount: 'money',
  balanceAfter: 'money',
  project: namedOrNull, // ours
} as const

const usage = {
  vmId: 'string',
  vmName: 'string',
  status: 'string',
  nextRenewalAt: 'date-time',
  throttled: 'boolean',
  throttledAt: 'date-time or null',
  usedBytes: 'integer',
  packBytes: 'bytes',
  capBytes: 'bytes or null',
} as const

const webhook = {
  id: 'string',
  url: 'string',
  events: ['string'],
  isActive: 'boolean',
  description: 'string',
  failCount: 'integer',
  createdAt: 'date-time',
  updatedAt: 'date-time',
  secret: 'string',
  // ours
  disabledReason: 'string or null',
  lastSuccessAt: 'date-time or null',
  labels,
  labelSelector: 'string or null',
} as const satisfies Shape

const osTemplate = {
  ...named,
  slug: 'string',
  version: 'string',
  distribution: 'string',
  arch: 'string',
  minDisk: 'integer',
  minRam: 'integer',
  defaultUser: 'string',
  cloudInit: 'boolean',
  sizeBytes: 'bytes',
  checksum: 'string',
  available: 'boolean',
  deprecatedAt: 'date-time or null',
  createdAt: 'date-time',
  // ours
  firmware: 'string',
  tpm: 'boolean',
} as const

interface Answer {
  status: number
  data: Shape
  paged?: true
}

const started: Answer = { status: 202, data: { actionId: 'string' } }

export const SPECIFIED = {
  'POST /vms': { status: 202, data: { vm, actionId: 'string' } },
  'GET /vms': { status: 200, data: [vmInList], paged: true },
  'GET /vms/{id}': { status: 200, data: vm },
  'POST /vms/{id}/restart': started,
  'POST /vms/{id}/upgrade': started,
  'GET /vms/{id}/actions/{actionId}': { status: 200, data: action },
  'GET /vms/{vmId}/bandwidth/packs': { status: 200, data: [transaction], paged: true },
  'POST /vms/{vmId}/snapshots': { status: 202, data: { snapshot, actionId: 'string' } },
  'DELETE /vms/{vmId}/backups/{id}': { status: 200, data: { message: 'string' } },
  'GET /bandwidth': { status: 200, data: [usage] },
  'POST /networks': { status: 201, data: network },
  'DELETE /networks/{id}': { status: 200, data: { id: 'string' } },
  'GET /firewalls/{id}/rules': { status: 200, data: [rule] },
  'POST /firewalls/{id}/bindings': { status: 201, data: { firewallId: 'string', vmId: 'string' } },
  'PATCH /ssh-keys/{id}': { status: 200, data: sshKey },
  'GET /regions': { status: 200, data: [region] },
  'GET /os-templates/{slug}': { status: 200, data: osTemplate },
  'GET /wallet/transactions': { status: 200, data: [transaction], paged: true },
  'POST /webhooks': { status: 201, data: webhook },
  'DELETE /webhooks/{id}': { status: 200, data: { id: 'string' } },
  'POST /webhooks/{id}/test': { status: 200, data: { message: 'string' } },
} as const satisfies Record<string, Answer>

export type Specified = keyof typeof SPECIFIED

const LEAVES: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  'date-time': (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  money: (value) => typeof value === 'string' && /^-?\d+\.\d\d$/.test(value),
  bytes: (value) => typeof value === 'string' && /^\d+$/.test(value),
}

export function expectShape(value: unknown, shape: Shape, where: string): void {
  if (typeof shape === 'string') return expectLeaf(value, shape, where)
  if (typeof shape === 'function') return shape(value, where)
  if (Array.isArray(shape)) {
    expect(value, where).toBeInstanceOf(Array)
    return (value as unknown[]).forEach((item, index) => expectShape(item, shape[0], `${where}[${index}]`))
  }
  expect(Object.keys(value as object).sort(), `the fields of ${where}`).toEqual(Object.keys(shape).sort())
  for (const [field, inner] of Object.entries(shape)) expectShape((value as Record<string, unknown>)[field], inner, `${where}.${field}`)
}

function expectLeaf(value: unknown, leaf: Leaf, where: string): void {
  const [type, orNull] = leaf.split(' or ')
  const fits = LEAVES[type!]!(value) || (orNull !== undefined && value === null)
  expect(fits, `${where} is ${JSON.stringify(value)} and should be ${leaf}`).toBe(true)
}

export const PAGINATION: Shape = { page: 'integer', limit: 'integer', total: 'integer', totalPages: 'integer' }
