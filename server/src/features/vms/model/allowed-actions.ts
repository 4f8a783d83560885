// The table of actions allowed per VM state. The API rejects by it, and `allowedActions` is derived from it.
import { apiError } from '../../../kernel/errors.ts'
import type { VmStatus } from '../schema.ts'
import type { VmDetails } from './sql.ts'

const ANY_STABLE: VmStatus[] = ['RUNNING', 'STOPPED', 'SUSPENDED', 'UNMANAGED', 'ERROR']

const ALLOWED = {
  start: ['STOPPED', 'ERROR'],
  stop: ['RUNNING'],
  restart: ['RUNNING'],
  upgrade: ['RUNNING', 'STOPPED'],
  resize: ['RUNNING', 'STOPPED'],
  rebuild: ['RUNNING', 'STOPPED', 'ERROR'],
  delete: ANY_STABLE,
  password: ['RUNNING'],
  snapshot: ['RUNNING', 'STOPPED'],
  restore: ['RUNNING', 'STOPPED', 'ERROR'],
  backup: ['RUNNING', 'STOPPED'],
  attach: ['RUNNING', 'STOPPED'],
  detach: ['RUNNING', 'STOPPED'],
  grow: ['RUNNING', 'STOPPED'],
  console: ['RUNNING'],
  suspend: ['RUNNING', 'STOPPED', 'ERROR'],
  unsuspend: ['SUSPENDED'],
  migrate: ['RUNNING', 'STOPPED', 'SUSPENDED'],
  shelve: ['RUNNING', 'STOPPED'],
  unshelve: ['STOPPED'],
  rescue: ['RUNNING', 'STOPPED', 'ERROR'],
  unrescue: ['RUNNING', 'STOPPED', 'ERROR'],
  attachIso: ['RUNNING', 'STOPPED'],
  detachIso: ['RUNNING', 'STOPPED', 'ERROR'],
} satisfies Record<string, VmStatus[]>

export type Verb = keyof typeof ALLOWED

const PHRASES: Partial<Record<Verb, string>> = {
  grow: 'grow its volume',
  unrescue: 'end its rescue',
  attachIso: 'attach an ISO image',
  detachIso: 'detach its ISO image',
}

const PROTECTED_FROM = new Set<Verb>(['delete', 'rebuild', 'restore'])
const OPERATORS_ONLY = new Set<Verb>(['suspend', 'unsuspend', 'migrate'])
/** The only actions allowed while the account is suspended, or the VM is about to be. */
const DESPITE_SUSPENSION = new Set<Verb>(['stop', 'delete', 'suspend', 'migrate'])
const ACCOUNT_SUSPENDED = 'This account is suspended, so nothing of it is started or changed: open a ticket to ask why'
/** A VM that failed to provision has no disk, so only rebuild and delete are allowed. */
const NEEDS_DISK = new Set<Verb>(['start', 'restore', 'suspend', 'rescue'])

/** Prorated for the rest of the period, so the period itself must be paid. */
const REQUIRES_PAID_PERIOD = new Set<Verb>(['upgrade', 'resize', 'shelve', 'unshelve'])
const UNPAID = 'The renewal of this VM is not paid: deposit what is due, it renews by itself within a minute, then try again'

const HELD = {
  UNPAID:
    'The renewal of this VM is not paid and its grace period is over, so it is being suspended: deposit what is due, it renews by itself within a minute, then try again',
  SUSPEND: 'The operator is suspending this VM: contact support',
  UNMANAGE: 'The operator is taking this VM out of management: contact support',
}

/** The status reason of a VM that its host paused in a write to a full disk. */
export const OUT_OF_SPACE = 'Paused because the disk of its host is full. Resumes automatically once there is space; no data is lost'
/** Undoing a failed one would power the guest off, with what it has not written yet. One that is paused cannot be migrated. */
const LEAVES_PAUSED = new Set<Verb>(['start', 'upgrade', 'resize', 'migrate', 'shelve', 'rescue', 'unrescue'])

/** The only actions of a VM that is on no host. */
const OF_SHELVED = new Set<Verb>(['unshelve', 'delete', 'suspend', 'unsuspend'])
/**
 * What is done to the VM's own system, or to the machine as a whole. The others do not notice which system runs: it is started and stopped, copies are made
 * of its own disk, and volumes and networks come and go.
 */
const NOT_IN_RESCUE = new Set<Verb>(['upgrade', 'resize', 'rebuild', 'restore', 'password', 'migrate', 'shelve', 'rescue', 'attachIso'])
const RESCUED = 'VM is in rescue: end that first'

/** Its own system would have to answer on a new disk, or the VM leaves the host that has the file. */
const NOT_WITH_ISO = new Set<Verb>(['rebuild', 'restore', 'shelve', 'attachIso'])
const ISO_ATTACHED = 'VM has an ISO image attached: detach it first'

export const SHELVED = 'VM is shelved: unshelve it first'

type ActionSubject = Pick<
  VmDetails,
  | 'status'
  | 'status_reason'
  | 'provisioned'
  | 'is_protected'
  | 'billing_status'
  | 'account_suspended'
  | 'pending_hold'
  | 'shelved_at'
  | 'in_rescue'
  | 'has_iso'
>

export function requireAllowed(vm: ActionSubject, verb: Verb): void {
  const objection = denialReason(vm, verb)
  if (objection) throw apiError(...objection)
}

function denialReason(vm: ActionSubject, verb: Verb): [code: 'invalid_state' | 'protected', sentence: string] | null {
  if (vm.account_suspended && !DESPITE_SUSPENSION.has(verb)) return ['invalid_state', heldBack(verb)]
  if (vm.pending_hold && !DESPITE_SUSPENSION.has(verb)) return ['invalid_state', HELD[vm.pending_hold]]
  if (vm.shelved_at !== null && !OF_SHELVED.has(verb)) return ['invalid_state', SHELVED]
  if (vm.shelved_at === null && verb === 'unshelve') return ['invalid_state', 'VM is not shelved']
  if (vm.in_rescue && NOT_IN_RESCUE.has(verb)) return ['invalid_state', RESCUED]
  if (!vm.in_rescue && verb === 'unrescue') return ['invalid_state', 'VM is not in rescue']
  if (vm.has_iso && NOT_WITH_ISO.has(verb)) return ['invalid_state', ISO_ATTACHED]
  if (!vm.has_iso && verb === 'detachIso') return ['invalid_state', 'VM has no ISO image attached']
  const states: VmStatus[] = ALLOWED[verb]
  if (!states.includes(vm.status))
    return ['invalid_state', `VM must be ${states.join(' or ')} to ${PHRASES[verb] ?? verb}; it is ${vm.status}`]
  if (vm.status_reason === OUT_OF_SPACE && LEAVES_PAUSED.has(verb)) return ['invalid_state', OUT_OF_SPACE]
  if (NEEDS_DISK.has(verb) && !vm.provisioned)
    return ['invalid_state', `VM has no disk, so there is nothing to ${verb}: rebuild or delete it`]
  if (REQUIRES_PAID_PERIOD.has(verb) && vm.billing_status !== 'ACTIVE') return ['invalid_state', UNPAID]
  if (vm.is_protected && PROTECTED_FROM.has(verb)) return ['protected', `VM is protected against ${verb}: set isProtected to false first`]
  return null
}

/** Of one that its owner does not ask for: a guest that waits for room loses nothing by it, and what is held back is not started. */
export function findUnrescueObstacle({ status, status_reason, account_suspended, pending_hold }: ActionSubject): string | null {
  if (status_reason === OUT_OF_SPACE) return OUT_OF_SPACE
  return status === 'ERROR' && (account_suspended || pending_hold !== null) ? heldBack('migrate') : null
}

const heldBack = (verb: Verb): string =>
  OPERATORS_ONLY.has(verb) ? 'The account of this VM is suspended: lift that first, which brings its VMs back' : ACCOUNT_SUSPENDED

/** Prorated prices would be zero after the period has ended, so the period must be paid and running. */
export function requirePaidPeriod(vm: Pick<VmDetails, 'billing_status' | 'next_renewal_at' | 'account_suspended'>, now: Date): void {
  if (vm.account_suspended) throw apiError('invalid_state', ACCOUNT_SUSPENDED)
  if (vm.billing_status !== 'ACTIVE') throw apiError('invalid_state', UNPAID)
  if (vm.next_renewal_at <= now) throw apiError('invalid_state', 'The month of this VM is over and being renewed: try again in a minute')
}

/** For what is allowed in every state, and as often as one likes: a VM that is never idle would be neither suspended nor deleted. */
export function requireNotHeld({ pending_hold, billing_status }: Pick<VmDetails, 'pending_hold' | 'billing_status'>): void {
  if (pending_hold) throw apiError('invalid_state', HELD[pending_hold])
  if (billing_status === 'SUSPENDED') throw apiError('invalid_state', UNPAID)
}

export const allowedActions = (vm: ActionSubject): Verb[] =>
  (Object.keys(ALLOWED) as Verb[]).filter((verb) => !OPERATORS_ONLY.has(verb) && denialReason(vm, verb) === null)

/** A daily backup yields to any action of the owner; a requested backup does not. */
export const isPreemptible = ({ label, input }: { label: string; input: unknown }): boolean =>
  label === 'BACKUP_CREATE' && (input as { daily?: boolean }).daily === true
