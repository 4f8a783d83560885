import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { headerOf, headersOf, smtpServer } from '../../../test/smtp-server.ts'
import { openMailer, type Mail, type MailerOptions } from './smtp.ts'

const MAIL: Mail = {
  messageId: 'cmail1@example.com',
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'Plain\n.\nend\n',
  html: '<p>Plain</p>',
  date: new Date('2026-01-31T12:00:00Z'),
}

function mailer(options: Partial<MailerOptions> & { url: string }) {
  const opened = openMailer({ from: 'Berth <noreply@example.com>', ...options })
  afterAll(() => opened.close())
  return opened
}
const outcomeOf = (sending: Promise<void>) =>
  sending.then(
    () => 'sent',
    ({ isFinal, isServer }: { isFinal: boolean; isServer: boolean }) => ({ isFinal, isServer }),
  )

describe('an email', () => {
  test('is delivered as text and HTML with its Message-ID', async () => {
    const server = await smtpServer()
    await mailer({ url: server.url() }).send(MAIL)
    const [mail] = server.received
    expect(mail).toMatchObject({ from: 'noreply@example.com', to: ['ada@example.com'], isEncrypted: false })
    expect(headerOf(mail!, 'message-id')).toBe('<cmail1@example.com>')
    expect(headerOf(mail!, 'from')).toBe('Berth <noreply@example.com>')
    expect(headerOf(mail!, 'auto-submitted')).toBe('auto-generated')
    expect(headerOf(mail!, 'date')).toContain('31 Jan 2026')
    expect(headerOf(mail!, 'content-type')).toMatch(/^multipart\/alternative/)
    expect(mail!.data).toContain('Plain\r\n.\r\nend')
  })

  test.each([
    ['subject', { subject: 'Hi\r\nBcc: victim@example.net\r\n\r\nbody' }],
    ['list of recipients', { to: 'ada@example.com,victim@example.net' }],
    ['recipient with brackets', { to: 'ada@example.com>,<victim@example.net' }],
    ['recipient with a line break', { to: 'ada@example.com\r\nBcc: victim@example.net' }],
    ['recipient with a command', { to: 'ada@example.com>\r\nRCPT TO:<victim@example.net' }],
  ])('reaches no other recipient through its %s', async (_, change) => {
    const server = await smtpServer()
    const outcome = await outcomeOf(mailer({ url: server.url() }).send({ ...MAIL, ...change }))
    expect(outcome).toEqual('to' in change ? { isFinal: true, isServer: false } : 'sent')
    const asked = server.commands.filter((each) => /^RCPT TO:<?victim@example\.net>?$/i.test(each))
    expect([asked, server.received.flatMap(({ to }) => to).filter((to) => to === 'victim@example.net')]).toEqual([[], []])
    for (const mail of server.received) expect(headersOf(mail).filter((each) => /^bcc:/i.test(each))).toEqual([])
  })
})

describe('an SMTP error', async () => {
  const server = await smtpServer()
  test.each([
    ['this recipient, for good', { RCPT: '550 No such user' }, { isFinal: true, isServer: false }],
    ['this recipient, for now', { RCPT: '450 Mailbox busy' }, { isFinal: false, isServer: false }],
    ['this text, for good', { END: '554 Looks like spam' }, { isFinal: true, isServer: false }],
    ['this text, for now', { END: '451 Try again' }, { isFinal: false, isServer: false }],
    ['the sender', { MAIL: '550 You may not send' }, { isFinal: false, isServer: true }],
    ['everybody', { GREETING: '554 Go away' }, { isFinal: false, isServer: true }],
    ['everybody, in the middle', { RCPT: '421 Shutting down' }, { isFinal: false, isServer: true }],
    ['by cutting the connection', { DATA: null }, { isFinal: false, isServer: true }],
  ])('for %s is classified', async (_, answers, expected) => {
    server.answer(answers)
    const sender = mailer({ url: server.url() })
    expect(await outcomeOf(sender.send(MAIL))).toEqual(expected)
    server.answer({})
    expect(await outcomeOf(sender.send(MAIL))).toBe('sent')
  })

  test('of an unreachable or unresponsive server is classified', async () => {
    const hanging = await smtpServer()
    hanging.answer({ MAIL: '' })
    const slow = mailer({ url: hanging.url(), timeoutMs: 300 })
    expect(await outcomeOf(slow.send(MAIL))).toEqual({ isFinal: false, isServer: true })
    hanging.answer({})
    expect(await outcomeOf(slow.send(MAIL))).toBe('sent')
    await hanging.stop()
    expect(await outcomeOf(slow.send(MAIL))).toEqual({ isFinal: false, isServer: true })
    await hanging.start()
    expect(await outcomeOf(slow.send(MAIL))).toBe('sent')
  })
})

describe('TLS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-smtp-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2', '-nodes']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...names], { stdio: 'ignore' })
  const certificate = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  const user = { name: 'berth', password: 'p@ss:word' }
  const login = 'berth:p%40ss%3Aword@'

  test('is used when the server offers it, before the password is sent', async () => {
    const server = await smtpServer({ certificate, user })
    await mailer({ url: server.url(login), tls: { ca: certificate.cert } }).send(MAIL)
    expect(server.received).toMatchObject([{ isEncrypted: true }])
    const verbs = server.commands.map((each) => each.split(' ')[0])
    expect(verbs.indexOf('STARTTLS')).toBeLessThan(verbs.indexOf('AUTH'))
  })

  test('rejects a server with an untrusted certificate', async () => {
    const server = await smtpServer({ certificate, user })
    expect(await outcomeOf(mailer({ url: server.url(login) }).send(MAIL))).toEqual({ isFinal: false, isServer: true })
    expect(server.commands.filter((each) => each.startsWith('AUTH'))).toEqual([])
  })

  test('a wrong password does not fail the email for good', async () => {
    const server = await smtpServer({ user })
    expect(await outcomeOf(mailer({ url: server.url('berth:wrong@') }).send(MAIL))).toEqual({ isFinal: false, isServer: true })
    expect(await outcomeOf(mailer({ url: server.url(login) }).send(MAIL))).toBe('sent')
  })
})

test.each([
  ['http://mail.example.com', 'a@b.c', 'BERTH_SMTP_URL must be like'],
  ['mail.example.com:25', 'a@b.c', 'BERTH_SMTP_URL must be like'],
  ['smtp://user:hunter2@', 'a@b.c', 'BERTH_SMTP_URL must be like'],
  ['smtp://localhost', 'nobody', 'BERTH_MAIL_FROM must be like'],
  ['smtp://localhost', 'A <a@b.c>, B <b@b.c>', 'BERTH_MAIL_FROM must be like'],
  ['smtp://localhost', 'A\r\nBcc: x <a@b.c>', 'BERTH_MAIL_FROM must be like'],
])('%s from %j is rejected without showing the password', (url, from, sentence) => {
  expect(() => openMailer({ url, from })).toThrow(sentence)
  expect(() => openMailer({ url, from })).not.toThrow('hunter2')
})
