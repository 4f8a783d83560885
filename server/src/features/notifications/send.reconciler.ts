// Sends due emails sequentially, at least once: a worker that crashes after the server accepted an email leaves it to be sent again under
// the same Message-ID. While the server is unusable, a run attempts one email and releases the others.
import { addDuration, subtractDuration, parseDurationMs } from '../../kernel/clock.ts'
import { MailError, type Mailer } from '../../kernel/net/smtp.ts'
import { renderMail } from '../branding/service.ts'
import { reconciler, type Deps } from '../deps.ts'
import { toMailing } from './event-mails.ts'
import { SEND } from './queue-email.ts'
import * as sql from './sql.ts'

const BATCH = 5
/** Longer than a batch takes when every email reaches its timeout. */
const CLAIM = '6m'
/** Delays after the first failed attempt, the second, and so on: two days in total. */
const WAITS = ['1m', '5m', '15m', '1h', '3h', '6h', '12h', '24h']
/** While email is disabled, pending emails are kept this long, in case a worker starts with email enabled. */
const UNSENT = '1h'
const KEEP = '30d'
/** How long a stopping worker waits for the email in flight. */
const GRACE_MS = 1_000

export const sendMails = reconciler(SEND, '30s', async (deps, stopping = new AbortController().signal) => {
  const { db, clock, mailer } = deps
  if (!mailer) return sql.discardBefore(db, clock.now(), subtractDuration(clock.now(), UNSENT))
  const cutOff = (): unknown => setTimeout(() => mailer.close(), GRACE_MS).unref()
  stopping.addEventListener('abort', cutOff)
  return sendDue(deps, mailer, stopping).finally(() => stopping.removeEventListener('abort', cutOff))
})

async function sendDue(deps: Deps, mailer: Mailer, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  while (!stopping.aborted) {
    const claims = await sql.claimDue(db, clock.now(), addDuration(clock.now(), CLAIM), mailer.domain, BATCH)
    const left = await sendAll(deps, mailer, claims, stopping)
    if (left.length > 0) await sql.giveBack(db, left)
    if (left.length > 0 || claims.length < BATCH) return
  }
}

/** Returns the claims it has not attempted. */
async function sendAll(deps: Deps, mailer: Mailer, claims: sql.Claim[], stopping: AbortSignal): Promise<sql.Claim[]> {
  for (const [index, claim] of claims.entries()) {
    if (stopping.aborted) return claims.slice(index)
    const error = await sendOne(deps, mailer, claim)
    if (error?.isServer) return claims.slice(index + 1)
  }
  return []
}

async function sendOne({ db, clock, log, metrics, branding }: Deps, mailer: Mailer, claim: sql.Claim): Promise<MailError | null> {
  const { id, message_id: messageId, recipient: to, language, type, data, created_at: date } = claim
  const { settings } = await branding.current()
  const content = renderMail(settings, toMailing(type, data), to, language)
  const error = await mailer.send({ messageId, to, date, ...content }).then(() => null, asMailError)
  const outcome = outcomeOf(clock.now(), claim, error)
  await sql.settle(db, clock.now(), claim, outcome)
  metrics.emails.inc({ outcome: outcome.status })
  if (error)
    log.warn({ mail: id, type, err: error }, outcome.status === 'FAILED' ? 'email delivery abandoned' : 'email delivery failed; will retry')
  return error
}

function asMailError(error: unknown): MailError {
  if (error instanceof MailError) return error
  throw error
}

function outcomeOf(now: Date, { attempts }: sql.Claim, error: MailError | null): sql.Outcome {
  if (!error) return { status: 'SENT', error: null, nextAttemptAt: null }
  const wait = error.isFinal ? undefined : WAITS[attempts]
  const sentence = error.message.slice(0, 500)
  if (!wait) return { status: 'FAILED', error: sentence, nextAttemptAt: null }
  const spread = 0.8 + Math.random() * 0.4
  return { status: 'PENDING', error: sentence, nextAttemptAt: new Date(now.getTime() + parseDurationMs(wait) * spread) }
}

const AT_ONCE = 1_000

export const pruneMails = reconciler('emails.prune', '1h', async ({ db, clock }, stopping) => {
  while (!stopping?.aborted && (await sql.deleteBefore(db, subtractDuration(clock.now(), KEEP), AT_ONCE)) === AT_ONCE);
})
