import { expect, test } from 'vitest'
import { receiver } from '../../../test/receiver.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { pruneWebhooks } from './prune.reconciler.ts'

const app = await webhookApp()
const rowsOf = async (webhookId: string) => ({
  webhooks: (await app.db.many(sql`select 1 from webhooks where id = ${webhookId}`)).length,
  deliveries: (await app.db.many(sql`select 1 from webhook_deliveries where webhook_id = ${webhookId}`)).length,
  attempts: (
    await app.db.many(sql`select 1 from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
    where d.webhook_id = ${webhookId}`)
  ).length,
})

async function delivered() {
  const customer = await app.given.customer()
  const target = await receiver()
  const { id } = await app.subscribe(customer, target.url)
  await app.happen(customer)
  await app.deliver()
  return { customer, id }
}

test('the log is pruned after 30 days', async () => {
  const { id } = await delivered()
  app.clock.advance('30d')
  await pruneWebhooks.runOnce(app.deps)
  expect(await rowsOf(id)).toEqual({ webhooks: 1, deliveries: 1, attempts: 1 })
  app.clock.advance('1s')
  await pruneWebhooks.runOnce(app.deps)
  expect(await rowsOf(id)).toEqual({ webhooks: 1, deliveries: 0, attempts: 0 })
})

test('pending deliveries are kept at any age', async () => {
  const customer = await app.given.customer()
  const { id } = await app.subscribe(customer, 'http://127.0.0.1:1/')
  await app.happen(customer)
  app.clock.advance('31d')
  await pruneWebhooks.runOnce(app.deps)
  expect(await rowsOf(id)).toMatchObject({ deliveries: 1 })
  await app.deliver()
})

test('the log of a deleted webhook is pruned after a day', async () => {
  const { customer, id } = await delivered()
  await customer.delete(`/webhooks/${id}`)
  await pruneWebhooks.runOnce(app.deps)
  expect(await rowsOf(id)).toEqual({ webhooks: 1, deliveries: 1, attempts: 1 })
  app.clock.advance('25h')
  await pruneWebhooks.runOnce(app.deps)
  expect(await rowsOf(id)).toEqual({ webhooks: 0, deliveries: 0, attempts: 0 })
})
