import { describe, expect, test } from 'vitest'
import { browserOf, givenUser, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { sql } from '../../kernel/database/db.ts'

describe('berthd user', { timeout: 120_000 }, async () => {
  const app = await testApp()
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '4711' }
  const tokenOf = (url: string): string => url.split('#')[1]!

  test('owner invite signs the owner in once', async () => {
    const { url } = await berthdJson(settings, 'owner', 'invite')
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:4711\/welcome#lnk_\w{46}$/)
    const body = { token: tokenOf(url!), email: 'owner@example.com', password: PASSWORD }
    expect((await browserOf(app).post('/welcome', body)).body.data.user.isOperator).toBe(true)
    const again = await berthd(settings, 'owner', 'invite')
    expect([again.code, again.stderr]).toMatchObject([1, expect.stringContaining('The owner already exists')])
  })

  test('a customer sets a password with a link', async () => {
    const { email } = await app.given.customer()
    const { url } = await berthdJson(settings, 'user', 'link', '--account', email)
    const done = await browserOf(app).post('/password-reset/complete', { token: tokenOf(url!), password: PASSWORD })
    expect(done.body.data.user).toMatchObject({ email, isOperator: false })
    const users = await berthdJson<{ email: string; password: boolean }[]>(settings, 'user', 'list')
    expect(users).toContainEqual(expect.objectContaining({ email, password: true, operator: false, totp: false }))
  })

  test('set grants operator rights and removes a lost second factor', async () => {
    const { email, id } = await givenUser(app)
    await app.db.run(sql`update users set totp_secret = ${Buffer.from('x')}, totp_enabled_at = now() where id = ${id}`)
    const changed = await berthd(settings, 'user', 'set', email, '--operator', 'true', '--without-totp', '--yes')
    expect([changed.code, changed.stdout]).toEqual([0, `${email} is an operator and has no second factor\n`])
    expect((await browserOf(app).signIn(email)).body.data.user).toMatchObject({ isOperator: true, totpEnabled: false })
    expect((await berthd(settings, 'user', 'set', email)).code).toBe(2)
    expect((await berthd(settings, 'user', 'set', 'nobody@example.com', '--operator', 'true')).code).toBe(1)
  })
})
