// Names of public addresses in reverse DNS. A request writes what is wanted; a reconciler tells the name server, until it has it.
import type { Config } from '../../config.ts'
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { getAccount } from '../accounts/service.ts'

export const APPLY_REVERSE_NAMES = 'reverse_names.apply'

export interface ReverseName {
  name: string
  state: 'PENDING' | 'SET' | 'FAILED'
  error: string | null
}

/** Of an address and its account, for a statement that shows it. */
export const reverseNameAsJson = (address: Sql, accountId: Sql): Sql => sql`
  (select json_build_object('name', n.name, 'state', n.state, 'error', n.error) from reverse_names n
    where n.address = ${address} and n.account_id = ${accountId} and n.name is not null)`

export const toReverseFields = (reverse: ReverseName | null) => ({
  reverseName: reverse?.name ?? null,
  reverseNameState: reverse?.state ?? null,
  reverseNameReason: reverse?.error ?? null,
})

export const toIpv6ReverseFields = (reverse: ReverseName | null) => ({
  ipv6ReverseName: reverse?.name ?? null,
  ipv6ReverseNameState: reverse?.state ?? null,
  ipv6ReverseNameReason: reverse?.error ?? null,
})

export async function setReverseName(
  tx: Tx,
  config: Pick<Config, 'pdnsUrl'>,
  now: Date,
  accountId: string,
  address: string,
  name: string | null,
): Promise<void> {
  if (config.pdnsUrl === null)
    throw apiError('unavailable', 'This service has no reverse DNS: the operator has set up no name server for it')
  if ((await getAccount(tx, accountId)).suspended_at)
    throw apiError('invalid_state', 'This account is suspended, so nothing of it is changed: open a ticket to ask why')
  await tx.run(sql`
    insert into reverse_names (address, account_id, name, updated_at) values (${address}::inet, ${accountId}, ${name}, ${now})
    on conflict (address) do update set account_id = excluded.account_id, name = excluded.name, version = reverse_names.version + 1, state = 'PENDING',
      error = null, next_try_at = null, updated_at = excluded.updated_at`)
  await triggerReconciler(tx, APPLY_REVERSE_NAMES)
}

/** Of an address that is given back: it must not carry its former owner's name. */
export async function clearReverseName(tx: Tx, now: Date, address: string): Promise<void> {
  const cleared = await tx.run(sql`
    update reverse_names set name = null, version = version + 1, state = 'PENDING', error = null, next_try_at = null, updated_at = ${now}
    where address = ${address}::inet and name is not null`)
  if (cleared > 0) await triggerReconciler(tx, APPLY_REVERSE_NAMES)
}

export interface PendingName {
  address: string
  name: string | null
  version: number
}

/** One process at a time has it. The oldest change first: who changes a name often keeps nobody waiting. */
export const claimPending = (db: Queries, now: Date, until: Date) =>
  db.maybe<PendingName>(sql`
    update reverse_names set claimed_until = ${until} where address = (
      select address from reverse_names where state <> 'SET' and coalesce(claimed_until, '-infinity') <= ${now}
        and coalesce(next_try_at, '-infinity') <= ${now} order by updated_at, address limit 1 for update skip locked)
    returning host(address) as address, name, version`)

/** A change made meanwhile is still pending. */
export async function recordSet(db: Queries, { address, name, version }: PendingName): Promise<void> {
  const unchanged = sql`address = ${address}::inet and version = ${version}`
  if (name === null) await db.run(sql`delete from reverse_names where ${unchanged}`)
  else await db.run(sql`update reverse_names set state = 'SET', error = null, next_try_at = null where ${unchanged}`)
  await db.run(sql`update reverse_names set claimed_until = null where address = ${address}::inet`)
}

export const recordFailed = (db: Queries, { address, version }: PendingName, error: string, nextTryAt: Date) =>
  db.run(sql`
    update reverse_names set claimed_until = null, state = case when version = ${version} then 'FAILED' else state end,
      error = case when version = ${version} then ${error} else error end, next_try_at = case when version = ${version} then ${nextTryAt}::timestamptz else null end
    where address = ${address}::inet`)
