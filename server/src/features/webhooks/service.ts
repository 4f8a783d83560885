// Subscriptions. The URL check may need a DNS lookup, so it runs before the transaction; its result is used inside, after the other
// checks.
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { getAccount, releaseQuota, reserveQuota } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { newSecret, sealSecret } from './message.ts'
import { overlapUntil } from './schedule.ts'
import type { CreateWebhook, UpdateWebhook, Webhook, WebhookWithSecret } from './schema.ts'
import * as sql from './sql.ts'
import { toWebhook } from './view.ts'

const QUOTA = 'webhooks'

type Service = Pick<Deps, 'clock' | 'vault'>

export async function listWebhooks(
  db: Queries,
  accountId: string,
  labelSelector: string | undefined,
  page: PageRequest,
): Promise<Paged<Webhook>> {
  return pageOf(
    page,
    () => sql.countWebhooks(db, accountId, labelSelector),
    async (range) => (await sql.listWebhooks(db, accountId, labelSelector, range)).map(toWebhook),
  )
}

export const getWebhook = async (db: Queries, accountId: string, id: string): Promise<Webhook> =>
  toWebhook(await requireWebhook(db, accountId, id))

export async function requireWebhook(db: Queries, accountId: string, id: string): Promise<sql.WebhookRow> {
  const row = await sql.findWebhook(db, accountId, id)
  if (!row) throw notFound('Webhook')
  return row
}

/** `reasonAgainst`: why the URL may not be called, or null. */
export async function createWebhook(
  tx: Tx,
  { clock, vault }: Service,
  accountId: string,
  input: CreateWebhook,
  reasonAgainst: string | null,
): Promise<WebhookWithSecret> {
  requireCallable(reasonAgainst)
  await reserveQuota(tx, accountId, QUOTA, 1n)
  const [id, secret] = [newId(), newSecret()]
  const row = await sql.insertWebhook(tx, {
    id,
    account_id: accountId,
    url: input.url,
    events: [...new Set(input.events)],
    description: input.description ?? '',
    labels: input.labels ?? {},
    label_selector: input.labelSelector ?? null,
    secret: sealSecret(vault, id, secret),
    created_at: clock.now(),
  })
  return { ...toWebhook(row), secret }
}

export async function updateWebhook(
  tx: Tx,
  now: Date,
  accountId: string,
  id: string,
  input: UpdateWebhook,
  reasonAgainst: string | null,
): Promise<Webhook> {
  const before = await lockWebhook(tx, accountId, id)
  if (input.url !== undefined && input.url !== before.url) await requireNotSuspended(tx, accountId)
  requireCallable(reasonAgainst)
  const { url = before.url, description = before.description, labels = before.labels, isActive = before.is_active } = input
  const { labelSelector: label_selector = before.label_selector } = input
  const events = input.events ? [...new Set(input.events)] : before.events
  const anew = isActive && !before.is_active ? { fail_count: 0, disabled_reason: null, active_since: now } : {}
  const row = await sql.updateWebhook(tx, {
    ...before,
    url,
    events,
    description,
    labels,
    label_selector,
    is_active: isActive,
    ...anew,
    updated_at: now,
  })
  if (!isActive) await sql.cancelPending(tx, [id], now)
  return toWebhook(row)
}

/** The previous secret keeps signing for a day, so that receivers can switch without a gap. */
export async function rotateSecret(tx: Tx, { clock, vault }: Service, accountId: string, id: string): Promise<WebhookWithSecret> {
  const before = await lockWebhook(tx, accountId, id)
  const [now, secret] = [clock.now(), newSecret()]
  const row = await sql.updateWebhook(tx, {
    ...before,
    secret: sealSecret(vault, id, secret),
    previous_secret: before.secret,
    previous_secret_until: overlapUntil(now),
    updated_at: now,
  })
  return { ...toWebhook(row), secret }
}

export async function deleteWebhook(tx: Tx, now: Date, accountId: string, id: string): Promise<{ id: string }> {
  await lockWebhook(tx, accountId, id)
  await sql.markDeleted(tx, id, now)
  await sql.cancelPending(tx, [id], now)
  await releaseQuota(tx, accountId, QUOTA, 1n)
  return { id }
}

export async function deleteWebhooksOf(tx: Tx, now: Date, accountId: string): Promise<void> {
  for (const id of await sql.webhookIdsOf(tx, accountId)) await deleteWebhook(tx, now, accountId, id)
}

export async function lockWebhook(tx: Tx, accountId: string, id: string): Promise<sql.WebhookRow> {
  const row = await sql.lockWebhook(tx, accountId, id)
  if (!row) throw notFound('Webhook')
  return row
}

/** For what makes us call a URL at the customer's will. */
export async function requireNotSuspended(db: Queries, accountId: string): Promise<void> {
  if ((await getAccount(db, accountId)).suspended_at)
    throw apiError('invalid_state', 'This account is suspended, so nothing is sent for it: open a ticket to ask why')
}

function requireCallable(reasonAgainst: string | null): void {
  if (reasonAgainst) throw apiError('url_not_allowed', `This URL may not be called: ${reasonAgainst}`)
}
