import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { answer, receiver } from '../../../test/receiver.ts'
import { headerOf, headersOf, smtpServer } from '../../../test/smtp-server.ts'
import { sql } from '../../kernel/database/db.ts'
import { lowBalance } from '../billing/low-balance.reconciler.ts'
import { closeTicket, replyAsStaff } from '../support/staff.ts'
import { suspendByOperator } from '../vms/service.ts'
import { deliverAllDue } from '../webhooks/deliver.reconciler.ts'
import { pruneMails, sendMails } from './send.reconciler.ts'

interface MailRow {
  status: string
  attempts: number
  error: string | null
  message_id: string | null
}

const server = await smtpServer()
const app = await testApp({
  environment: {
    BERTH_SMTP_URL: server.url(),
    BERTH_MAIL_FROM: 'Example Cloud <noreply@cloud.example>',
    BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
  },
})
type Customer = Awaited<ReturnType<typeof app.given.customer>>

const send = () => sendMails.runOnce(app.deps)
const mailsOf = (customer: Customer, from = app) =>
  from.db.many<MailRow>(sql`select status, attempts, error, message_id from emails where account_id = ${customer.accountId} order by id`)
const receivedBy = (customer: Customer) => server.received.filter(({ to }) => to.includes(customer.email))
const subjectsOf = (customer: Customer) => receivedBy(customer).map((mail) => headerOf(mail, 'subject') ?? '')

async function answered(customer: Customer, subject = 'Help'): Promise<string> {
  const { id } = (await customer.post('/tickets', { subject, body: 'Please' })).body.data
  await app.db.tx((tx) => replyAsStaff(tx, app.deps, id, 'Here you are'))
  return id
}

describe('a customer gets an email', () => {
  test('for a reply to a ticket, once, and none for its closing', async () => {
    const customer = await app.given.customer()
    const id = await answered(customer)
    await app.db.tx((tx) => closeTicket(tx, app.deps, id))
    await send()
    await send()
    expect(subjectsOf(customer)).toEqual(['New reply to your ticket: Help'])
    const [mail] = receivedBy(customer)
    expect(headerOf(mail!, 'from')).toBe('Example Cloud <noreply@cloud.example>')
    expect(headerOf(mail!, 'to')).toBe(customer.email)
    expect(headerOf(mail!, 'message-id')).toMatch(/^<c[0-9a-z]{24}@cloud\.example>$/)
    expect(await mailsOf(customer)).toMatchObject([{ status: 'SENT', attempts: 1, error: null }])
  })

  test('for low balance, grace period and suspension', async () => {
    const { turn, toRenewal } = await billingFixture(app)
    const customer = await app.given.customer({ credit: '6.00' })
    const { id } = await app.given.vm(customer)
    // The API refuses such a name today.
    await app.db.run(sql`update vms set name = ${'x\r\nBcc: victim@example.net'} where id = ${id}`)
    await toRenewal(customer, id)
    await lowBalance.runOnce(app.deps)
    await turn()
    app.clock.advance('24h')
    await turn()
    await app.settle()
    await send()
    expect(subjectsOf(customer).toSorted()).toEqual([
      'Your VM x Bcc: victim@example.net is suspended',
      'Your VM x Bcc: victim@example.net will be suspended',
      'Your balance is low',
    ])
    expect(
      receivedBy(customer)
        .flatMap(headersOf)
        .filter((each) => /^bcc/i.test(each)),
    ).toEqual([])
    expect(server.received.flatMap(({ to }) => to)).not.toContain('victim@example.net')
  })

  test('for a suspension by the operator and a disabled webhook', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    const gone = await receiver(answer(410))
    await customer.post('/webhooks', { url: gone.url, events: ['vm.suspended'] })
    await suspendByOperator(app.deps, id)
    await app.settle()
    await deliverAllDue(app.deps)
    await send()
    expect(subjectsOf(customer).toSorted()).toEqual(['Webhook disabled', 'Your VM web-1 is suspended'])
  })

  test('never for a rolled-back transaction', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/tickets', { subject: 'Help', body: 'Please' })).body.data
    const failing = app.db.tx(async (tx) => {
      await replyAsStaff(tx, app.deps, id, 'Here you are')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await mailsOf(customer)).toEqual([])
  })
})

describe('an email that the server rejects', () => {
  test('is retried with backoff under the same Message-ID', async () => {
    const customer = await app.given.customer()
    await answered(customer)
    server.answer({ END: '451 Try again later' })
    await send()
    const [{ message_id }] = (await mailsOf(customer)) as [MailRow]
    expect(await mailsOf(customer)).toMatchObject([{ status: 'PENDING', attempts: 1, error: expect.stringContaining('451') }])
    await send()
    expect(await mailsOf(customer)).toMatchObject([{ attempts: 1 }])
    app.clock.advance('2m')
    await send()
    expect(await mailsOf(customer)).toMatchObject([{ status: 'PENDING', attempts: 2, message_id }])
    server.answer({})
    app.clock.advance('7m')
    await send()
    expect(await mailsOf(customer)).toMatchObject([{ status: 'SENT', attempts: 3, message_id, error: null }])
    expect(receivedBy(customer).map((mail) => headerOf(mail, 'message-id'))).toEqual([`<${message_id}>`])
  })

  test('is abandoned at once on a permanent rejection, without delaying others', async () => {
    const [lost, found] = [await app.given.customer(), await app.given.customer()]
    await app.db.run(sql`update accounts set email = 'ada@example.com,victim@example.net' where id = ${lost.accountId}`)
    for (const customer of [lost, found]) await answered(customer)
    await send()
    expect(await mailsOf(lost)).toMatchObject([{ status: 'FAILED', attempts: 1, error: expect.stringContaining('is not a mail address') }])
    expect(await mailsOf(found)).toMatchObject([{ status: 'SENT' }])
    const gone = await app.given.customer()
    await answered(gone)
    server.answer({ RCPT: '550 No such user' })
    await send()
    server.answer({})
    expect(await mailsOf(gone)).toMatchObject([{ status: 'FAILED', attempts: 1, error: expect.stringContaining('550') }])
  })

  test('is abandoned after nine attempts over two days', async () => {
    const customer = await app.given.customer()
    await answered(customer)
    server.answer({ RCPT: '450 Mailbox full' })
    for (let attempt = 1; attempt <= 12; attempt++) {
      await send()
      app.clock.advance('29h')
    }
    server.answer({})
    expect(await mailsOf(customer)).toMatchObject([{ status: 'FAILED', attempts: 9 }])
  })
})

describe('an unreachable mail server', () => {
  test('costs one email one attempt, and gets all of them when it is back', async () => {
    const customers = [await app.given.customer(), await app.given.customer(), await app.given.customer()]
    for (const customer of customers) await answered(customer)
    await server.stop()
    await send()
    const rows = (await Promise.all(customers.map((customer) => mailsOf(customer)))).flat()
    expect(rows.map(({ attempts }) => String(attempts)).toSorted()).toEqual(['0', '0', '1'])
    expect(rows.map(({ status }) => status)).toEqual(Array(3).fill('PENDING'))
    await server.start()
    await send()
    app.clock.advance('2m')
    await send()
    for (const customer of customers) expect(receivedBy(customer)).toHaveLength(1)
  })
})

describe('a stopping worker', () => {
  test('waits briefly for the email in flight and releases the others', async () => {
    const customers = [await app.given.customer(), await app.given.customer()]
    for (const customer of customers) await answered(customer)
    server.answer({ END: '' }) // responds slowly
    const stopping = new AbortController()
    const passing = sendMails.runOnce(app.deps, stopping.signal)
    const asked = server.commands.length
    await expect.poll(() => server.commands.slice(asked).includes('DATA'), { timeout: 10_000 }).toBe(true)
    stopping.abort()
    await passing
    server.answer({})
    const rows = (await Promise.all(customers.map((customer) => mailsOf(customer)))).flat()
    expect(rows.map(({ status, attempts }) => `${status} ${attempts}`).toSorted()).toEqual(['PENDING 0', 'PENDING 1'])
    app.clock.advance('2m')
    await send()
    for (const customer of customers) expect(receivedBy(customer)).toHaveLength(1)
  })
})

describe('two workers', () => {
  test('send an email once, and take over the claims of a crashed worker', async () => {
    const customers = await Promise.all(Array.from({ length: 12 }, () => app.given.customer()))
    for (const customer of customers) await answered(customer)
    await Promise.all([send(), send(), send()])
    for (const customer of customers) expect(receivedBy(customer)).toHaveLength(1)
    const [survivor] = customers as [Customer]
    // The state after a worker crashed between the server's acceptance and its own commit.
    await app.db.run(sql`
      update emails set status = 'PENDING', next_attempt_at = ${app.clock.now()}, completed_at = null,
        claimed_until = ${new Date(app.clock.now().getTime() + 60_000)} where account_id = ${survivor.accountId}`)
    await send()
    expect(receivedBy(survivor)).toHaveLength(1)
    app.clock.advance('1m')
    await send()
    const ids = receivedBy(survivor).map((mail) => headerOf(mail, 'message-id'))
    expect(ids).toEqual([ids[0], ids[0]])
  })
})

describe('emails.prune', () => {
  test('keeps sent emails for 30 days', async () => {
    const customer = await app.given.customer()
    await answered(customer)
    await send()
    app.clock.advance('30d')
    await pruneMails.runOnce(app.deps)
    expect(await mailsOf(customer)).toHaveLength(1)
    app.clock.advance('1ms')
    await pruneMails.runOnce(app.deps)
    expect(await mailsOf(customer)).toEqual([])
  })
})

describe('without a mail server', async () => {
  const silent = await testApp()

  test('pending emails expire', async () => {
    const customer = await silent.given.customer()
    const { id } = (await customer.post('/tickets', { subject: 'Help', body: 'Please' })).body.data
    await silent.db.tx((tx) => replyAsStaff(tx, silent.deps, id, 'Here you are'))
    silent.clock.advance('59m')
    await sendMails.runOnce(silent.deps)
    expect(await mailsOf(customer, silent)).toMatchObject([{ status: 'PENDING' }])
    silent.clock.advance('1m')
    await sendMails.runOnce(silent.deps)
    expect(await mailsOf(customer, silent)).toMatchObject([{ status: 'DISCARDED', attempts: 0 }])
  })
})
