import { describe, expect, test } from 'vitest'
import { answer, receiver } from '../../../test/receiver.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'

const app = await webhookApp({ breaks: ['webhooks.overdue'] }) // the clock jumps by days while retries are due
const { subscribe, happen, deliver, webhookOf, deliveriesOf } = app

/** A customer with a failing receiver after `failures` attempts. */
async function failing(failures: number) {
  const customer = await app.given.customer()
  const target = await receiver(answer(500))
  const webhook = await subscribe(customer, target.url)
  for (let i = 0; i < failures; i++) await happen(customer)
  await deliver()
  return { customer, target, ...webhook }
}

describe('failCount', () => {
  test('counts consecutive failures and is reset by a success', async () => {
    const { customer, target, id } = await failing(3)
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: 3, lastSuccessAt: null })
    target.answers(answer(200))
    await happen(customer)
    await deliver()
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: 0, lastSuccessAt: app.clock.now().toISOString() })
  })
})

describe('isActive', () => {
  test('becomes false on 410 at once, and pending deliveries are cancelled', async () => {
    const { customer, target, id } = await failing(3)
    target.answers(answer(410))
    await happen(customer)
    await deliver()
    expect(await webhookOf(customer, id)).toMatchObject({ isActive: false, disabledReason: expect.stringContaining('410') })
    expect((await deliveriesOf(customer, id)).map((each: { status: string }) => each.status)).toEqual(Array(4).fill('CANCELLED'))
    const before = target.received.length
    await happen(customer)
    app.clock.advance('1d')
    await deliver()
    expect(target.received).toHaveLength(before)
  })

  test('records an event with the reason when it becomes false', async () => {
    const { customer, target, id } = await failing(0)
    target.answers(answer(410))
    await happen(customer)
    await deliver()
    const events = (await customer.get('/events')).body.data
    expect(events.at(-1)).toMatchObject({
      type: 'webhook.disabled',
      data: { webhook: { id, isActive: false }, reason: expect.stringContaining('410') },
    })
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  test('stays true after many failures within five days', async () => {
    const { customer, id } = await failing(20)
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: 20, isActive: true })
  })

  test('stays true after five days with fewer than ten failures', async () => {
    const { customer, id } = await failing(2)
    app.clock.advance('5d')
    await deliver()
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: 4, isActive: true })
  })

  test('becomes false with ten consecutive failures and no success for five days', async () => {
    const { customer, id } = await failing(5)
    app.clock.advance('5d')
    await deliver()
    expect(await webhookOf(customer, id)).toMatchObject({
      failCount: 10,
      isActive: false,
      disabledReason: 'At least 10 attempts in a row have failed, and none succeeded for 5 days',
    })
  })

  test('stays true after a success within the five days', async () => {
    const { customer, target, id } = await failing(0)
    app.clock.advance('3d')
    target.answers(answer(200))
    await happen(customer)
    await deliver()
    app.clock.advance('4d')
    target.answers(answer(500))
    for (let i = 0; i < 12; i++) await happen(customer)
    await deliver()
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: 12, isActive: true })
  })

  test('set to true again resets failures and the five days', async () => {
    const { customer, target, id } = await failing(5)
    app.clock.advance('5d')
    await deliver()
    const { body } = await customer.patch(`/webhooks/${id}`, { isActive: true })
    expect(body.data).toMatchObject({ isActive: true, failCount: 0, disabledReason: null })
    for (let i = 0; i < 12; i++) await happen(customer)
    await deliver()
    expect(await webhookOf(customer, id)).toMatchObject({ isActive: true, failCount: 12 })
    target.answers(answer(200))
    app.clock.advance('1m')
    await deliver()
    expect((await deliveriesOf(customer, id, '?status=SUCCEEDED')).length).toBe(12)
  })

  test('set to false by its owner cancels pending deliveries and creates no more', async () => {
    const { customer, target, id } = await failing(2)
    expect((await customer.patch(`/webhooks/${id}`, { isActive: false })).body.data).toMatchObject({
      isActive: false,
      disabledReason: null,
    })
    await happen(customer)
    app.clock.advance('1d')
    await deliver()
    expect(target.received).toHaveLength(2)
    expect((await deliveriesOf(customer, id)).map((each: { status: string }) => each.status)).toEqual(['CANCELLED', 'CANCELLED'])
  })
})
