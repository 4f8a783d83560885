// A test event is sent synchronously, whether the subscription is active or not, and does not change the receiver's failure count. The
// request holds no transaction open; its result is written afterwards.
import type { Principal } from '../../http/api/principal.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { json } from '../../kernel/database/db.ts'
import { postgresCounters, type Counters } from '../../kernel/database/window-counters.ts'
import { systemClock } from '../../kernel/clock.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Deps } from '../deps.ts'
import { bodyOf, openSecrets, send, type Sent } from './message.ts'
import { TEST_EVENT } from './schema.ts'
import { requireNotSuspended, requireWebhook } from './service.ts'
import * as sql from './sql.ts'

export interface TestRun {
  row: Pick<sql.DeliveryRow, 'id' | 'webhook_id' | 'type' | 'created_at'>
  url: string
  sentAt: Date
  sent: Sent
}

export const testBody = ({ id, webhook_id, created_at }: Pick<sql.DeliveryRow, 'id' | 'webhook_id' | 'created_at'>): string =>
  bodyOf({ id, type: TEST_EVENT, happenedAt: created_at, data: json({ webhookId: webhook_id }) })

export async function sendTest(deps: Deps, { accountId, payerId }: Principal, webhookId: string): Promise<TestRun> {
  const webhook = await requireWebhook(deps.db, accountId, webhookId)
  await requireNotSuspended(deps.db, accountId)
  return withTestLimits(deps, webhookId, payerId, () => sendTo(deps, webhook))
}

const MINUTE_MS = 60_000
const [PER_WEBHOOK, PER_ACCOUNT] = [5, 10]
const TIMEOUT_SECONDS = 15

/** The URL may be a stranger's, who must not be flooded from our address. A sender that crashed blocks the account's tests for a minute. */
async function withTestLimits<T>({ db, clock }: Deps, id: string, payerId: string, work: () => Promise<T>): Promise<T> {
  const counters = postgresCounters(db, clock)
  const inFlight = (by: number) => counters.add(`webhook-test-open:${payerId}`, by, MINUTE_MS)
  try {
    if ((await inFlight(1)).count > 1)
      throw tooMany('A test event of this account is being sent: try again when it has ended', TIMEOUT_SECONDS)
    for (const [key, most] of [
      [id, PER_WEBHOOK],
      [payerId, PER_ACCOUNT],
    ] as const) {
      const refusal = `Too many test events: at most ${PER_WEBHOOK} a minute for a webhook and ${PER_ACCOUNT} for an account`
      await countWithin(counters, key, most, refusal)
    }
    return await work()
  } finally {
    await inFlight(-1)
  }
}

/** Redeliveries count against the account's limit of test events. */
export const requireRedeliveryLeft = ({ db, clock }: Deps, payerId: string): Promise<void> =>
  countWithin(
    postgresCounters(db, clock),
    payerId,
    PER_ACCOUNT,
    `Too many test events and redeliveries: at most ${PER_ACCOUNT} a minute for an account`,
  )

async function countWithin(counters: Counters, key: string, most: number, refusal: string): Promise<void> {
  const { count, resetMs } = await counters.add(`webhook-tests:${key}`, 1, MINUTE_MS)
  if (count > most) throw tooMany(refusal, Math.max(1, Math.ceil(resetMs / 1000)))
}

const tooMany = (message: string, retryAfterSeconds: number): ApiError => new ApiError('rate_limited', message, [], retryAfterSeconds)

async function sendTo({ clock, vault, outbound }: Deps, webhook: sql.WebhookRow): Promise<TestRun> {
  const webhookId = webhook.id
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
