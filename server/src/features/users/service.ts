// Users: identity and authentication. Sessions are the `sessions` feature.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { createAccount, findAccount, setAddress, type PayerRow } from '../accounts/service.ts'
import { useWelcomeLink } from './one-time-links.ts'
import * as sql from './sql.ts'

export { hashPassword, requireHashingRoom, verifyPassword, type HashClient } from './password-hash.ts'
export { beginTotp, confirmTotp, removeTotp, consumeCode } from './totp.ts'
export { countRecoveryCodes, renewRecoveryCodes } from './recovery-codes.ts'
export { sendLinkMail } from './link-mail.ts'
export { issuePasswordLink, issueSignUpLink, issueWelcomeLink, requireLink, usePasswordLink, useSignUpLink } from './one-time-links.ts'
export {
  accountsOf,
  dropLinksOf,
  findByEmail,
  findSignIn,
  findUser,
  hasOperator,
  listUsers,
  noteAddress,
  setLanguage,
  setName,
  setOperator,
  setPassword,
  type ListedUser,
  type UserRow,
} from './sql.ts'

interface NewUser {
  email: string
  name?: string
  /** Null for who signs in in another way. */
  passwordHash: string | null
}

/** The account of `berthd quickstart` while there is no owner. Nobody receives mail at this address. */
export const QUICKSTART_EMAIL = 'you@example.com'

/** May take over an existing account: the welcome link proves control of this machine. */
export async function createOwner(tx: Tx, now: Date, { token, ...user }: NewUser & { token: string }): Promise<sql.UserRow> {
  await useWelcomeLink(tx, now, token)
  const account = (await findAccount(tx, user.email)) ?? (await takeQuickstartAccount(tx, user)) ?? (await createAccount(tx, now, user))
  return insert(tx, now, account.id, { ...user, isOperator: true })
}

/** Gives quickstart's account, with its VM and API key, the address of the owner; not once somebody signs in to it. */
async function takeQuickstartAccount(tx: Tx, owner: { email: string; name?: string }): Promise<PayerRow | null> {
  const account = await findAccount(tx, QUICKSTART_EMAIL)
  if (!account || (await sql.listUsers(tx, account.id)).length > 0) return null
  return setAddress(tx, account.id, owner)
}

/** Never joins an existing account, because only with mail a sign-up proves ownership of the address. */
export async function signUp(tx: Tx, now: Date, user: NewUser): Promise<sql.UserRow> {
  const account = await createAccount(tx, now, user)
  return insert(tx, now, account.id, { ...user, isOperator: false })
}

/** By an invitation: whoever invited decides what the user may do, and there is no account of the user's own. */
export const register = (tx: Tx, now: Date, user: NewUser): Promise<sql.UserRow> => insert(tx, now, null, { ...user, isOperator: false })

/** Returns the first owner of the account; creates one without a password if there is none. */
export async function ensureUser(tx: Tx, now: Date, account: { id: string; email: string; name: string }): Promise<sql.UserRow> {
  const first = (await sql.listUsers(tx, account.id)).find(({ role }) => role === 'owner')
  return first ?? insert(tx, now, account.id, { email: account.email, name: account.name, passwordHash: null, isOperator: false })
}

async function insert(
  tx: Tx,
  now: Date,
  accountId: string | null,
  { email, name = '', passwordHash, isOperator }: { email: string; name?: string; passwordHash: string | null; isOperator: boolean },
): Promise<sql.UserRow> {
  const row = { id: newId(), account_id: accountId, email, name, password_hash: passwordHash, is_operator: isOperator, created_at: now }
  const made = await sql.insertUser(tx, row)
  if (!made) throw apiError('already_exists', `Somebody signs in with ${email} already`)
  return made
}

export async function lockUser(tx: Tx, id: string): Promise<sql.UserRow> {
  const person = await sql.lockUser(tx, id)
  if (!person) throw notFound('Person')
  return person
}

export async function getUserByEmail(db: Queries, email: string): Promise<sql.UserRow> {
  const person = await sql.findByEmail(db, email)
  if (!person) throw notFound(`Person ${email}`)
  return person
}
