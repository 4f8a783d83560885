// SSH keys are installed when a VM is created or rebuilt; later changes of the row do not affect VMs. Lock order: key, then quota.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Paged, PageRequest } from '../../http/api/schema.ts'
import { numberKey, sortedPageOf, textKey, type Keys } from '../../http/api/sorted-list.ts'
import { releaseQuota, reserveQuota } from '../accounts/service.ts'
import { parsePublicKey } from './parse.ts'
import type { CreateSshKey, RenameSshKey, SshKey, SshKeyQuery } from './schema.ts'
import * as sql from './sql.ts'
import { toSshKey } from './view.ts'

const QUOTA = 'ssh_keys'

const SORT_KEYS: Keys<SshKey, sql.SshKeyField> = {
  name: textKey(({ name }) => name),
  type: textKey(({ type }) => type),
  vmCount: numberKey(({ vmCount }) => vmCount),
}

export const listKeys = (db: Queries, accountId: string, { sort, ...filter }: SshKeyQuery, page: PageRequest): Promise<Paged<SshKey>> =>
  sortedPageOf(
    page,
    sort,
    SORT_KEYS,
    () => sql.countKeys(db, accountId, filter),
    async (range) => (await sql.listKeys(db, accountId, filter, range)).map(toSshKey),
  )

export async function createKey(tx: Tx, now: Date, accountId: string, input: CreateSshKey): Promise<SshKey> {
  const { type, publicKey, fingerprint } = parsePublicKey(input.publicKey)
  const { name, labels = {} } = input
  const key = { id: newId(), account_id: accountId, name, labels, type, fingerprint, public_key: publicKey, created_at: now }
  const row = await sql.insertKey(tx, key)
  if (!row) throw apiError('already_exists', `The key ${fingerprint} is in this account already: use it, or delete it first`)
  await reserveQuota(tx, accountId, QUOTA, 1n)
  return toSshKey({ ...row, vm_count: 0 })
}

export const getKey = async (db: Queries, accountId: string, id: string): Promise<SshKey> => found(await sql.findKey(db, accountId, id))

export async function renameKey(tx: Tx, accountId: string, id: string, { name, labels }: RenameSshKey): Promise<SshKey> {
  if (name === undefined && labels === undefined) throw invalid('give at least one of name, labels')
  return found(await sql.describeKey(tx, accountId, id, name ?? null, labels ?? null))
}

export async function deleteKey(tx: Tx, accountId: string, id: string): Promise<{ id: string }> {
  if (!(await sql.deleteKey(tx, accountId, id))) throw notFound('SSH key')
  await releaseQuota(tx, accountId, QUOTA, 1n)
  return { id }
}

function found(row: sql.CountedRow | undefined): SshKey {
  if (!row) throw notFound('SSH key')
  return toSshKey(row)
}

/** The account's keys in the given order, deduplicated and locked, so that none is deleted before the transaction ends. */
export async function requireKeys(tx: Tx, accountId: string, ids: string[]): Promise<sql.SshKeyRow[]> {
  if (ids.length === 0) return []
  const rows = new Map((await sql.holdKeys(tx, accountId, ids)).map((row) => [row.id, row]))
  return [...new Set(ids)].map((id) => {
    const row = rows.get(id)
    if (!row) throw notFound('SSH key')
    return row
  })
}

/** For keys from `requireKeys` of the same transaction. */
export async function noteKeyUse(tx: Tx, vmId: string, keyIds: string[]): Promise<void> {
  if (keyIds.length > 0) await sql.insertUses(tx, vmId, keyIds)
}

export async function forgetKeyUse(tx: Tx, vmId: string): Promise<void> {
  await sql.deleteUses(tx, vmId)
}

export const keysAsJson = sql.keysAsJson

/** The keys installed on a VM, except those deleted since. */
export const keysOf = (db: Queries, vmId: string): Promise<sql.SshKeyRow[]> => sql.listKeysUsedBy(db, vmId)
