import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { receiver } from '../../server/test/receiver.ts'
import { webhookApp } from '../../server/test/webhook-fixture.ts'
import { verifyWebhook, WebhookVerificationError } from '../src/index.ts'

describe('a webhook of the server', async () => {
  const app = await webhookApp()
  const mailbox = await receiver()
  const customer = await app.given.customer({ credit: '100.00' })
  const { id, secret } = await app.subscribe(customer, mailbox.url, ['vm.created', 'vm.stopped', 'billing.payment_received'])
  const now = () => ({ now: app.clock.now() })
  const last = () => mailbox.received.at(-1)!

  test('is verified and typed by its event type', async () => {
    const vm = await app.given.vm(customer)
    await app.deliver()
    const event = await verifyWebhook(last().body, last().headers, secret, now())
    expect(event).toMatchObject({ type: 'vm.created', data: { vm: { id: vm.id }, actionId: vm.actionId } })
    expect(event.type === 'vm.created' && event.data.vm.status).toBe('RUNNING')
  })

  test('is verified with the old and the new secret after a rotation', async () => {
    const rotated = (await customer.post(`/webhooks/${id}/rotate-secret`)).body.data.secret as string
    await customer.post(`/webhooks/${id}/test`)
    for (const each of [secret, rotated]) {
      expect(await verifyWebhook(last().body, last().headers, each, now())).toMatchObject({ type: 'webhook.test', data: { webhookId: id } })
    }
  })

  test('is rejected when it is too old', async () => {
    const late = new Date((Number(last().headers['webhook-timestamp']) + 301) * 1_000)
    await expect(verifyWebhook(last().body, last().headers, secret, { now: late })).rejects.toThrow('The message is too old')
    await verifyWebhook(last().body, last().headers, secret, { now: late, toleranceSeconds: 302 })
  })
})

describe('a message signed by the standardwebhooks library', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const sentAt = new Date()
  const body = '{"type":"vm.started","note":"ü – 🚢"}'
  const signed = (overrides: Record<string, string> = {}) => ({
    'webhook-id': 'cmsg1',
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('cmsg1', sentAt, body),
    ...overrides,
  })
  const expectRejected = async (
    payload: string,
    headers: Record<string, string | undefined>,
    reason: RegExp,
    with_ = secret,
  ): Promise<void> => {
    const result = verifyWebhook(payload, headers, with_)
    await expect(result).rejects.toBeInstanceOf(WebhookVerificationError)
    await expect(result).rejects.toThrow(reason)
  }

  test('is verified from text, bytes and all header types', async () => {
    const upper = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]))
    for (const headers of [signed(), upper, new Headers(signed())]) {
      for (const payload of [body, new TextEncoder().encode(body), Buffer.from(body)]) {
        expect(await verifyWebhook(payload, headers, secret)).toEqual(JSON.parse(body))
      }
    }
    expect(await verifyWebhook(body, signed(), secret.slice('whsec_'.length))).toEqual(JSON.parse(body))
  })

  test('is verified when one of several signatures matches', async () => {
    const good = signed()['webhook-signature']
    const other = new Webhook(`whsec_${randomBytes(32).toString('base64')}`).sign('cmsg1', sentAt, body)
    for (const signature of [`${other} ${good}`, `${good} ${other}`, `v2,xyz v1a,abc ${good}`, `v1,%%% ${good}`]) {
      expect(await verifyWebhook(body, signed({ 'webhook-signature': signature }), secret)).toEqual(JSON.parse(body))
    }
  })

  test.each<[string, string, Record<string, string>]>([
    ['body', `${body} `, {}],
    ['id', body, { 'webhook-id': 'cmsg2' }],
    ['time', body, { 'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000) - 1) }],
    ['signature', body, { 'webhook-signature': `v1,${createHmac('sha256', 'guessed').update(body).digest('base64')}` }],
    ['kind of signature', body, { 'webhook-signature': signed()['webhook-signature'].replace('v1,', 'v2,') }],
    ['signature cut short', body, { 'webhook-signature': signed()['webhook-signature'].slice(0, 20) }],
    ['signature of nothing', body, { 'webhook-signature': 'v1,' }],
  ])('is rejected with another %s', (_, payload, overrides) => expectRejected(payload, signed(overrides), /No signature matches/))

  test('is rejected with another secret', () =>
    expectRejected(body, signed(), /No signature matches/, `whsec_${randomBytes(32).toString('base64')}`))

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('is rejected without the header %s', async (name) => {
    await expectRejected(body, { ...signed(), [name]: undefined }, new RegExp(`The header ${name} is missing`))
    await expectRejected(body, { ...signed(), [name]: '' }, new RegExp(`The header ${name} is missing`))
  })

  test.each(['soon', '1e99', '-5', ' '])('is rejected with %j as the timestamp', (timestamp) =>
    expectRejected(body, signed({ 'webhook-timestamp': timestamp }), /not a Unix timestamp/),
  )

  test('is rejected outside of the tolerance', async () => {
    const at = (seconds: number) => ({ now: new Date(sentAt.getTime() + seconds * 1_000) })
    await verifyWebhook(body, signed(), secret, at(299))
    await verifyWebhook(body, signed(), secret, at(-298))
    await expect(verifyWebhook(body, signed(), secret, at(302))).rejects.toThrow('too old')
    await expect(verifyWebhook(body, signed(), secret, at(-302))).rejects.toThrow('from the future')
  })

  test.each(['', 'whsec_', 'whsec_!!!'])('cannot be verified with %j as the secret', (with_) =>
    expect(verifyWebhook(body, signed(), with_)).rejects.toThrow(TypeError),
  )
})
