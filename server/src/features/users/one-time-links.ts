// Short-lived one-time links. The secret is in the URL fragment, which browsers do not send to servers; only its hash is stored.
import { addDuration } from '../../kernel/clock.ts'
import { isWellFormedToken, newToken, sha256 } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, type ApiError } from '../../kernel/errors.ts'
import * as sql from './sql.ts'

const PREFIX = 'lnk_'
const WELCOME_LIFE = '15m'

export interface IssuedLink {
  url: string
  expiresAt: Date
}

/** For the future owner. `base`: URL of the dashboard, such as http://127.0.0.1:8080. */
export const issueWelcomeLink = (db: Queries, now: Date, base: string): Promise<IssuedLink> =>
  issue(db, now, { kind: 'welcome', life: WELCOME_LIFE, page: `${base}/welcome` })

export const issuePasswordLink = (db: Queries, now: Date, personId: string, base: string, life: string): Promise<IssuedLink> =>
  issue(db, now, { kind: 'password', userId: personId, life, page: `${base}/reset` })

export const issueSignUpLink = (
  db: Queries,
  now: Date,
  { email, name = '' }: { email: string; name?: string },
  base: string,
  life: string,
): Promise<IssuedLink> => issue(db, now, { kind: 'sign_up', email, name, life, page: `${base}/confirm` })

interface Order {
  kind: sql.NewLink['kind']
  userId?: string
  email?: string
  name?: string
  life: string
  page: string
}

async function issue(db: Queries, now: Date, order: Order): Promise<IssuedLink> {
  const { kind, userId = null, email = null, name = null, life, page } = order
  const secret = newToken(PREFIX)
  const expiresAt = addDuration(now, life)
  await sql.insertLink(db, { hash: sha256(secret), kind, user_id: userId, email, name, created_at: now, expires_at: expiresAt })
  return { url: `${page}#${secret}`, expiresAt }
}

const ADVICE: Record<sql.NewLink['kind'], string> = {
  welcome: 'Start Berth again, or run npx berthd owner invite, for a new one',
  password: 'Ask for a new one',
  sign_up: 'Sign up again for a new one',
}

/** Before work is spent on a link: whoever made up a secret is refused here. The link is taken in the transaction that uses it. */
export async function requireLink(db: Queries, now: Date, kind: sql.NewLink['kind'], secret: string): Promise<void> {
  if (!isWellFormedToken(PREFIX, secret) || !(await sql.isUsableLink(db, now, kind, sha256(secret)))) throw gone(kind)
}

export async function useWelcomeLink(tx: Tx, now: Date, secret: string): Promise<void> {
  const hash = sha256(secret)
  const isGood = (await sql.takeWelcomeLinks(tx)).some((link) => link.hash.equals(hash) && link.expires_at > now)
  if (!isGood || (await sql.hasOperator(tx))) throw gone('welcome')
}

/** Returns the user of the link. */
export async function usePasswordLink(tx: Tx, now: Date, secret: string): Promise<sql.UserRow> {
  const link = await sql.takePasswordLink(tx, now, sha256(secret))
  const user = link && (await sql.lockUser(tx, link.user_id))
  if (!user) throw gone('password')
  await sql.dropLinksOf(tx, user.id)
  return user
}

/** Returns what was given at sign-up. */
export async function useSignUpLink(tx: Tx, now: Date, secret: string): Promise<{ email: string; name: string }> {
  const link = await sql.takeSignUpLink(tx, now, sha256(secret))
  if (!link) throw gone('sign_up')
  return { email: link.email, name: link.name ?? '' }
}

const gone = (kind: sql.NewLink['kind']): ApiError =>
  apiError('link_gone', `This link was used already, has expired or is not complete. ${ADVICE[kind]}`)
