// Ten recovery codes for a lost second factor. Each works once; they are shown once and stored as keyed hashes.
import type { Vault } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { randomText } from '../../kernel/ids.ts'
import type { UserRow } from './sql.ts'
import * as sql from './sql.ts'

const CODES = 10
const LENGTH = 16
/** Without characters that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

const hashOf = (vault: Vault, userId: string, code: string): Buffer =>
  vault.digest(`recovery:${userId}:${code.replace(/[ -]/g, '').toLowerCase()}`)

const newCode = (): string => randomText(LENGTH, ALPHABET).match(/.{4}/g)!.join('-')

/** Replaces all existing codes. */
export async function renewRecoveryCodes(tx: Tx, vault: Vault, now: Date, user: UserRow): Promise<string[]> {
  if (!user.totp_enabled_at) throw apiError('invalid_state', 'There is no second factor to recover: switch one on first')
  const codes = Array.from({ length: CODES }, newCode)
  await sql.dropRecoveryCodes(tx, user.id)
  const hashes = codes.map((code) => hashOf(vault, user.id, code))
  await sql.insertRecoveryCodes(tx, now, user.id, hashes)
  return codes
}

/** Consumes the code; false when it is not valid. */
export const takeRecoveryCode = async (tx: Tx, vault: Vault, user: UserRow, code: string): Promise<boolean> =>
  (await sql.takeRecoveryCode(tx, user.id, hashOf(vault, user.id, code))) === 1

export const countRecoveryCodes = (db: Queries, userId: string): Promise<number> => sql.countRecoveryCodes(db, userId)
