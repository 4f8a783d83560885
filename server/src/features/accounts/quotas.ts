// Usage and limits of an account, counted in the transaction that creates or deletes a resource.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, unauthorized } from '../../kernel/errors.ts'
import * as sql from './sql.ts'

/** What was deleted and counts nevertheless, as object lock keeps it, and when the first of it is free at the latest. */
export interface KeptGib {
  gib: number
  until: Date | null
}

type FindKept = () => Promise<KeptGib>

export const reserveQuota = (tx: Tx, accountId: string, name: string, amount: bigint, findKept?: FindKept): Promise<void> =>
  reserveQuotas(tx, accountId, { [name]: amount }, findKept && { [name]: findKept })

/** One conditional update checks and reserves, so parallel requests cannot exceed a quota. A refusal says what `kept` finds of the quota. */
export async function reserveQuotas(
  tx: Tx,
  accountId: string,
  amounts: Record<string, bigint>,
  kept: Record<string, FindKept> = {},
): Promise<void> {
  const taken = new Set((await sql.addToQuotas(tx, accountId, amounts)).map((row) => row.name))
  // In the order in which rows that exist are locked: others of the account may be adding theirs.
  for (const [name, amount] of Object.entries(amounts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    if (!taken.has(name)) await takeMissing(tx, accountId, name, amount, kept[name])
}

/** `volume_storage_gib` → `GiB of volume storage` */
const quotaWords = (name: string): string =>
  name
    .replace(/^(.+)_(gib|mib)$/, (_, what: string, unit: string) => `${unit === 'gib' ? 'GiB' : 'MiB'} of ${what}`)
    .replaceAll('_', ' ')
    .replace(/\bvms\b/, 'VMs')
    .replace(/\b(ram|ssh|vcpu)\b/, (word) => (word === 'vcpu' ? 'vCPU' : word.toUpperCase()))

/** Handles a quota that is exhausted or has no counter row yet. */
async function takeMissing(tx: Tx, accountId: string, name: string, amount: bigint, findKept?: FindKept): Promise<void> {
  await sql.ensureQuota(tx, accountId, name)
  if ((await sql.addToQuotas(tx, accountId, { [name]: amount })).length > 0) return
  const quota = (await sql.listQuotas(tx, accountId)).find((each) => each.name === name)
  if (!quota) throw new Error(`BUG: the catalog has no quota.${name}`)
  const account = await sql.findAccount(tx, accountId)
  if (account?.deleted_at) throw unauthorized('This project has been deleted')
  if (account?.suspended_at) throw apiError('quota_exceeded', 'This account is suspended and gets nothing new. Open a ticket to ask why')
  const shared = account?.payer_account_id ? ' by the account that pays and all its projects' : ''
  const kept = await findKept?.()
  const end = kept?.until ? `, the first of it until ${kept.until.toISOString()} at the latest` : ''
  const keptWords = kept?.gib ? `. ${kept.gib} GiB of it were deleted and are kept by object lock${end}` : ''
  throw apiError(
    'quota_exceeded',
    `Quota exceeded: ${quota.used} of ${quota.limit} ${quotaWords(name)} are in use${shared}${amount > 1n ? `, and this needs ${amount} more` : ''}. Delete some, or ask support for more${keptWords}`,
  )
}

export const releaseQuota = (tx: Tx, accountId: string, name: string, amount: bigint): Promise<void> =>
  releaseQuotas(tx, accountId, { [name]: amount })

export async function releaseQuotas(tx: Tx, accountId: string, amounts: Record<string, bigint>): Promise<void> {
  const less = Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, -amount]))
  const names = Object.keys(amounts)
  if ((await sql.addToQuotas(tx, accountId, less)).length < names.length)
    throw new Error(`BUG: a quota of ${names.join(', ')} of ${accountId} was given back but never taken`)
}

export const recountQuota = sql.recountQuota

/** Reads the usage counter; does not count the resources themselves. */
export const quotaUsed = async (db: Queries, accountId: string, name: string): Promise<bigint> =>
  (await sql.findQuotaUsed(db, accountId, name))?.used ?? 0n

/** For a limit per parent, such as snapshots of one VM: the caller counts the children while it holds the parent's lock. */
export async function quotaLimit(db: Queries, accountId: string, name: string): Promise<bigint> {
  const quota = (await sql.listQuotas(db, accountId)).find((each) => each.name === name)
  if (!quota) throw new Error(`BUG: the catalog has no quota.${name}`)
  return quota.limit
}

export const setQuotaLimit = sql.setQuotaLimit

export const listQuotas = sql.listQuotas
