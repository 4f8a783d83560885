// A test event is sent synchronously, whether the subscription is active or not, and does not change the receiver's failure count. The
// request holds no transaction open; its result is written afterwards.
import type { Tx } from '../../kernel/database/db.ts'
import { json } from '../../kernel/database/db.ts'
import { systemClock } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import type { Deps } from '../deps.ts'
import { bodyOf, openSecrets, send, type Sent } from './message.ts'
import { TEST_EVENT } from './schema.ts'
import { requireWebhook } from './service.ts'
import * as sql from './sql.ts'

export interface TestRun {
  row: Pick<sql.DeliveryRow, 'id' | 'webhook_id' | 'type' | 'created_at'>
  url: string
  sentAt: Date
  sent: Sent
}

export const testBody = ({ id, webhook_id, created_at }: Pick<sql.DeliveryRow, 'id' | 'webhook_id' | 'created_at'>): string =>
  bodyOf({ id, type: TEST_EVENT, happenedAt: created_at, data: json({ webhookId: webhook_id }) })

export async function sendTest({ db, clock, vault, outbound }: Deps, accountId: string, webhookId: string): Promise<TestRun> {
  const webhook = await requireWebhook(db, accountId, webhookId)
  const now = clock.now()
  const row = { id: newId(), webhook_id: webhookId, type: TEST_EVENT, created_at: now }
  const previous = webhook.previous_secret_until && webhook.previous_secret_until > now ? webhook.previous_secret : null
  const secrets = openSecrets(vault, { webhookId, secret: webhook.secret, previous })
  const sentAt = systemClock.now()
  return {
    row,
    url: webhook.url,
    sentAt,
    sent: await send(outbound, { id: row.id, url: webhook.url, secrets, body: testBody(row), sentAt }),
  }
}

export async function recordTest(tx: Tx, now: Date, { row, url, sentAt, sent }: TestRun): Promise<{ message: string }> {
  await sql.insertTest(tx, { ...row, status: sent.problem ? 'EXHAUSTED' : 'SUCCEEDED' }, now)
  const { signature, status, problem, body, latencyMs } = sent
  const attempt = { delivery_id: row.id, number: 1, url, signature, status, error: problem, response: body, latency_ms: latencyMs }
  await tx.run(sql.insertAttempts([{ ...attempt, attempted_at: sentAt }]))
  return {
    message: problem
      ? `The test event was not delivered: ${problem}`
      : `The test event was delivered: the receiver answered ${status} after ${latencyMs} ms`,
  }
}
