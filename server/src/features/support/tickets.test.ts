import { describe, expect, test } from 'vitest'
import { receiver, verified } from '../../../test/receiver.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { closeTicket, listForStaff, replyAsStaff } from './staff.ts'

const app = await webhookApp()
type Customer = Awaited<ReturnType<typeof app.given.customer>>

const ASKED = { subject: 'No address', body: 'My VM has no address.\r\nWhy?' }
const opened = async (customer: Customer, input: object = ASKED): Promise<string> => (await customer.post('/tickets', input)).body.data.id
const answer = (id: string, body = 'It has one now') => app.db.tx((tx) => replyAsStaff(tx, app.deps, id, body))
const close = (id: string) => app.db.tx((tx) => closeTicket(tx, app.deps, id))
const statusOf = async (customer: Customer, id: string) => (await customer.get(`/tickets/${id}`)).body.data.status
const openCount = async (customer: Customer) =>
  (await customer.get('/account/limits')).body.data.find(({ name }: { name: string }) => name === 'openTickets').used

describe('POST /tickets', () => {
  test('opens a ticket and shows it with its replies', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/tickets', ASKED)
    const now = app.clock.now().toISOString()
    const ticket = {
      id: body.data.id,
      subject: 'No address',
      status: 'OPEN',
      replyCount: 0,
      createdAt: now,
      updatedAt: now,
      closedAt: null,
    }
    expect([status, body.data]).toEqual([201, { ...ticket, body: 'My VM has no address.\nWhy?', replies: [] }])
    expect((await customer.get('/tickets')).body.data).toEqual([ticket])
    app.clock.advance('1m')
    const reply = await customer.post(`/tickets/${ticket.id}/replies`, { body: 'Still none' })
    expect([reply.status, reply.body.data]).toMatchObject([201, { author: 'customer', body: 'Still none' }])
    app.clock.advance('1m')
    await answer(ticket.id)
    const read = (await customer.get(`/tickets/${ticket.id}`)).body.data
    expect(read).toMatchObject({ status: 'ANSWERED', replyCount: 2, updatedAt: app.clock.now().toISOString() })
    expect(read.replies.map(({ author, body: text }: { author: string; body: string }) => `${author}: ${text}`)).toEqual([
      'customer: Still none',
      'staff: It has one now',
    ])
  })

  test.each([
    [{ subject: '', body: 'x' }, 'subject must be 1-200 characters on one line'],
    [{ subject: ' ', body: 'x' }, 'subject must be 1-200 characters on one line'],
    [{ subject: 'x'.repeat(201), body: 'x' }, 'subject must be 1-200 characters on one line'],
    [{ subject: 'two\nlines', body: 'x' }, 'subject must be 1-200 characters on one line'],
    [{ subject: 'left\u202eright', body: 'x' }, 'subject must be 1-200 characters on one line'],
    [{ subject: 'x', body: '\n \n' }, 'body must be 1-10000 characters of plain text'],
    [{ subject: 'x', body: 'x'.repeat(10_001) }, 'body must be 1-10000 characters of plain text'],
    [{ subject: 'x', body: '\u001b[2J' }, 'body must be 1-10000 characters of plain text'],
    [{ subject: 'x', body: 'x', priority: 'high' }, 'priority is not a known field'],
  ])('rejects %j', async (input, sentence) => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/tickets', input)
    expect([status, body.error]).toEqual([400, `Validation failed: ${sentence}`])
  })

  test('returns the text unchanged, including markup', async () => {
    const customer = await app.given.customer()
    const hostile = { subject: `<script>alert(1)</script> '; drop table tickets; -- {{7*7}} 🚢`, body: '<b>&amp;</b>\t${x}\n\n.\nEND' }
    const id = await opened(customer, hostile)
    expect((await customer.get(`/tickets/${id}`)).body.data).toMatchObject(hostile)
  })

  test('is rejected at the quota of open tickets, until one is closed', async () => {
    const customer = await app.given.customer()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'open_tickets', 2n))
    const [first] = [await opened(customer), await opened(customer)]
    const refused = await customer.post('/tickets', ASKED)
    expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
    await close(first)
    await close(first)
    expect(await openCount(customer)).toBe(1)
    await opened(customer)
    const reopening = await customer.post(`/tickets/${first}/replies`, { body: 'again' })
    expect([reopening.status, await statusOf(customer, first)]).toEqual([422, 'CLOSED'])
  })
})

describe('POST /tickets/{id}/replies', () => {
  test('reopens a closed ticket', async () => {
    const customer = await app.given.customer()
    const id = await opened(customer)
    await close(id)
    expect([await statusOf(customer, id), await openCount(customer)]).toEqual(['CLOSED', 0])
    await customer.post(`/tickets/${id}/replies`, { body: 'It happened again' })
    expect([await statusOf(customer, id), await openCount(customer)]).toEqual(['OPEN', 1])
    expect((await customer.get(`/tickets/${id}`)).body.data.closedAt).toBeNull()
  })

  test('is rejected at the maximum number of replies', async () => {
    const customer = await app.given.customer()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'replies_per_ticket', 2n))
    const id = await opened(customer)
    await answer(id)
    const statuses = []
    for (const body of ['1', '2', '3']) statuses.push((await customer.post(`/tickets/${id}/replies`, { body })).status)
    expect(statuses).toEqual([201, 201, 422])
  })

  test('counts every concurrent reply', async () => {
    const customer = await app.given.customer()
    const id = await opened(customer)
    await close(id)
    const replies = Array.from({ length: 10 }, (_, i) => customer.post(`/tickets/${id}/replies`, { body: String(i) }))
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(10).fill(201))
    const { replyCount, replies: kept } = (await customer.get(`/tickets/${id}`)).body.data
    expect([replyCount, kept.length, await openCount(customer)]).toEqual([10, 10, 1])
  })
})

describe('GET /tickets', () => {
  test("filters by status, paginates, and shows the account's own tickets only", async () => {
    const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
    const [first, second, third] = [await opened(customer), await opened(customer), await opened(customer)]
    await answer(first)
    await close(second)
    const ids = async (query: string) => (await customer.get(`/tickets${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await ids('?status=ANSWERED')).toEqual([first])
    expect(await ids('?status=CLOSED')).toEqual([second])
    expect(await ids('?status=OPEN')).toEqual([third])
    expect(await ids('?limit=2&page=2')).toHaveLength(1)
    expect((await customer.get('/tickets?status=LOST')).status).toBe(400)
    expect((await stranger.get('/tickets')).body.data).toEqual([])
    expect((await stranger.get(`/tickets/${first}`)).status).toBe(404)
    expect((await stranger.post(`/tickets/${first}/replies`, { body: 'x' })).status).toBe(404)
  })
})

describe('staff reply', () => {
  test('is sent by webhook, feed and stream', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { secret } = await app.subscribe(customer, target.url, ['ticket.reply'])
    const id = await opened(customer)
    await answer(id)
    await app.deliver()
    const ticket = { id, subject: 'No address', status: 'ANSWERED', replyCount: 1 }
    const data = { ticket, reply: { author: 'staff', body: 'It has one now' } }
    expect(verified(secret, target.received[0]!)).toMatchObject({ type: 'ticket.reply', data })
    expect((await customer.get('/events')).body.data).toMatchObject([{ type: 'ticket.reply', data }])
    const stopping = new AbortController()
    const stream = await app.deps.feed.stream({ accountId: customer.accountId }, '0', stopping.signal)
    let text = ''
    for await (const chunk of stream) if ((text += String(chunk)).includes('data:')) break
    stopping.abort()
    expect(text).toContain('event: ticket.reply\n')
  })

  test('leaves a closed ticket closed, and is rejected when empty', async () => {
    const customer = await app.given.customer()
    const id = await opened(customer)
    await close(id)
    await answer(id, 'For the record')
    expect(await statusOf(customer, id)).toBe('CLOSED')
    await expect(answer(id, ' \n')).rejects.toThrow('a reply must be 1-10000 characters')
    await expect(answer('cnowhere1')).rejects.toThrow('Ticket not found')
    expect((await customer.get('/audit-log')).body.data.map(({ action }: { action: string }) => action).toSorted()).toEqual([
      'createTicket',
      'ticket close',
      'ticket reply',
    ])
    expect((await customer.get('/events')).body.data.map(({ type }: { type: string }) => type)).toEqual(['ticket.closed', 'ticket.reply'])
  })

  test('list is ordered by longest waiting', async () => {
    const customer = await app.given.customer()
    const [first, second] = [await opened(customer), await opened(customer)]
    app.clock.advance('1m')
    await answer(first)
    const third = await opened(customer)
    const listed = await listForStaff(app.db, { accountId: customer.accountId, status: null })
    expect(listed.map(({ id }) => id)).toEqual([second, third, first])
    expect(listed[0]).toMatchObject({ account: customer.email, status: 'OPEN' })
  })
})
