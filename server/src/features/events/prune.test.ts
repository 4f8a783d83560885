import { expect, test } from 'vitest'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { pruneWebhooks } from '../webhooks/prune.reconciler.ts'
import { pruneEvents } from './prune.reconciler.ts'

const app = await webhookApp()
const numbersOf = async (customer: Awaited<ReturnType<typeof app.given.customer>>) =>
  ((await customer.get('/events')).body.data as { cursor: string }[]).map(({ cursor }) => Number(cursor))

test('events are pruned after 90 days, and the numbers go on', async () => {
  const customer = await app.given.customer()
  await app.happen(customer)
  app.clock.advance('1d')
  await app.happen(customer)
  app.clock.advance('89d')
  await pruneEvents.runOnce(app.deps)
  const [first, second] = await numbersOf(customer)
  app.clock.advance('1s')
  await pruneEvents.runOnce(app.deps)
  expect(await numbersOf(customer)).toEqual([second])
  await app.happen(customer)
  expect(await numbersOf(customer)).toEqual([second, first! + 2])
})

test('an event with a delivery is kept as long as the delivery', async () => {
  const customer = await app.given.customer()
  await app.subscribe(customer, 'http://127.0.0.1:1/')
  await app.happen(customer)
  app.clock.advance('91d')
  await pruneEvents.runOnce(app.deps)
  expect(await numbersOf(customer)).toHaveLength(1)
  await app.db.run(
    sql`update webhook_deliveries set status = 'EXHAUSTED', next_attempt_at = null, completed_at = ${app.clock.now()} where status = 'PENDING'`,
  )
  app.clock.advance('31d')
  await pruneWebhooks.runOnce(app.deps)
  await pruneEvents.runOnce(app.deps)
  expect(await numbersOf(customer)).toEqual([])
})
