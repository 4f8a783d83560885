// TOTP second factor: six digits, new every 30 seconds. Clock skew of one step is tolerated; no code works twice. Recovery codes replace
// a lost app.
import type { Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import type { Vault } from '../../kernel/crypto.ts'
import { renewRecoveryCodes, takeRecoveryCode } from './recovery-codes.ts'
import type { UserRow } from './sql.ts'
import * as sql from './sql.ts'

const STEP_MS = 30_000

const library = () => import('otpauth')

const contextOf = (userId: string): string => `totp:${userId}`

export interface NewSecret {
  secret: string
  uri: string
}

/** Not enabled until a code is confirmed. */
export async function beginTotp(tx: Tx, vault: Vault, user: UserRow, issuer: string): Promise<NewSecret> {
  if (user.totp_enabled_at) throw apiError('already_exists', 'There is a second factor already: remove it first')
  const { Secret, TOTP } = await library()
  const secret = new Secret({ size: 20 })
  await sql.setTotp(tx, user.id, { secret: vault.seal(secret.base32, contextOf(user.id)), enabledAt: null })
  return { secret: secret.base32, uri: new TOTP({ issuer, label: user.email, secret }).toString() }
}

/** Returns the recovery codes. */
export async function confirmTotp(tx: Tx, vault: Vault, now: Date, user: UserRow, code: string): Promise<string[]> {
  if (user.totp_enabled_at || !user.totp_secret) throw apiError('invalid_state', 'There is no second factor to confirm: begin again')
  await spendCode(tx, vault, now, user, code)
  await sql.setTotp(tx, user.id, { secret: user.totp_secret, enabledAt: now })
  return renewRecoveryCodes(tx, vault, now, { ...user, totp_enabled_at: now })
}

export async function removeTotp(tx: Tx, user: UserRow): Promise<void> {
  await sql.setTotp(tx, user.id, { secret: null, enabledAt: null })
  await sql.dropRecoveryCodes(tx, user.id)
}

export type SpentCode = 'totp' | 'recovery'

/** Consumes a TOTP or recovery code, or throws. */
export async function consumeCode(tx: Tx, vault: Vault, now: Date, user: UserRow, code: string): Promise<SpentCode> {
  if (/^\d{6}$/.test(code)) {
    await spendCode(tx, vault, now, user, code)
    return 'totp'
  }
  if (!(await takeRecoveryCode(tx, vault, user, code)))
    throw apiError('wrong_totp', 'This code is not right, or was used already: each recovery code works once')
  return 'recovery'
}

/** One conditional statement lets one of two concurrent uses of a code succeed. */
async function spendCode(tx: Tx, vault: Vault, now: Date, user: UserRow, code: string): Promise<void> {
  const { Secret, TOTP } = await library()
  const totp = new TOTP({ secret: Secret.fromBase32(vault.open(user.totp_secret!, contextOf(user.id))) })
  const delta = totp.validate({ token: code, timestamp: now.getTime(), window: 1 })
  const step = BigInt(Math.floor(now.getTime() / STEP_MS) + (delta ?? 0))
  if (delta === null || (await sql.spendStep(tx, user.id, step)) === 0)
    throw apiError('wrong_totp', 'This code is not right, or was used already: wait for the next one')
}
