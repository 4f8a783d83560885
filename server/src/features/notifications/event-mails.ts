// Which events are worth a mail, and what it says. Values of customers are kept on one line.
import { formatCents, parseCents } from '../../kernel/money.ts'
import { line, sentence } from '../branding/service.ts'
import type { Mailing } from '../branding/mails.schema.ts'
import type { EventPayloads, EventType } from '../events/schema.ts'

const MAILS: { [Type in EventType]?: (data: EventPayloads[Type]) => Mailing } = {
  'billing.low_balance': ({ wallet: { balance, currency }, dueNext7Days }) => ({
    kind: 'billing.low_balance',
    values: { balance, currency, due: dueNext7Days, missing: formatCents(parseCents(dueNext7Days) - parseCents(balance)) },
  }),
  'vm.past_due': ({ vm, reason }) => ({
    kind: 'vm.past_due',
    values: { ...vmOf(vm), reason: sentence(reason ?? 'The wallet does not cover it') },
  }),
  'vm.suspended': ({ vm, reason }) => ({ kind: reason === 'unpaid' ? 'vm.suspended_unpaid' : 'vm.suspended', values: vmOf(vm) }),
  'vm.recovered': ({ vm, reason }) => ({
    kind: 'vm.recovered',
    values: { ...vmOf(vm), reason: sentence(reason ?? 'Its host was destroyed. It was restored from a backup') },
  }),
  'vm.lost': ({ vm, reason }) => ({
    kind: 'vm.lost',
    values: { ...vmOf(vm), reason: sentence(reason ?? 'Its host was destroyed, and there was no backup of it') },
  }),
  'vm.rescue_expired': ({ vm }) => ({ kind: 'vm.rescue_expired', values: vmOf(vm) }),
  'maintenance.announced': ({ maintenance, vms }) => ({
    kind: 'maintenance.announced',
    values: {
      ...timesOf(maintenance),
      count: String(maintenance.vmIds.length),
      vms: vms ? namesOf(vms) : '',
      text: maintenance.text
        .split('\n')
        .filter((each) => each.trim() !== '')
        .map((each) => line(each, 2_000))
        .join('\n\n'),
    },
  }),
  'maintenance.cancelled': ({ maintenance }) => ({ kind: 'maintenance.cancelled', values: timesOf(maintenance) }),
  'alert.fired': ({ alert, vm, value, firedAt }) => ({
    kind: 'alert.fired',
    values: {
      ...alertOf(alert, vm),
      value: String(value),
      comparison: alert.comparison === 'ABOVE' ? '>' : '<',
      threshold: String(alert.threshold),
      since: timeOf(firedAt),
    },
  }),
  'alert.resolved': ({ alert, vm, value, firedAt, reason }) => ({
    kind: 'alert.resolved',
    values: {
      ...alertOf(alert, vm),
      value: reason === null ? String(value) : '',
      since: timeOf(firedAt),
      reason: reason === null ? '' : sentence(reason),
    },
  }),
  'volume.past_due': ({ volume, reason }) => ({ kind: 'volume.past_due', values: unpaid(volume, reason) }),
  'volume.deleted': ({ volume, reason }) => ({ kind: 'volume.deleted', values: { ...named(volume), reason: sentence(reason ?? '') } }),
  'image.past_due': ({ image, reason }) => ({ kind: 'image.past_due', values: unpaid(image, reason) }),
  'address.past_due': ({ address, reason }) => ({ kind: 'address.past_due', values: unpaid(address, reason) }),
  'backup.verification_failed': ({ vm, backup, reason }) => ({
    kind: 'backup.verification_failed',
    values: { vm: line(vm.name), backup: line(backup.name), reason: reason === null ? '' : sentence(reason) },
  }),
  'webhook.disabled': ({ webhook, reason }) => ({
    kind: 'webhook.disabled',
    values: { url: line(webhook.url), id: webhook.id, reason: sentence(reason ?? 'It has failed for too long') },
  }),
  'ticket.reply': ({ ticket }) => ({ kind: 'ticket.reply', values: { ticket: line(ticket.subject), id: ticket.id } }),
}

interface Named {
  id: string
  name: string
}

const named = ({ id, name }: Named): Named => ({ id, name: line(name) })

const vmOf = ({ id, name }: Named): { vm: string; id: string } => ({ vm: line(name), id })

const unpaid = (what: Named, reason: string | null): Named & { reason: string } => ({
  ...named(what),
  reason: sentence(reason ?? 'The wallet does not cover it'),
})

const timesOf = ({ id, startsAt, endsAt }: { id: string; startsAt: string; endsAt: string }) => ({
  id,
  start: timeOf(startsAt),
  end: timeOf(endsAt),
})

/** Of an account where there is no VM. */
const alertOf = (alert: Named & { metric: string }, vm: Named | null) => ({
  alert: vm ? `${line(alert.name, 60)} (${line(vm.name, 60)})` : line(alert.name),
  alertId: alert.id,
  metric: alert.metric,
  vm: vm ? line(vm.name) : '',
  id: vm?.id ?? '',
})

/** Asked in the transaction of the event, which no mail may keep from happening: so it is not written then. */
export const isNotified = (type: string, data: unknown): boolean => Object.hasOwn(MAILS, type) && !isOwnDoing(type, data)

const isOwnDoing = (type: string, data: unknown): boolean =>
  type === 'volume.deleted' && (data as EventPayloads['volume.deleted']).reason === null

/** `data` is of an event of this type. */
export const toMailing = (type: string, data: unknown): Mailing => (MAILS[type as EventType]! as (data: unknown) => Mailing)(data)

/** Without the reader's time zone, which nobody knows. */
const timeOf = (timestamp: string): string => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`

const MOST_NAMES = 20

function namesOf(vms: { name: string }[]): string {
  const names = vms.slice(0, MOST_NAMES).map(({ name }) => line(name))
  return vms.length > MOST_NAMES ? `${names.join(', ')}, … (+${vms.length - MOST_NAMES})` : names.join(', ')
}
