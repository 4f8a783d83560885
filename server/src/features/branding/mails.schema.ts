// The kinds of mails, and what their texts may name in braces, with an example of each for previews.
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

const VM = { vm: 'web-1', id: 'cm4s2exampleid' }
const LINK = { link: 'https://cloud.example.com/confirm#lnk_example' }
const IDENTITY = { provider: 'Example Inc.', account: 'ada@example.com', ...LINK }
const TIMES = { start: '2027-03-01 22:00 UTC', end: '2027-03-01 23:00 UTC' }
const ALERT = { ...VM, alert: 'CPU is busy (web-1)', alertId: 'cm4s2examplealert', metric: 'cpu_percent', value: '97' }
const UNPAID = { name: 'data', id: 'cm4s2exampleid', reason: 'The wallet does not cover it.' }

export const MAILS = {
  'billing.low_balance': { balance: '11.99', due: '12.00', missing: '0.01', currency: 'EUR' },
  'vm.past_due': { ...VM, reason: 'The wallet does not cover its renewal.' },
  'vm.suspended_unpaid': VM,
  'vm.suspended': VM,
  'vm.recovered': { ...VM, reason: 'Its host was destroyed. It was restored from a backup.' },
  'vm.lost': { ...VM, reason: 'Its host was destroyed, and there was no backup of it.' },
  'vm.rescue_expired': VM,
  'volume.past_due': UNPAID,
  'volume.deleted': { ...UNPAID, reason: 'It was unpaid for too long.' },
  'image.past_due': UNPAID,
  'address.past_due': UNPAID,
  'maintenance.announced': { ...TIMES, count: '2', vms: 'web-1, web-2', text: 'The host gets new memory.', id: 'cm4s2exampleid' },
  'maintenance.cancelled': { ...TIMES, id: 'cm4s2exampleid' },
  'alert.fired': { ...ALERT, comparison: '>', threshold: '90', since: '2027-03-01 22:00 UTC' },
  'alert.resolved': { ...ALERT, since: '2027-03-01 22:00 UTC', reason: '' },
  'backup.verification_failed': { vm: 'web-1', backup: 'monday', reason: 'The guest went off.' },
  'webhook.disabled': { url: 'https://example.com/hook', id: 'cm4s2exampleid', reason: 'It has failed for too long.' },
  'ticket.reply': { ticket: 'My VM is slow', id: 'cm4s2exampleid' },
  password_reset: { identities: '', ...LINK },
  sign_up: LINK,
  sign_up_exists: LINK,
  invitation: { inviter: 'grace@example.com', account: 'Example Inc.', role: 'admin', until: '2027-03-01', ...LINK },
  identity_linked: IDENTITY,
  identity_unlinked: IDENTITY,
  identity_removed: IDENTITY,
  identity_removed_last: IDENTITY,
} satisfies Record<string, Record<string, string>>

export type MailKind = keyof typeof MAILS
export const MAIL_KINDS = Object.keys(MAILS) as MailKind[]

/** What a mail of a kind says, as text. */
export type MailValues<Kind extends MailKind> = { [Name in keyof (typeof MAILS)[Kind]]: string }
/** `{ kind, values }`, of any kind. */
export type Mailing = { [Kind in MailKind]: { kind: Kind; values: MailValues<Kind> } }[MailKind]

export interface MailText {
  subject: string
  /** Paragraphs with an empty line between them. */
  body: string
}

export type MailTexts = Record<MailKind, MailText>

/** In every mail. */
const EVERYWHERE = ['product', 'recipient']

export const placeholdersOf = (kind: MailKind): string[] => [...Object.keys(MAILS[kind]), ...EVERYWHERE]
