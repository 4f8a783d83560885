// Columns and fields that several resources print.
import {
  isRenewed,
  type Action,
  type Address,
  type CreateQuote,
  type Quote,
  type ResizeQuote,
  type Transaction,
  type Vm,
  type VmListItem,
} from '@berth/sdk'
import { bytes, labelText, mebibytes, time } from './format.ts'
import { details, type Columns, type CommandResult } from './result.ts'

/** Of a VM's own address or a floating one. */
export const reverseNameState = (of: Pick<Address, 'reverseNameState' | 'reverseNameReason'>): string | null =>
  of.reverseNameReason === null ? of.reverseNameState : `${of.reverseNameState} (${of.reverseNameReason})`

const backupPolicy = ({ hour, keepDaily, keepWeekly, keepMonthly }: Vm['backupPolicy']): string =>
  [
    hour === null ? 'at night' : `at ${hour} UTC`,
    `${keepDaily} kept`,
    ...(keepWeekly > 0 ? [`${keepWeekly} weekly`] : []),
    ...(keepMonthly > 0 ? [`${keepMonthly} monthly`] : []),
  ].join(', ')

export const VM_FIELDS: Columns<Vm> = {
  Name: (vm) => vm.name,
  Id: (vm) => vm.id,
  Status: (vm) => vm.status,
  Reason: (vm) => vm.statusReason ?? undefined,
  Initialization: (vm) => initialization(vm.initialization) ?? undefined,
  'Initialization errors': (vm) => (vm.initialization?.errors.length ? vm.initialization.errors : undefined),
  Shelved: (vm) => (vm.shelvedAt === null ? undefined : time(vm.shelvedAt)),
  Rescue: (vm) => (vm.rescue === null ? undefined : `log in as ${vm.rescue.user}; ends ${time(vm.rescue.endsAt)}`),
  'ISO image': (vm) => (vm.iso === null ? undefined : `${vm.iso.name}${vm.iso.active ? '' : ', from the next start or restart on'}`),
  'In progress': (vm) => (vm.currentAction ? `${vm.currentAction.action} ${vm.currentAction.progress} %` : undefined),
  Address: (vm) => vm.ipAddress,
  'IPv6 address': (vm) => (vm.ipv6Prefix ? `${vm.ipv6Address} of ${vm.ipv6Prefix}` : (vm.ipv6Address ?? undefined)),
  'Reverse name': (vm) => vm.reverseName ?? undefined,
  'Reverse name state': (vm) => reverseNameState(vm) ?? undefined,
  'IPv6 reverse name': (vm) => vm.ipv6ReverseName ?? undefined,
  'IPv6 reverse name state': (vm) =>
    reverseNameState({ reverseNameState: vm.ipv6ReverseNameState, reverseNameReason: vm.ipv6ReverseNameReason }) ?? undefined,
  Hostname: (vm) => vm.hostname,
  Size: (vm) => `${vm.vcpu} ${vm.dedicatedCpu ? 'dedicated ' : ''}vCPU, ${mebibytes(vm.ram)} RAM, ${vm.disk} GiB disk`,
  Plan: (vm) => `${vm.plan.slug}, ${vm.plan.priceMonthly} per month`,
  OS: (vm) => vm.osTemplate.name,
  Region: (vm) => vm.region.slug,
  Traffic: (vm) => `${bytes(vm.bandwidthUsedBytes)}${vm.bandwidth === 0 ? ', unmetered' : ` of ${vm.bandwidth} GB`}`,
  Keys: (vm) => vm.sshKeys.map(({ name }) => name),
  Firewalls: (vm) => vm.firewalls.map(({ name }) => name),
  'Placement group': (vm) => vm.placementGroup?.name,
  Networks: (vm) => vm.privateNetworks.map(({ name, ipAddress }) => `${name} ${ipAddress}`),
  'Daily backups': (vm) => (vm.dailyBackupEnabled ? backupPolicy(vm.backupPolicy) : false),
  'Next backup': (vm) => (vm.nextBackupAt === null ? undefined : time(vm.nextBackupAt)),
  Labels: ({ labels }) => labelText(labels) || undefined,
  Protected: (vm) => vm.isProtected,
  Renews: (vm) => (isRenewed(vm) ? `${time(vm.billing.nextRenewalAt)} for ${vm.billing.priceMonthly}` : null),
  Created: (vm) => time(vm.createdAt),
}

/** What came of user data. */
export const initialization = (of: Vm['initialization']): string | null =>
  of && `${of.status}${of.seconds === null ? '' : ` after ${of.seconds} s`}`

export const ACTION_COLUMNS: Columns<Action> = {
  ID: (action) => action.id,
  VM: (action) => action.vmId,
  ACTION: (action) => action.action,
  STATUS: (action) => action.status,
  PROGRESS: (action) => `${action.progress} %`,
  STARTED: (action) => time(action.startedAt),
  ERROR: (action) => action.error,
}

export const TRANSACTION_COLUMNS: Columns<Transaction> = {
  TIME: (entry) => time(entry.createdAt),
  TYPE: (entry) => entry.type,
  AMOUNT: (entry) => entry.amount,
  BALANCE: (entry) => entry.balanceAfter,
  PROJECT: (entry) => entry.project?.name,
  DESCRIPTION: (entry) => entry.description,
  FOR: (entry) => entry.referenceId,
}

export const VM_COLUMNS: Columns<VmListItem> = {
  NAME: (vm) => vm.name,
  STATUS: (vm) =>
    vm.shelvedAt !== null ? `${vm.status}, shelved` : vm.hostUnreachableSince === null ? vm.status : `${vm.status}, host unreachable`,
  ADDRESS: (vm) => vm.ipAddress ?? vm.ipv6Address,
  PLAN: (vm) => vm.plan.slug,
  // The slug of an own image is its id.
  OS: ({ osTemplate: { slug, name } }) => (slug.startsWith('image-') ? name : slug),
  REGION: (vm) => vm.region.slug,
  RENEWS: (vm) => (isRenewed(vm) ? time(vm.billing.nextRenewalAt) : null),
}

export const quoteDetails = (quote: Quote & Partial<ResizeQuote & CreateQuote>): CommandResult =>
  details(
    quote,
    {
      'Due today': ({ charge, currency }) => (charge.startsWith('-') ? undefined : `${charge} ${currency}`),
      Refund: ({ charge, currency }) => (charge.startsWith('-') ? `${charge.slice(1)} ${currency}` : undefined),
      'Monthly price': ({ monthly, currency }) => `${monthly} ${currency}`,
      'Balance after': ({ balanceAfter, currency }) => (balanceAfter === null ? undefined : `${balanceAfter} ${currency}`),
      Restarts: ({ restarts }) => restarts,
      Taken: ({ alternative }) => (typeof alternative === 'number' ? `alternative ${alternative + 1}` : undefined),
    },
    ({ charge }: { charge?: string }) => charge ?? '',
  )

export const isFree = ({ charge }: Quote): boolean => Number(charge) === 0

/** Nothing in a project, whose members do not see the wallet. */
export const balanceText = ({ balanceAfter, currency }: Pick<Quote, 'balanceAfter' | 'currency'>, link: string): string =>
  balanceAfter === null ? '' : `${link} the balance is ${balanceAfter} ${currency} afterwards`

/** As part of a question. */
export function priceOf({ charge, monthly, balanceAfter, currency }: Quote): string {
  const due = charge.startsWith('-') ? `refunds ${charge.slice(1)} ${currency}` : `charges ${charge} ${currency} now`
  return `${due}${monthly === undefined ? '' : `, then ${monthly} ${currency} a month`}${balanceText({ balanceAfter, currency }, ';')}.`
}
