import { describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, PASSWORD } from '../../../test/browser.ts'
import { codeOf } from '../../../test/dashboard-table.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
const statusOf = async (answer: Promise<{ status: number }>): Promise<number> => (await answer).status

async function withTotp() {
  const browser = await givenBrowser(app)
  const { secret } = (await browser.post('/totp')).body.data as { secret: string }
  const code = () => codeOf(secret, app.clock.now())
  const confirmed = await browser.post('/totp/confirm', { code: code() })
  const { recoveryCodes } = confirmed.body.data as { recoveryCodes: string[] }
  expect((await browser.get('/session')).body.data.user.totpEnabled).toBe(true)
  app.clock.advance('30s')
  return { browser, secret, code, email: browser.person.email, recoveryCodes }
}

describe('second factor', () => {
  test('starts with a secret for an app, and is enabled after a code is confirmed', async () => {
    const browser = await givenBrowser(app)
    const { body } = await browser.post('/totp')
    const { secret, uri } = body.data as { secret: string; uri: string }
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(uri).toBe(
      `otpauth://totp/Berth:${encodeURIComponent(browser.person.email)}?issuer=Berth&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
    )
    expect((await browser.get('/session')).body.data.user.totpEnabled).toBe(false)
    const wrong = await browser.post('/totp/confirm', { code: '000000' })
    expect([wrong.status, wrong.headers['x-error-code']]).toEqual([401, 'wrong_totp'])
    expect((await browserOf(app).signIn(browser.person.email)).body.data).toHaveProperty('user')
    const before = browser.cookie()
    expect((await browser.post('/totp/confirm', { code: codeOf(secret, app.clock.now()) })).status).toBe(200)
    expect(browser.cookie()).not.toBe(before)
    expect((await browser.post('/totp')).status).toBe(409)
  })

  test('is stored encrypted', async () => {
    const { browser, secret } = await withTotp()
    const { row } = await app.db.one<{ row: string }>(sql`select p::text as row from users p where id = ${browser.person.id}`)
    expect(row).not.toContain(secret)
    expect(row).not.toContain(Buffer.from(secret).toString('hex'))
  })

  test('is required at sign-in, after the password', async () => {
    const { email, code } = await withTotp()
    const browser = browserOf(app)
    const first = await browser.signIn(email)
    expect([first.status, first.body.data, browser.cookie()]).toEqual([200, { totpRequired: true }, undefined])
    const wrong = await browser.signIn(email, PASSWORD, '000000')
    expect([wrong.status, wrong.headers['x-error-code']]).toEqual([401, 'wrong_totp'])
    expect((await browser.signIn(email, 'wrong', code())).headers['x-error-code']).toBe('wrong_credentials')
    expect((await browser.signIn(email, PASSWORD, code())).body.data.user.email).toBe(email)
  })

  test('accepts each code once, with a tolerance of one step', async () => {
    const { email, code } = await withTotp()
    const used = code()
    const signIn = async (totp: string) => (await browserOf(app).signIn(email, PASSWORD, totp)).status
    const both = await Promise.all([signIn(used), signIn(used)])
    expect(new Set(both)).toEqual(new Set([200, 401]))
    app.clock.advance('30s')
    expect(await signIn(used)).toBe(401)
    const late = code()
    app.clock.advance('30s')
    expect(await signIn(late)).toBe(200)
    const tooLate = code()
    app.clock.advance('1m')
    expect(await signIn(tooLate)).toBe(401)
  })

  test('limits guesses', async () => {
    const { email, code } = await withTotp()
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) {
      const address = `10.7.0.${i}`
      statuses.push((await browserOf(app, address).signIn(email, PASSWORD, String(i).padStart(6, '0'))).status)
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    expect((await browserOf(app, '10.7.1.1').signIn(email, PASSWORD, code())).status).toBe(429)
    app.clock.advance('15m')
    expect((await browserOf(app, '10.7.1.1').signIn(email, PASSWORD, code())).status).toBe(200)
  })

  test('cannot be locked by somebody with the password: known addresses and sessions keep attempts of their own', async () => {
    const { browser, email, code } = await withTotp()
    const home = browserOf(app, '10.7.2.1')
    app.clock.advance('30s')
    expect((await home.signIn(email, PASSWORD, code())).status).toBe(200)
    const elsewhere = async (i: number) => (await browserOf(app, `10.7.3.${i}`).signIn(email, PASSWORD, '000000')).status
    for (let i = 0; i < 10; i++) expect(await elsewhere(i)).toBe(401)
    expect(await elsewhere(10)).toBe(429)
    app.clock.advance('30s')
    expect((await home.signIn(email, PASSWORD, code())).status).toBe(200)
    app.clock.advance('30s')
    expect((await browser.post('/reauthenticate', { password: PASSWORD, totp: code() })).status).toBe(200)
    const guesses: number[] = []
    for (let i = 0; i < 11; i++) guesses.push((await home.signIn(email, PASSWORD, '000000')).status)
    expect(guesses).toEqual([...Array(10).fill(401), 429])
  })

  test('is required for re-authentication', async () => {
    const { browser, code } = await withTotp()
    expect((await browser.post('/reauthenticate', { password: PASSWORD })).headers['x-error-code']).toBe('wrong_totp')
    expect((await browser.post('/reauthenticate', { password: PASSWORD, totp: code() })).status).toBe(200)
  })

  test('can be removed', async () => {
    const { browser, email } = await withTotp()
    expect((await browser.delete('/totp')).body.data.user.totpEnabled).toBe(false)
    expect((await browserOf(app).signIn(email)).body.data).toHaveProperty('user')
  })
})

describe('recovery codes', () => {
  const left = async ({ get }: { get: (path: string) => Promise<{ body: { data: object } }> }) => (await get('/totp')).body.data

  test('are ten, are issued with the second factor, and each replaces it once', async () => {
    const { browser, email, recoveryCodes } = await withTotp()
    expect(new Set(recoveryCodes).size).toBe(10)
    for (const code of recoveryCodes) expect(code).toMatch(/^([a-hjkmnp-z2-9]{4}-){3}[a-hjkmnp-z2-9]{4}$/)
    expect(await left(browser)).toEqual({ enabled: true, recoveryCodesLeft: 10 })
    const signIn = (code: string) => statusOf(browserOf(app).signIn(email, PASSWORD, code))
    const [first, second] = recoveryCodes as [string, string]
    const both = await Promise.all([signIn(first), signIn(first)])
    expect(new Set(both)).toEqual(new Set([200, 401]))
    expect(await signIn(first)).toBe(401)
    expect(await signIn(second.replaceAll('-', ' ').toUpperCase())).toBe(200)
    expect(await left(browser)).toEqual({ enabled: true, recoveryCodesLeft: 8 })
  })

  test('are rejected without the password, and for any other user', async () => {
    const [mine, theirs] = [await withTotp(), await withTotp()]
    const code = mine.recoveryCodes[0]!
    const wrong = await browserOf(app).signIn(mine.email, 'not the password', code)
    expect(wrong.headers['x-error-code']).toBe('wrong_credentials')
    expect((await browserOf(app).signIn(theirs.email, PASSWORD, code)).headers['x-error-code']).toBe('wrong_totp')
    expect(await statusOf(browserOf(app).signIn(mine.email, PASSWORD, code))).toBe(200)
  })

  test('are stored as hashes, and their use is in the audit log', async () => {
    const { browser, email, recoveryCodes } = await withTotp()
    const rows = await app.db.many<{ row: string }>(sql`select r::text as row from recovery_codes r where user_id = ${browser.person.id}`)
    const kept = rows.map(({ row }) => row).join('\n')
    for (const code of recoveryCodes)
      for (const form of [code, code.replaceAll('-', '')]) {
        expect(kept).not.toContain(form)
        expect(kept).not.toContain(Buffer.from(form).toString('hex'))
      }
    await browserOf(app).signIn(email, PASSWORD, recoveryCodes[0])
    await browser.post('/reauthenticate', { password: PASSWORD, totp: recoveryCodes[1] })
    const actions = await app.db.many<{ action: string }>(sql`select action from audit_log where account_id = ${browser.person.accountId}`)
    const expected = ['signInWithRecoveryCode', 'reauthenticateWithRecoveryCode']
    expect(actions.map(({ action }) => action)).toEqual(expect.arrayContaining(expected))
  })

  test('can be regenerated, which invalidates the old ones', async () => {
    const { browser, email, recoveryCodes } = await withTotp()
    const before = browser.cookie()
    const { status, body } = await browser.post('/totp/recovery-codes')
    const fresh = (body.data as { recoveryCodes: string[] }).recoveryCodes
    expect([status, fresh.length, browser.cookie() === before]).toEqual([201, 10, false])
    expect(await statusOf(browserOf(app).signIn(email, PASSWORD, recoveryCodes[0]))).toBe(401)
    expect(await statusOf(browserOf(app).signIn(email, PASSWORD, fresh[0]))).toBe(200)
  })

  test('work for re-authentication, are rate-limited, and are deleted with the second factor', async () => {
    const { browser, email, recoveryCodes } = await withTotp()
    expect(await statusOf(browser.post('/reauthenticate', { password: PASSWORD, totp: recoveryCodes[0]! }))).toBe(200)
    const guesses: number[] = []
    for (let i = 0; i < 11; i++) guesses.push(await statusOf(browserOf(app, `10.8.0.${i}`).signIn(email, PASSWORD, 'abcd-abcd-abcd-abcd')))
    expect(guesses).toEqual([...Array(10).fill(401), 429])
    expect(await statusOf(browser.delete('/totp'))).toBe(200)
    expect(await left(browser)).toEqual({ enabled: false, recoveryCodesLeft: 0 })
    expect((await browser.post('/totp/recovery-codes')).headers['x-error-code']).toBe('invalid_state')
  })
})
