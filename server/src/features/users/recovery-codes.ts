// Ten codes to write down, for the day when the app with the second factor is gone. Each works once; they are shown once, and what we keep
// of them is of no use without our key.
import type { Vault } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { randomText } from '../../kernel/ids.ts'
import type { UserRow } from './sql.ts'
import * as sql from './sql.ts'

const CODES = 10
const LENGTH = 16
/** Nothing that is mistaken for something else on paper. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

const hashOf = (vault: Vault, userId: string, code: string): Buffer =>
  vault.digest(`recovery:${userId}:${code.replace(/[ -]/g, '').toLowerCase()}`)

const newCode = (): string => randomText(LENGTH, ALPHABET).match(/.{4}/g)!.join('-')

/** In the place of all there were. */
export async function renewRecoveryCodes(tx: Tx, vault: Vault, now: Date, user: UserRow): Promise<string[]> {
  if (!user.totp_enabled_at) throw apiError('invalid_state', 'There is no second factor to recover: switch one on first')
  const codes = Array.from({ length: CODES }, newCode)
  await sql.dropRecoveryCodes(tx, user.id)
  const hashes = codes.map((code) => hashOf(vault, user.id, code))
  await sql.insertRecoveryCodes(tx, now, user.id, hashes)
  return codes
}

/** Whether it was one of them; then it is used up. */
export const takeRecoveryCode = async (tx: Tx, vault: Vault, user: UserRow, code: string): Promise<boolean> =>
  (await sql.takeRecoveryCode(tx, user.id, hashOf(vault, user.id, code))) === 1

export const countRecoveryCodes = (db: Queries, userId: string): Promise<number> => sql.countRecoveryCodes(db, userId)
