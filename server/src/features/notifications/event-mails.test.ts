import { describe, expect, test } from 'vitest'
import { renderMail } from '../branding/service.ts'
import { DEFAULTS } from '../branding/skin.ts'
import { isNotified, toMailing } from './event-mails.ts'

const renderEmail = (type: string, data: unknown, recipient: string, language: string | null = null) =>
  renderMail(DEFAULTS, toMailing(type, data), recipient, language)

const vm = { id: 'cvm', name: 'web-1' }

describe('email', () => {
  test.each([
    [
      'billing.low_balance',
      { wallet: { balance: '11.99', currency: 'USD' }, dueNext7Days: '12.00' },
      'Your balance is low',
      /at least 0\.01 USD/,
    ],
    ['vm.past_due', { vm, reason: 'The wallet does not cover it' }, 'Your VM web-1 will be suspended', /could not be paid/],
    ['vm.suspended', { vm, reason: 'unpaid' }, 'Your VM web-1 is suspended', /kept for 7 days; then it is deleted/],
    ['vm.suspended', { vm, reason: 'operator' }, 'Your VM web-1 is suspended', /by the operator/],
    [
      'volume.past_due',
      { volume: { id: 'cv', name: 'data' }, reason: 'It is deleted on Monday' },
      'Your volume data will be detached, then deleted',
      /Monday\./,
    ],
    ['image.past_due', { image: { id: 'ci', name: 'golden' }, reason: null }, 'Your image golden will be deleted', /could not be paid/],
    ['address.past_due', { address: { id: 'ca', name: 'front' }, reason: null }, 'Your address front will be released', /Deposit/],
    [
      'backup.verification_failed',
      { vm, backup: { name: 'monday' }, reason: 'The guest went off' },
      'A backup of your VM web-1 cannot be restored',
      /The guest went off\.[^]*another backup/,
    ],
    [
      'vm.lost',
      { vm, reason: 'Its host was destroyed, and there was no backup of it elsewhere' },
      'Your VM web-1 is lost',
      /^Your VM web-1 \(cvm\) is lost\.\n\nIts host was destroyed, .*\.\n\nRebuild it/,
    ],
    ['volume.deleted', { volume: { id: 'cv', name: 'data' }, reason: 'It was lost' }, 'Your volume data was deleted', /It was lost\./],
    ['vm.rescue_expired', { vm, reason: null }, 'The rescue of your VM web-1 is over', /24 hours[^]*own disk is kept/],
    [
      'maintenance.announced',
      {
        maintenance: {
          id: 'cm',
          vmIds: ['cvm'],
          startsAt: '2027-03-01T22:00:00.000Z',
          endsAt: '2027-03-01T23:00:00.000Z',
          text: 'New\n<memory>',
        },
        vms: [{ id: 'cvm', name: 'web\n1' }],
      },
      'Maintenance of a host of your VMs',
      /1 of your VMs will be maintained from 2027-03-01 22:00 UTC to 2027-03-01 23:00 UTC\.[^]*VMs: web 1\n[^]*New\n\n<memory>/,
    ],
    [
      'maintenance.cancelled',
      { maintenance: { id: 'cm', startsAt: 'a', endsAt: 'b' } },
      'A maintenance does not take place',
      /was cancelled/,
    ],
    ['webhook.disabled', { webhook: { id: 'cw', url: 'https://x.example/' }, reason: 'Gone' }, 'Webhook disabled', /Gone\./],
    ['ticket.reply', { ticket: { id: 'ct', subject: 'Help' } }, 'New reply to your ticket: Help', /GET \/tickets\/ct/],
  ])('for %s states what happened and what to do', (type, data, subject, words) => {
    const letter = renderEmail(type, data, 'ada@example.com')
    expect(isNotified(type, data)).toBe(true)
    expect(letter.subject).toBe(subject)
    expect(letter.text).toMatch(words)
    expect(letter.text).toMatch(/sent to ada@example\.com/)
    expect(letter.html.match(/<p>/g)).toHaveLength(letter.text.trim().split('\n\n').length)
  })

  test('shows customer text on one line, truncated and escaped', () => {
    const name = `<img src=x onerror="alert(1)">\r\nBcc: victim@example.net\u2028\u202e${'long '.repeat(100)}`
    const { subject, text, html } = renderEmail('vm.suspended', { vm: { id: 'cvm', name }, reason: 'unpaid' }, 'ada@example.com')
    expect(subject).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
    expect(subject.length).toBeLessThan(100)
    expect(text).not.toMatch(/\r|\u202e|\nBcc/)
    expect(html).not.toContain('<img')
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt; Bcc: victim@example.net')
  })

  test('exists for the expected event types only', () => {
    expect(['vm.created', 'vm.renewed', 'ticket.closed', 'toString'].filter((type) => isNotified(type, {}))).toEqual([])
    expect([{ reason: null }].filter((data) => isNotified('volume.deleted', data))).toEqual([])
  })
})
