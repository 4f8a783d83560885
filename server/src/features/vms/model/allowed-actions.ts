// What may be done with a VM in which state: the one table that the API refuses by and that `allowedActions` is read from.
import { apiError } from '../../../kernel/errors.ts'
import type { VmStatus } from '../schema.ts'
import type { VmDetails } from './sql.ts'

const ANY_STABLE: VmStatus[] = ['RUNNING', 'STOPPED', 'SUSPENDED', 'UNMANAGED', 'ERROR']

const ALLOWED = {
  start: ['STOPPED', 'ERROR'],
  stop: ['RUNNING'],
  restart: ['RUNNING'],
  upgrade: ['RUNNING', 'STOPPED'],
  rebuild: ['RUNNING', 'STOPPED', 'ERROR'],
  delete: ANY_STABLE,
  password: ['RUNNING'],
  snapshot: ['RUNNING', 'STOPPED'],
  restore: ['RUNNING', 'STOPPED', 'ERROR'],
  backup: ['RUNNING', 'STOPPED'],
  attach: ['RUNNING', 'STOPPED'],
  detach: ['RUNNING', 'STOPPED'],
  console: ['RUNNING'],
  suspend: ['RUNNING', 'STOPPED', 'ERROR'],
  unsuspend: ['SUSPENDED'],
} satisfies Record<string, VmStatus[]>

export type Verb = keyof typeof ALLOWED

const PROTECTED_FROM = new Set<Verb>(['delete', 'rebuild', 'restore'])
const OPERATORS_ONLY = new Set<Verb>(['suspend', 'unsuspend'])
/** Nothing of an account that is suspended is started, changed or copied. */
const DESPITE_SUSPENSION = new Set<Verb>(['stop', 'delete', 'detach', 'suspend'])
const ACCOUNT_SUSPENDED = 'This account is suspended, so nothing of it is started or changed: open a ticket to ask why'
/** A VM that never came up has nothing to start, suspend or restore into: only a rebuild or its deletion leads on. */
const NEEDS_DISK = new Set<Verb>(['start', 'restore', 'suspend'])

/** Paid for the rest of the month, so that month must be paid itself. */
const REQUIRES_PAID_PERIOD = new Set<Verb>(['upgrade'])
const UNPAID = 'The renewal of this VM is not paid: deposit what is due, it renews by itself within a minute, then try again'

type ActionSubject = Pick<VmDetails, 'status' | 'provisioned' | 'is_protected' | 'billing_status' | 'account_suspended'>

export function requireAllowed(vm: ActionSubject, verb: Verb): void {
  const objection = denialReason(vm, verb)
  if (objection) throw apiError(...objection)
}

function denialReason(vm: ActionSubject, verb: Verb): [code: 'invalid_state' | 'protected', sentence: string] | null {
  if (vm.account_suspended && !DESPITE_SUSPENSION.has(verb)) return ['invalid_state', heldBack(verb)]
  const states: VmStatus[] = ALLOWED[verb]
  if (!states.includes(vm.status)) return ['invalid_state', `VM must be ${states.join(' or ')} to ${verb}; it is ${vm.status}`]
  if (NEEDS_DISK.has(verb) && !vm.provisioned)
    return ['invalid_state', `VM never came up, so there is nothing to ${verb}: rebuild or delete it`]
  if (REQUIRES_PAID_PERIOD.has(verb) && vm.billing_status !== 'ACTIVE') return ['invalid_state', UNPAID]
  if (vm.is_protected && PROTECTED_FROM.has(verb)) return ['protected', `VM is protected against ${verb}: set isProtected to false first`]
  return null
}

const heldBack = (verb: Verb): string =>
  OPERATORS_ONLY.has(verb) ? 'The account of this VM is suspended: lift that first, which brings its VMs back' : ACCOUNT_SUSPENDED

/** What is sold for the time that is left would cost nothing when none is left. */
export function requirePaidPeriod(vm: Pick<VmDetails, 'billing_status' | 'next_renewal_at' | 'account_suspended'>, now: Date): void {
  if (vm.account_suspended) throw apiError('invalid_state', ACCOUNT_SUSPENDED)
  if (vm.billing_status !== 'ACTIVE') throw apiError('invalid_state', UNPAID)
  if (vm.next_renewal_at <= now) throw apiError('invalid_state', 'The month of this VM is over and being renewed: try again in a minute')
}

export const allowedActions = (vm: ActionSubject): Verb[] =>
  (Object.keys(ALLOWED) as Verb[]).filter((verb) => !OPERATORS_ONLY.has(verb) && denialReason(vm, verb) === null)

/** A daily backup never makes its owner wait; one that was asked for does. */
export const isPreemptible = ({ label, input }: { label: string; input: unknown }): boolean =>
  label === 'BACKUP_CREATE' && (input as { daily?: boolean }).daily === true
