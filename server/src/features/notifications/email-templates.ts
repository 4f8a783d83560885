// Email templates: fixed text with a few customer values, which are kept on one line and escaped.
import { escapeHtml } from '../../http/server/html-page.ts'
import { formatCents, parseCents } from '../../kernel/money.ts'
import type { EventPayloads, EventType } from '../events/schema.ts'

export interface EmailContent {
  subject: string
  text: string
  html: string
}

interface Draft {
  subject: string
  lines: string[]
}

/** Null: that is not worth a mail. */
const TEMPLATES: { [Type in EventType]?: (data: EventPayloads[Type]) => Draft } = {
  'billing.low_balance': ({ wallet: { balance, currency }, dueNext7Days }) => ({
    subject: 'Your balance is low',
    lines: [
      `Your wallet holds ${balance} ${currency}, and the renewals of the next 7 days cost ${dueNext7Days} ${currency}.`,
      `Deposit at least ${missing(balance, dueNext7Days)} ${currency}. A VM whose renewal cannot be paid is suspended 24 hours later.`,
    ],
  }),
  'vm.past_due': ({ vm, reason }) => ({
    subject: `Your VM ${brief(vm.name)} will be suspended`,
    lines: [
      `The renewal of your VM ${line(vm.name)} (${vm.id}) could not be paid.`,
      `${sentence(reason ?? 'The wallet does not cover it')}`,
      'Deposit what is due and the VM runs on as if nothing had happened.',
    ],
  }),
  'vm.suspended': ({ vm, reason }) => ({
    subject: `Your VM ${brief(vm.name)} is suspended`,
    lines:
      reason === 'unpaid'
        ? [
            `Your VM ${line(vm.name)} (${vm.id}) is suspended, because its renewal is unpaid.`,
            'Its disk and its address are kept for 7 days; then it is deleted.',
            'Deposit what is due and it comes back by itself.',
          ]
        : [
            `Your VM ${line(vm.name)} (${vm.id}) was suspended by the operator.`,
            'Its disk and its address are kept. Open a ticket to ask why.',
          ],
  }),
  'vm.recovered': ({ vm, reason }) => ({
    subject: `Your VM ${brief(vm.name)} was restored from a backup`,
    lines: [
      `Your VM ${line(vm.name)} (${vm.id}) is on another host.`,
      `${sentence(reason ?? 'Its host was destroyed. It was restored from a backup')}`,
      'Its snapshots, and its volumes on local storage, were on the same disks and are lost. What was paid for the rest of their period was refunded.',
    ],
  }),
  'vm.lost': ({ vm, reason }) => ({
    subject: `Your VM ${brief(vm.name)} is lost`,
    lines: [
      `Your VM ${line(vm.name)} (${vm.id}) is lost.`,
      `${sentence(reason ?? 'Its host was destroyed, and there was no backup of it')}`,
      'Rebuild it to start anew with an empty disk, or delete it. Until then it costs nothing.',
    ],
  }),
  'vm.rescue_expired': ({ vm }) => ({
    subject: `The rescue of your VM ${brief(vm.name)} is over`,
    lines: [
      `Your VM ${line(vm.name)} (${vm.id}) has been in rescue for 24 hours, and is restarted from its own disk.`,
      'What you stored on the disk of the rescue system itself is lost; what you changed on its own disk is kept.',
      'If it does not start, look at its console and start it in rescue again.',
    ],
  }),
  'maintenance.announced': ({ maintenance, vms }) => ({
    subject: 'Maintenance of a host of your VMs',
    lines: [
      `A host with ${maintenance.vmIds.length} of your VMs will be maintained from ${timeOf(maintenance.startsAt)} to ${timeOf(maintenance.endsAt)}${vms ? `: ${namesOf(vms)}` : ''}.`,
      ...maintenance.text.split('\n').flatMap((each) => (each.trim() === '' ? [] : [line(each, 2_000)])),
      `You find it on the first page of the dashboard, too. If you write to us about it, call it ${maintenance.id}.`,
    ],
  }),
  'maintenance.cancelled': ({ maintenance }) => ({
    subject: 'A maintenance does not take place',
    lines: [
      `The maintenance that was announced from ${timeOf(maintenance.startsAt)} to ${timeOf(maintenance.endsAt)} (${maintenance.id}) was cancelled.`,
    ],
  }),
  'alert.fired': ({ alert, vm, value, firedAt }) => ({
    subject: `Alert: ${brief(alert.name)}${vm ? ` of ${brief(vm.name)}` : ''}`,
    lines: [
      `${vm ? `Your VM ${line(vm.name)} (${vm.id})` : 'Your account'}: ${alert.metric} is ${value}, ${alert.comparison === 'ABOVE' ? 'above' : 'below'} ${alert.threshold}, since ${firedAt}.`,
      `That is your alert ${line(alert.name)} (${alert.id}).`,
    ],
  }),
  'alert.resolved': ({ alert, vm, value, firedAt, reason }) => ({
    subject: `Over: ${brief(alert.name)}${vm ? ` of ${brief(vm.name)}` : ''}`,
    lines: [
      `The alert ${line(alert.name)} (${alert.id}) that was told at ${firedAt}${vm ? ` for your VM ${line(vm.name)} (${vm.id})` : ''} has ended.`,
      reason === null ? `${alert.metric} is ${value} again.` : sentence(reason),
    ],
  }),
  'volume.past_due': ({ volume, reason }) => unpaid('volume', volume, reason, 'be detached, then deleted'),
  'volume.deleted': ({ volume, reason }) => ({
    subject: `Your volume ${brief(volume.name)} was deleted`,
    lines: [
      `Your volume ${line(volume.name)} (${volume.id}) was deleted, with its snapshots.`,
      sentence(reason ?? ''),
      'What was paid for unused days was refunded.',
    ],
  }),
  'image.past_due': ({ image, reason }) => unpaid('image', image, reason, 'be deleted'),
  'address.past_due': ({ address, reason }) => unpaid('address', address, reason, 'be released'),
  'backup.verification_failed': ({ vm, backup, reason }) => ({
    subject: `A backup of your VM ${brief(vm.name)} cannot be restored`,
    lines: [
      `The backup ${line(backup.name)} of your VM ${line(vm.name)} was restored on trial, and that failed.`,
      ...(reason === null ? [] : [sentence(reason)]),
      'Make another backup.',
    ],
  }),
  'webhook.disabled': ({ webhook, reason }) => ({
    subject: 'Webhook disabled',
    lines: [
      `Events are no longer sent to ${line(webhook.url)} (webhook ${webhook.id}).`,
      `${sentence(reason ?? 'It has failed for too long')}`,
      'Fix the endpoint and re-enable the webhook. What happened meanwhile is in the event feed.',
    ],
  }),
  'ticket.reply': ({ ticket }) => ({
    subject: `New reply to your ticket: ${brief(ticket.subject)}`,
    lines: [`Support has answered your ticket "${line(ticket.subject)}" (${ticket.id}).`, `Read it with GET /tickets/${ticket.id}.`],
  }),
}

const unpaid = (what: string, { id, name }: { id: string; name: string }, reason: string | null, consequence: string): Draft => ({
  subject: `Your ${what} ${brief(name)} will ${consequence}`,
  lines: [
    `The renewal of your ${what} ${line(name)} (${id}) could not be paid.`,
    sentence(reason ?? 'The wallet does not cover it'),
    `Deposit what is due and the ${what} stays yours as if nothing had happened.`,
  ],
})

/** Asked in the transaction of the event, which no mail may keep from happening: so it is not drafted then. */
export const isNotified = (type: string, data: unknown): boolean => Object.hasOwn(TEMPLATES, type) && !isOwnDoing(type, data)

const isOwnDoing = (type: string, data: unknown): boolean =>
  type === 'volume.deleted' && (data as EventPayloads['volume.deleted']).reason === null

/** `data` is of an event of this type. */
export function renderEmail(type: string, data: unknown, recipient: string): EmailContent {
  const { subject, lines } = (TEMPLATES[type as EventType]! as (data: unknown) => Draft)(data)
  const paragraphs = [...lines, `This mail was sent to ${line(recipient)}, the address of your account.`]
  const html = paragraphs.map((each) => `<p>${escapeHtml(each)}</p>`).join('\n')
  return {
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${html}\n</body></html>\n`,
  }
}

function missing(balance: string, due: string): string {
  return formatCents(parseCents(due) - parseCents(balance))
}

/** Removes line breaks, control characters and bidirectional marks. */
const line = (text: string, longest = 200): string =>
  cut(
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
      .replace(/ {2,}/g, ' ')
      .trim(),
    longest,
  )

const brief = (text: string): string => line(text, 60)

function cut(text: string, longest: number): string {
  const characters = Array.from(text)
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`
}

/** Without the reader's time zone, which nobody knows. */
const timeOf = (timestamp: string): string => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`

const MOST_NAMES = 20

function namesOf(vms: { name: string }[]): string {
  const names = vms.slice(0, MOST_NAMES).map(({ name }) => line(name))
  return vms.length > MOST_NAMES ? `${names.join(', ')} and ${vms.length - MOST_NAMES} more` : names.join(', ')
}

const sentence = (text: string): string => line(text, 400).replace(/\.?$/, '.')
