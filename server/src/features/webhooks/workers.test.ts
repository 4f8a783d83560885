import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { answer, hang, receiver } from '../../../test/receiver.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { openOutbound } from '../../kernel/net/outbound-http.ts'
import { listenForTriggers, startReconcilers } from '../../workflow/reconciler-loop.ts'
import { deliverWebhooks, openDeliveries } from './deliver.reconciler.ts'
import { dueLanes } from './delivery-queue.sql.ts'
import { cancelPending } from './sql.ts'

const SOON = { timeout: 10_000 }

const app = await webhookApp()
const { subscribe, happen, deliver, deliveriesOf, webhookOf } = app

/** A worker with its own connections. */
function worker() {
  const outbound = openOutbound({ allowPrivate: true, ownNames: [] })
  afterAll(() => outbound.close())
  const deliveries = openDeliveries({ ...app.deps, outbound }, () => void deliveries.runOnce())
  return deliveries
}

const statuses = async (customer: Parameters<typeof deliveriesOf>[0], id: string): Promise<string[]> =>
  (await deliveriesOf(customer, id, '?limit=100')).map((each: { status: string }) => each.status)

describe('workers', () => {
  test('a hanging receiver does not delay another one', async () => {
    const customer = await app.given.customer()
    const [dead, alive] = [await receiver(hang), await receiver()]
    const [hanging, working] = [await subscribe(customer, dead.url), await subscribe(customer, alive.url)]
    for (let i = 0; i < 30; i++) await happen(customer)
    const deliveries = worker()
    await deliveries.runOnce()
    await expect.poll(() => alive.received.length, SOON).toBe(30)
    await expect.poll(() => statuses(customer, working.id), SOON).toEqual(Array(30).fill('SUCCEEDED'))
    expect(dead.received.length).toBe(8) // the limit per receiver, all unanswered
    expect(await webhookOf(customer, hanging.id)).toMatchObject({ failCount: 0 })
    await deliveries.stop()
    await customer.delete(`/webhooks/${hanging.id}`)
  })

  test('hanging receivers do not use up the limit of their account', async () => {
    vi.useFakeTimers({ toFake: ['performance'] }) // on a busy machine they count as slow soon, which have a limit of their own
    onTestFinished(() => void vi.useRealTimers())
    const customer = await app.given.customer()
    const [dead, alive] = [await receiver(hang), await receiver()]
    const hanging = []
    for (let i = 0; i < 5; i++) hanging.push(await subscribe(customer, dead.url))
    for (let i = 0; i < 10; i++) await happen(customer)
    const deliveries = worker()
    await deliveries.runOnce()
    await expect.poll(() => dead.received.length, SOON).toBe(32) // the limit per account
    await subscribe(customer, alive.url)
    await happen(customer)
    await expect.poll(() => deliveries.runOnce().then(() => alive.received.length), SOON).toBe(1)
    expect(dead.received.length).toBe(32)
    await deliveries.stop()
    for (const { id } of hanging) await customer.delete(`/webhooks/${id}`)
  })

  test('release the claims of attempts in flight when they stop', async () => {
    const customer = await app.given.customer()
    const target = await receiver(hang)
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    const deliveries = worker()
    await deliveries.runOnce()
    await expect.poll(() => target.received.length, SOON).toBe(1)
    await deliveries.stop()
    expect(await deliveriesOf(customer, id)).toMatchObject([
      { status: 'PENDING', attempts: 0, nextAttemptAt: app.clock.now().toISOString() },
    ])
    target.answers(answer(200))
    await deliver()
    expect(await statuses(customer, id)).toEqual(['SUCCEEDED'])
    expect(target.received[1]!.headers['webhook-id']).toBe(target.received[0]!.headers['webhook-id'])
  })

  test('take over from a crashed worker within 30 seconds, and not before its claim expires', async () => {
    const customer = await app.given.customer()
    const answers: (() => void)[] = []
    const target = await receiver((response) => void answers.push(() => response.writeHead(500).end()))
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    const dying = worker()
    await dying.runOnce()
    await expect.poll(() => target.received.length, SOON).toBe(1)
    target.answers(answer(200))
    app.clock.advance('24s')
    await deliver()
    expect(target.received).toHaveLength(1)
    app.clock.advance('5s')
    await deliver()
    expect(await statuses(customer, id)).toEqual(['SUCCEEDED'])
    expect(target.received[1]!.headers['webhook-id']).toBe(target.received[0]!.headers['webhook-id'])

    answers.forEach((each) => each()) // the worker was slow, not dead: its late results are fenced
    await dying.landed()
    expect(await statuses(customer, id)).toEqual(['SUCCEEDED'])
  })

  test('share the queue: each delivery is sent once', async () => {
    const customer = await app.given.customer()
    const targets = await Promise.all([receiver(), receiver(), receiver()])
    const webhooks = []
    for (const { url } of targets) webhooks.push(await subscribe(customer, url))
    for (let i = 0; i < 50; i++) await happen(customer)
    const workers = [worker(), worker(), worker()]
    await Promise.all(workers.map((each) => each.runOnce()))
    for (const { id } of webhooks) await expect.poll(() => statuses(customer, id), SOON).toEqual(Array(50).fill('SUCCEEDED'))
    for (const { received } of targets) {
      expect(received).toHaveLength(50)
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(50)
    }
    await Promise.all(workers.map((each) => each.stop()))
  })

  test('record an attempt once when the commit response is lost', async () => {
    const customer = await app.given.customer()
    const { id } = await subscribe(customer, (await receiver(answer(500))).url)
    await happen(customer)
    let lost = 0
    const tx: typeof app.db.tx = async (work) => {
      const result = await app.db.tx(work)
      if (lost++ === 0) throw new Error('Connection terminated unexpectedly')
      return result
    }
    const deliveries = openDeliveries({ ...app.deps, db: { ...app.db, tx } }, () => {})
    await deliveries.runOnce()
    await deliveries.landed()
    expect(lost).toBe(2)
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: 1 })
    expect(await deliveriesOf(customer, id)).toMatchObject([{ status: 'PENDING', attempts: 1 }])
    await deliveries.stop()
    await customer.delete(`/webhooks/${id}`)
  })

  test('are triggered when an event commits', async () => {
    const loops = startReconcilers(app.deps, [{ ...deliverWebhooks, everyMs: 3_600_000 }])
    const deafen = await listenForTriggers(app.db, loops)
    const customer = await app.given.customer()
    const target = await receiver()
    await subscribe(customer, target.url)
    for (let i = 1; i <= 3; i++) {
      await happen(customer)
      await expect.poll(() => target.received.length, SOON).toBe(i)
    }
    await deafen()
    await loops.stop()
  })

  test('do not cancel deliveries of a subscription that was enabled again', async () => {
    const customer = await app.given.customer()
    const { id } = await subscribe(customer, (await receiver()).url)
    await happen(customer)
    await app.db.tx((tx) => cancelPending(tx, [id], app.clock.now())) // like a worker that saw the subscription disabled a moment ago
    await deliver()
    expect(await statuses(customer, id)).toEqual(['SUCCEEDED'])
  })

  test("send nothing for a subscription that was disabled during the event's transaction", async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await app.db.run(sql`update webhooks set is_active = false where id = ${id}`)
    await deliver()
    expect(await statuses(customer, id)).toEqual(['CANCELLED'])
    expect(target.received).toEqual([])
  })
})

describe('a host that is addressed by name', async () => {
  const named = await webhookApp({ outbound: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] } })

  test('is not flooded by twenty webhooks of one account, and nothing is lost', async () => {
    const customer = await named.given.customer()
    let [open, most] = [0, 0]
    const target = await receiver((response) => {
      most = Math.max(most, ++open)
      setImmediate(() => {
        open--
        response.writeHead(200).end()
      })
    })
    const url = target.url.replace('127.0.0.1', 'victim.example.com')
    const webhooks = []
    for (let n = 0; n < 20; n++) webhooks.push(await named.subscribe(customer, url))
    for (let n = 0; n < 10; n++) await named.happen(customer)
    const deliveries = openDeliveries(named.deps, () => {})
    const drain = async (): Promise<number> => {
      while ((await deliveries.runOnce()) > 0) await deliveries.landed()
      return target.received.length
    }
    expect(await drain()).toBe(60)
    named.clock.advance('1s')
    expect(await drain()).toBe(70)
    expect(most).toBeLessThanOrEqual(16)
    for (let n = 0; n < 13; n++) {
      named.clock.advance('1s')
      await drain()
    }
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).toBe(200)
    expect(target.received).toHaveLength(200)
    await deliveries.stop()
  })

  test('does not delay the webhooks of other accounts', async () => {
    const [greedy, modest] = [await named.given.customer(), await named.given.customer()]
    const [target, own] = [await receiver(), await receiver()]
    for (let n = 0; n < 20; n++) await named.subscribe(greedy, target.url.replace('127.0.0.1', 'victim.example.com'))
    for (let n = 0; n < 10; n++) await named.happen(greedy)
    await named.subscribe(modest, own.url)
    await named.happen(modest)
    expect((await dueLanes(named.db, named.clock.now(), 2)).map((each) => each.payer_id)).toContain(modest.accountId)
    await named.deliver()
    expect([own.received.length, target.received.length]).toEqual([1, 60])
  })
})
