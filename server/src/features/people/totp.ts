// The second factor: six digits of an app, new every 30 seconds. A clock that is one step off is forgiven; no code works twice.
import type { Tx } from '../../kernel/db.ts'
import { refuse } from '../../kernel/errors.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { PersonRow } from './sql.ts'
import * as sql from './sql.ts'

const STEP_MS = 30_000
const ISSUER = 'Berth'

const library = () => import('otpauth')

const contextOf = (personId: string): string => `totp:${personId}`

export interface NewSecret {
  secret: string
  uri: string
}

/** Not in force until a code of it was confirmed. */
export async function beginTotp(tx: Tx, vault: Vault, person: PersonRow): Promise<NewSecret> {
  if (person.totp_enabled_at) throw refuse('already_exists', 'There is a second factor already: remove it first')
  const { Secret, TOTP } = await library()
  const secret = new Secret({ size: 20 })
  await sql.setTotp(tx, person.id, { secret: vault.seal(secret.base32, contextOf(person.id)), enabledAt: null })
  return { secret: secret.base32, uri: new TOTP({ issuer: ISSUER, label: person.email, secret }).toString() }
}

export async function confirmTotp(tx: Tx, vault: Vault, now: Date, person: PersonRow, code: string): Promise<void> {
  if (person.totp_enabled_at || !person.totp_secret) throw refuse('invalid_state', 'There is no second factor to confirm: begin again')
  await spendCode(tx, vault, now, person, code)
  await sql.setTotp(tx, person.id, { secret: person.totp_secret, enabledAt: now })
}

export const removeTotp = (tx: Tx, person: PersonRow) => sql.setTotp(tx, person.id, { secret: null, enabledAt: null })

/** Uses the code up, or refuses it. Of two who send the same, one conditional statement lets a single one through. */
export async function spendCode(tx: Tx, vault: Vault, now: Date, person: PersonRow, code: string): Promise<void> {
  const { Secret, TOTP } = await library()
  const totp = new TOTP({ secret: Secret.fromBase32(vault.open(person.totp_secret!, contextOf(person.id))) })
  const delta = totp.validate({ token: code, timestamp: now.getTime(), window: 1 })
  const step = BigInt(Math.floor(now.getTime() / STEP_MS) + (delta ?? 0))
  if (delta === null || (await sql.spendStep(tx, person.id, step)) === 0)
    throw refuse('wrong_totp', 'This code is not right, or was used already: wait for the next one')
}
