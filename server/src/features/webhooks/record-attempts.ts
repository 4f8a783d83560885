// Records finished attempts in one transaction per batch: log, delivery state, and failure count of the receiver.
import type { Tx } from '../../kernel/database/db.ts'
import type { Deps, EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import type { Sent } from './message.ts'
import * as queue from './delivery-queue.sql.ts'
import { FAILURES_TO_DISABLE, givenUpSince, nextAttemptAt } from './schedule.ts'
import * as sql from './sql.ts'
import { toWebhook } from './view.ts'

export interface FinishedAttempt {
  claim: queue.Claim
  sent: Sent
  sentAt: Date
}

/** A worker that crashes before the commit causes duplicates. To keep that window short, the writes are sent with the commit if possible. */
export const recordAttempts = (deps: Pick<Deps, 'db' | 'clock' | 'hooks'>, ended: FinishedAttempt[], isRepeat = false): Promise<void> =>
  deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const batch = isRepeat ? await unwritten(tx, ended) : ended
    if (batch.length === 0) return
    const settled = batch.map((each) => outcomeOf(each, now))
    const writes = [
      ...queue.countOutcomes(tally(batch), now),
      queue.settleDeliveries(settled, now),
      sql.insertAttempts(batch.map(toAttempt)),
    ]
    const last = batch.filter((each) => isGone(each) || (each.sent.problem && each.claim.is_disable_candidate))
    if (last.length === 0) return writes.forEach(tx.beforeCommit)
    await Promise.all(writes.map(tx.run))
    await giveUp(tx, deps, last)
  })

async function unwritten(tx: Tx, ended: FinishedAttempt[]): Promise<FinishedAttempt[]> {
  const written = new Set(
    (
      await sql.attemptsOf(
        tx,
        ended.map(({ claim }) => claim.id),
      )
    ).map((each) => `${each.delivery_id} ${each.number}`),
  )
  return ended.filter(({ claim }) => !written.has(`${claim.id} ${claim.claims}`))
}

const isGone = ({ sent }: FinishedAttempt): boolean => sent.error === null && sent.status === 410

function outcomeOf(ended: FinishedAttempt, now: Date): queue.Settled {
  const { id, claims, attempts } = ended.claim
  if (!ended.sent.problem) return { id, claims, status: 'SUCCEEDED', nextAttemptAt: null }
  if (isGone(ended)) return { id, claims, status: 'CANCELLED', nextAttemptAt: null }
  const next = nextAttemptAt(now, attempts + 1, ended.sent.retryAfter)
  return { id, claims, status: next ? 'PENDING' : 'EXHAUSTED', nextAttemptAt: next }
}

/** In order of completion: only failures after the last success are consecutive. */
function tally(batch: FinishedAttempt[]): queue.Tally[] {
  const tallies = new Map<string, queue.Tally>()
  for (const { claim, sent } of batch) {
    const before = tallies.get(claim.webhook_id) ?? { webhookId: claim.webhook_id, failures: 0, succeeded: false }
    tallies.set(claim.webhook_id, sent.problem ? { ...before, failures: before.failures + 1 } : { ...before, failures: 0, succeeded: true })
  }
  return [...tallies.values()]
}

const toAttempt = ({ claim, sent, sentAt }: FinishedAttempt): sql.AttemptRow => ({
  delivery_id: claim.id,
  number: claim.claims,
  url: claim.url,
  signature: sent.signature,
  status: sent.status,
  error: sent.problem,
  response: sent.body,
  latency_ms: sent.latencyMs,
  attempted_at: sentAt,
})

async function giveUp(tx: Tx, deps: EventDeps, failed: FinishedAttempt[]): Promise<void> {
  const now = deps.clock.now()
  const gone = failed.filter(isGone).map(({ claim }) => claim.webhook_id)
  const ids = failed.map(({ claim }) => claim.webhook_id)
  const disabled = [
    ...(gone.length > 0 ? await queue.disable(tx, gone, 'The receiver answered 410: it wants no more events', now) : []),
    ...(await disableHopeless(tx, await queue.receiversToDisable(tx, ids, FAILURES_TO_DISABLE, givenUpSince(now)), now)),
  ]
  if (disabled.length === 0) return
  await sql.cancelPending(
    tx,
    disabled.map(({ id }) => id),
    now,
  )
  for (const webhook of disabled.toSorted((a, b) => (a.account_id < b.account_id ? -1 : 1))) await recordDisabled(tx, deps, webhook)
}

const disableHopeless = async (tx: Tx, ids: string[], now: Date): Promise<sql.WebhookRow[]> =>
  ids.length > 0
    ? queue.disable(tx, ids, `At least ${FAILURES_TO_DISABLE} attempts in a row have failed, and none succeeded for 5 days`, now)
    : []

/** For the event feed and the owner's email. */
const recordDisabled = (tx: Tx, deps: EventDeps, webhook: sql.WebhookRow) =>
  recordEvent(tx, deps, {
    accountId: webhook.account_id,
    type: 'webhook.disabled',
    subjectId: webhook.id,
    data: { webhook: toWebhook(webhook), reason: webhook.disabled_reason },
  })
