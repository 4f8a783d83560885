// What happened to a VM, newest first: its actions, and of the account's latest events those that no action stands for.
import type { Action, Event } from '@berth/sdk'
import { vmMessages, vmsMessages } from '../../words/words.ts'
import { eventSentence } from '../events/describe.ts'

export interface Happening {
  key: string
  at: string
  text: string
  tone: 'good' | 'bad' | 'busy' | 'quiet'
}

/** What others did, or what came by itself. */
const EVENTS = new Set<string>([
  'vm.renewed',
  'vm.past_due',
  'vm.suspended',
  'vm.unsuspended',
  'vm.migrated',
  'vm.recovered',
  'vm.lost',
  'vm.error',
  'vm.initialized',
  'vm.initialization_failed',
  'vm.console_opened',
  'vm.rescue_expired',
  'vm.unmanaged',
  'vm.adopted',
  'bandwidth.throttled',
  'bandwidth.unthrottled',
  'backup.failed',
  'backup.verified',
  'backup.verification_failed',
  'alert.fired',
  'alert.resolved',
])

const BAD = /past_due|suspended$|lost|error|failed|throttled$|fired|expired|unmanaged/

/** Started and stopped by the guest or its host: nobody asked for it by an action. */
const isByItself = ({ type, data }: Event): boolean =>
  (type === 'vm.stopped' || type === 'vm.started' || type === 'vm.restarted') && 'reason' in data && data.reason !== 'user'

const isOf = ({ data }: Event, vmId: string): boolean =>
  'vm' in data && typeof data.vm === 'object' && data.vm !== null && 'id' in data.vm && data.vm.id === vmId

export function happenings(vmId: string, actions: Action[], events: Event[], count = 8): Happening[] {
  const ofEvents = events
    .filter((event) => isOf(event, vmId) && (EVENTS.has(event.type) || isByItself(event)))
    .map((event): Happening => {
      const isBad = BAD.test(event.type) && event.type !== 'bandwidth.unthrottled' && event.type !== 'vm.unsuspended'
      return { key: event.cursor, at: event.timestamp, text: eventSentence(event), tone: isBad ? 'bad' : 'quiet' }
    })
  return [...actions.map(ofAction), ...ofEvents].toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, count)
}

function ofAction({ id, action, status, error, createdAt, completedAt }: Action): Happening {
  const w = vmMessages.happened
  const doing = vmsMessages.actionNames[action] ?? action
  const at = completedAt ?? createdAt
  switch (status) {
    case 'COMPLETED':
      return { key: id, at, text: w.done[action] ?? w.completed(doing), tone: 'good' }
    case 'FAILED':
      return { key: id, at, text: w.failed(doing, error ?? ''), tone: 'bad' }
    case 'CANCELLED':
      return { key: id, at, text: w.cancelled(doing), tone: 'quiet' }
    case 'PENDING':
    case 'RUNNING':
      return { key: id, at, text: `${doing} …`, tone: 'busy' }
  }
}
