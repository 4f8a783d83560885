// One-time tokens by which another machine of the same database gets the master key. The database has the key sealed by the token and never the
// token, so that neither it nor its backups are enough to read the key.
import { isWellFormedToken, newToken, sha256, vaultFrom, type Vault } from '../crypto.ts'
import { addDuration, subtractDuration } from '../clock.ts'
import { sql, type Queries } from './db.ts'

const PREFIX = 'berthjoin_'
const VALID = '1h'
/** How long it is known who made and used a token. */
const REMEMBERED = '90d'

const keyOf = (token: string): Vault => vaultFrom(sha256(token))
const hashOf = (token: string): Buffer => keyOf(token).digest('join token')
const CONTEXT = 'master key'

/** `machine`: the name of the one that makes it. */
export async function createJoinToken(
  db: Queries,
  now: Date,
  masterKey: Buffer,
  machine: string,
): Promise<{ token: string; expiresAt: Date }> {
  await pruneJoinTokens(db, now)
  const token = newToken(PREFIX)
  const expiresAt = addDuration(now, VALID)
  const sealed = keyOf(token).seal(masterKey.toString('hex'), CONTEXT)
  await db.run(sql`
    insert into join_tokens (hash, sealed_key, created_at, expires_at, made_on)
    values (${hashOf(token)}, ${sealed}, ${now}, ${expiresAt}, ${machine})`)
  return { token, expiresAt }
}

const NEW_ONE = 'On a machine that runs Berth on this database, npx berthd join-token makes a new one'

/** The master key, for a machine of that name. In a transaction: what fails in it leaves the token as it is. */
export async function useJoinToken(tx: Queries, now: Date, token: string, machine: string): Promise<Buffer> {
  if (!isWellFormedToken(PREFIX, token)) throw new Error(`This is no join token: it does not begin with ${PREFIX}, or is not complete`)
  const found = await tx.maybe<{ sealed_key: Buffer | null; expires_at: Date; revoked_at: Date | null }>(
    sql`select sealed_key, expires_at, revoked_at from join_tokens where hash = ${hashOf(token)} for update`,
  )
  if (!found) throw new Error(`This join token is not of this database, or expired long ago. ${NEW_ONE}`)
  if (found.revoked_at) throw new Error(`This join token was revoked at ${found.revoked_at.toISOString()}. ${NEW_ONE}`)
  if (found.expires_at <= now) throw new Error(`This join token has expired at ${found.expires_at.toISOString()}. ${NEW_ONE}`)
  if (!found.sealed_key) throw new Error(`This join token was used already: each serves for one machine. ${NEW_ONE}`)
  await tx.run(sql`update join_tokens set sealed_key = null, used_at = ${now}, used_on = ${machine} where hash = ${hashOf(token)}`)
  return Buffer.from(keyOf(token).open(found.sealed_key, CONTEXT), 'hex')
}

/** Null: not, or by a version that did not note it. */
interface ListedToken {
  created_at: Date
  expires_at: Date
  made_on: string | null
  used_at: Date | null
  used_on: string | null
  revoked_at: Date | null
}

/** The newest first. */
export const listJoinTokens = (db: Queries) =>
  db.many<ListedToken>(sql`select created_at, expires_at, made_on, used_at, used_on, revoked_at from join_tokens order by created_at desc`)

/** All that could still be used. Returns how many these were. */
export const revokeJoinTokens = (db: Queries, now: Date): Promise<number> =>
  db.run(sql`update join_tokens set sealed_key = null, revoked_at = ${now} where sealed_key is not null and expires_at > ${now}`)

/** What is left of a token that has expired opens nothing. */
export async function pruneJoinTokens(db: Queries, now: Date): Promise<void> {
  await db.run(sql`update join_tokens set sealed_key = null where expires_at <= ${now} and sealed_key is not null`)
  await db.run(sql`delete from join_tokens where expires_at <= ${subtractDuration(now, REMEMBERED)}`)
}
