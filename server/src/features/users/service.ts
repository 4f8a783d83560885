// People: who they are and how they prove it. Being signed in is the business of `sessions`.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { createAccount, findAccount } from '../accounts/service.ts'
import { useWelcomeLink } from './one-time-links.ts'
import * as sql from './sql.ts'

export { hashPassword, verifyPassword as isPassword } from './password-hash.ts'
export { beginTotp, confirmTotp, removeTotp, consumeCode as spendAnyCode } from './totp.ts'
export { countRecoveryCodes, renewRecoveryCodes } from './recovery-codes.ts'
export { issuePasswordLink, issueWelcomeLink, usePasswordLink } from './one-time-links.ts'
export {
  dropLinksOf,
  findByEmail,
  findPerson,
  hasOperator,
  isKnownAddress,
  listPeople,
  noteAddress,
  setName,
  setOperator,
  setPassword,
  type PersonRow,
} from './sql.ts'

interface NewUser {
  email: string
  name?: string
  passwordHash: string
}

/** The account may be there already: whoever has the welcome link runs this machine. */
export async function createOwner(tx: Tx, now: Date, { token, ...user }: NewUser & { token: string }): Promise<sql.PersonRow> {
  await useWelcomeLink(tx, now, token)
  const account = (await findAccount(tx, user.email)) ?? (await createAccount(tx, now, user))
  return insert(tx, now, account.id, { ...user, isOperator: true })
}

/** Never into an account that exists: whoever signs up has not proved to be at that address. */
export async function signUp(tx: Tx, now: Date, user: NewUser): Promise<sql.PersonRow> {
  const account = await createAccount(tx, now, user)
  return insert(tx, now, account.id, { ...user, isOperator: false })
}

/** Somebody for an account that has nobody yet, with no password so far. */
export async function ensureUser(tx: Tx, now: Date, account: { id: string; email: string; name: string }): Promise<sql.PersonRow> {
  const [first] = await sql.listPeople(tx, account.id)
  return first ?? insert(tx, now, account.id, { email: account.email, name: account.name, passwordHash: null, isOperator: false })
}

async function insert(
  tx: Tx,
  now: Date,
  accountId: string,
  { email, name = '', passwordHash, isOperator }: { email: string; name?: string; passwordHash: string | null; isOperator: boolean },
): Promise<sql.PersonRow> {
  const row = { id: newId(), account_id: accountId, email, name, password_hash: passwordHash, is_operator: isOperator, created_at: now }
  const made = await sql.insertPerson(tx, row)
  if (!made) throw apiError('already_exists', `Somebody signs in with ${email} already`)
  return made
}

export async function lockPerson(tx: Tx, id: string): Promise<sql.PersonRow> {
  const person = await sql.lockPerson(tx, id)
  if (!person) throw notFound('Person')
  return person
}

export async function getPersonByEmail(db: Queries, email: string): Promise<sql.PersonRow> {
  const person = await sql.findByEmail(db, email)
  if (!person) throw notFound(`Person ${email}`)
  return person
}
