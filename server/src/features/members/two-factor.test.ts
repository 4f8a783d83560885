import { expect, test } from 'vitest'
import { givenBrowser, givenMember, PASSWORD } from '../../../test/browser.ts'
import { codeOf as totpOf } from '../../../test/dashboard-table.ts'
import { testApp } from '../../../test/harness.ts'

const app = await testApp()
const codeOf = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-error-code']]

async function enrol(browser: Awaited<ReturnType<typeof givenBrowser>>): Promise<void> {
  const { secret } = (await browser.post('/totp')).body.data as { secret: string }
  expect((await browser.post('/totp/confirm', { code: totpOf(secret, app.clock.now()) })).status).toBe(200)
}

async function account() {
  const owner = await givenBrowser(app)
  owner.choose(owner.person.accountId)
  return { owner, accountId: owner.person.accountId }
}

test('only an owner who has two-factor authentication requires it', async () => {
  const { owner, accountId } = await account()
  expect(codeOf(await owner.patch('/v1/account', { requireTwoFactor: true }))).toEqual([403, 'two_factor_required'])
  const admin = await givenMember(app, accountId, 'custom', ['account:read', 'account:update'])
  await enrol(admin)
  expect(codeOf(await admin.patch('/v1/account', { requireTwoFactor: true }))).toEqual([403, 'missing_scope'])
  const token = await app.given.token(accountId)
  expect(codeOf(await token.patch('/account', { requireTwoFactor: true }))).toEqual([403, 'missing_scope'])
  expect((await owner.get('/v1/account')).body.data.requireTwoFactor).toBe(false)
  await enrol(owner)
  expect((await owner.patch('/v1/account', { requireTwoFactor: true })).body.data.requireTwoFactor).toBe(true)
  expect(codeOf(await token.patch('/account', { requireTwoFactor: false }))).toEqual([403, 'missing_scope'])
  expect((await token.patch('/account', { name: 'Example Ltd' })).body.data).toMatchObject({ name: 'Example Ltd', requireTwoFactor: true })
})

test('a member without it signs in, and can do nothing in the account but enrol', async () => {
  const { owner, accountId } = await account()
  const member = await givenMember(app, accountId, 'admin')
  await enrol(owner)
  await owner.patch('/v1/account', { requireTwoFactor: true })
  for (const path of ['/v1/vms', '/v1/account', '/v1/members', '/v1/events', '/scopes'])
    expect([path, ...codeOf(await member.get(path))]).toEqual([path, 403, 'two_factor_required'])
  expect(codeOf(await member.post('/v1/networks', {}))).toEqual([403, 'two_factor_required'])
  expect(codeOf(await member.post('/v1/tokens', { name: 'way round', scopes: ['*'] }))).toEqual([403, 'two_factor_required'])
  expect((await member.get('/session')).body.data).toMatchObject({ account: { id: accountId, requireTwoFactor: true } })
  member.choose(member.person.accountId)
  expect((await member.get('/v1/vms')).status).toBe(200)
  member.choose(accountId)
  await enrol(member)
  expect((await member.get('/v1/vms')).status).toBe(200)
  await member.delete('/totp')
  expect(codeOf(await member.get('/v1/vms'))).toEqual([403, 'two_factor_required'])
  expect((await member.signIn(member.person.email, PASSWORD)).status).toBe(200)
  expect((await member.delete(`/memberships/${accountId}`)).status).toBe(200)
})
