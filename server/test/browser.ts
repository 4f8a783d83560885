// A user's browser: keeps cookies and sends the origin of its page.
import { DASHBOARD_PREFIX } from '../src/compose.ts'
import { createAccount } from '../src/features/accounts/service.ts'
import { hashPassword } from '../src/features/users/service.ts'
import { startSession } from '../src/features/sessions/session-lifecycle.ts'
import { sql } from '../src/kernel/database/db.ts'
import { newId } from '../src/kernel/ids.ts'
import type { Answer, TestApp } from './harness.ts'

export const PASSWORD = 'correct horse battery'
let hashed: Promise<string> | undefined

export const OWN_PAGE = { host: 'localhost', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }

export function browserOf({ request }: Pick<TestApp, 'request'>, address = '127.0.0.1') {
  const cookies = new Map<string, string>()
  const shown = (): string | undefined => (cookies.size === 0 ? undefined : [...cookies].map((each) => each.join('=')).join('; '))
  const store = (text: string): void => {
    const [name = '', value = ''] = text.split(';')[0]!.trim().split(/=(.*)/s)
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
  let account: string | undefined
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const url = path.startsWith('/api/') ? path : `${DASHBOARD_PREFIX}${path}`
    const cookie = shown()
    const sent = { ...OWN_PAGE, ...(cookie && { cookie }), ...(account && { 'x-account-id': account }), ...headers }
    const answer = await request(method, url, { body, headers: sent, address })
    for (const given of [answer.headers['set-cookie'] ?? []].flat()) store(given)
    return answer
  }
  return {
    get: (path: string, headers?: Record<string, string>) => send('GET', path, undefined, headers),
    post: (path: string, body: unknown = {}, headers?: Record<string, string>) => send('POST', path, body, headers),
    put: (path: string, body?: unknown, headers?: Record<string, string>) => send('PUT', path, body, headers),
    patch: (path: string, body?: unknown) => send('PATCH', path, body),
    delete: (path: string) => send('DELETE', path),
    signIn: (email: string, password = PASSWORD, totp?: string) => send('POST', '/sign-in', { email, password, ...(totp && { totp }) }),
    cookie: shown,
    chosen: () => account,
    /** The account that every request names from now on. */
    choose: (id: string | undefined) => void (account = id),
    keep(text: string | undefined): void {
      cookies.clear()
      text?.split(';').forEach(store)
    },
  }
}

let users = 0

/** With its own account. */
export async function givenUser(app: TestApp, { isOperator = false } = {}) {
  const hash = await (hashed ??= hashPassword(PASSWORD, { lane: 'newPassword', key: 'test' }))
  const email = `person${++users}@example.com`
  const now = app.clock.now()
  const id = newId()
  const accountId = await app.db.tx(async (tx) => {
    const account = await createAccount(tx, now, { email, name: 'Ada' })
    await tx.run(sql`
      insert into users (id, account_id, email, name, password_hash, is_operator, created_at)
      values (${id}, ${account.id}, ${email}, 'Ada', ${hash}, ${isOperator}, ${now})`)
    return account.id
  })
  return { id, accountId, email }
}

/** Already signed in. */
export async function givenBrowser(app: TestApp, options: { isOperator?: boolean } = {}) {
  const user = await givenUser(app, options)
  const browser = browserOf(app)
  const caller = { ip: '127.0.0.1', userAgent: 'test' }
  const { secret } = await app.db.tx((tx) => startSession(tx, app.clock.now(), user.id, caller))
  browser.keep(`berth=${secret}`)
  return { ...browser, person: user }
}

/** Signed in, and a member of an account of others; the own account is not chosen. */
export async function givenMember(app: TestApp, accountId: string, role: string, scopes: string[] = []) {
  const browser = await givenBrowser(app)
  await app.db.run(sql`
    insert into members (account_id, user_id, role, scopes, created_at)
    values (${accountId}, ${browser.person.id}, ${role}, ${scopes}, ${app.clock.now()})`)
  browser.choose(accountId)
  return browser
}
