import { describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, givenMember, givenUser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { ROLES } from '../accounts/schema.ts'
import { SCOPES } from '../accounts/scopes.ts'

const app = await testApp()
type Browser = Awaited<ReturnType<typeof givenMember>>

/** An account with one owner, who has chosen it. */
async function account() {
  const owner = await givenBrowser(app)
  const { accountId } = owner.person
  owner.choose(accountId)
  return { owner, accountId, member: (role: string, scopes?: string[]) => givenMember(app, accountId, role, scopes) }
}

const codeOf = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-error-code']]
const rolesOf = async (browser: Pick<Browser, 'get'>) =>
  Object.fromEntries(((await browser.get('/v1/members')).body.data as { id: string; role: string }[]).map(({ id, role }) => [id, role]))
const tokenOf = async (browser: Pick<Browser, 'post'>, scopes: string[]) => {
  const { status, body } = await browser.post('/v1/tokens', { name: 'mine', scopes })
  expect(status, body.error).toBe(201)
  return { id: body.data.id as string, ...app.clientOf(body.data.secret as string) }
}

describe('GET /members', () => {
  test('lists who may act in the account, and what each may do', async () => {
    const { owner, member } = await account()
    const reader = await member('custom', ['members:read', 'vms:read'])
    const { body } = await reader.get('/v1/members')
    expect(body.data).toEqual([
      expect.objectContaining({ id: reader.person.id, role: 'custom', scopes: ['members:read', 'vms:read'], twoFactorEnabled: false }),
      expect.objectContaining({ id: owner.person.id, email: owner.person.email, role: 'owner' }),
    ])
    expect(body.pagination.total).toBe(2)
  })

  test('lists nobody of another account', async () => {
    const [mine, theirs] = [await account(), await account()]
    await theirs.member('admin')
    expect(Object.keys(await rolesOf(mine.owner))).toEqual([mine.owner.person.id])
  })
})

describe('PATCH /members/{id}', () => {
  test('changes what the member may do, from the next request on', async () => {
    const { owner, member } = await account()
    const other = await member('read-only')
    expect(codeOf(await other.post('/v1/networks', {}))).toEqual([403, 'missing_scope'])
    const { status, body } = await owner.patch(`/v1/members/${other.person.id}`, { role: 'custom', scopes: ['networks:*', 'vms:read'] })
    expect([status, body.data.scopes]).toEqual([
      200,
      ['networks:read', 'networks:create', 'networks:update', 'networks:delete', 'vms:read'],
    ])
    expect(codeOf(await other.post('/v1/networks', {}))).toEqual([400, 'validation_failed'])
    await owner.patch(`/v1/members/${other.person.id}`, { role: 'billing' })
    const refused = await other.post('/v1/networks', {})
    expect([refused.status, refused.body.error]).toEqual([403, 'Your role in this account lacks the required scope: networks:create'])
  })

  test('refuses scopes without the role custom, and the role without scopes', async () => {
    const { owner, member } = await account()
    const { person } = await member('admin')
    for (const body of [
      { role: 'admin', scopes: ['vms:read'] },
      { role: 'custom' },
      { role: 'custom', scopes: ['vms:fly'] },
      { role: 'god' },
    ])
      expect(codeOf(await owner.patch(`/v1/members/${person.id}`, body))).toEqual([400, 'validation_failed'])
    expect((await rolesOf(owner))[person.id]).toBe('admin')
  })

  test('gives nobody more than the caller has', async () => {
    const { owner, member } = await account()
    const [clerk, target] = [await member('custom', ['members:read', 'members:update', 'vms:read']), await member('custom', ['vms:read'])]
    const give = (by: Browser, id: string, body: object) => by.patch(`/v1/members/${id}`, body)
    for (const role of ROLES.filter((each) => each !== 'custom'))
      for (const id of [clerk.person.id, target.person.id]) expect(codeOf(await give(clerk, id, { role }))).toEqual([403, 'missing_scope'])
    for (const scopes of [['vms:create'], ['*'], ['vms:*'], ['vms:read', 'wallet:deposit']])
      expect(codeOf(await give(clerk, target.person.id, { role: 'custom', scopes }))).toEqual([403, 'missing_scope'])
    expect((await give(clerk, target.person.id, { role: 'custom', scopes: ['members:read', 'vms:read'] })).status).toBe(200)
    const admin = await member('admin')
    expect(codeOf(await give(admin, admin.person.id, { role: 'owner' }))).toEqual([403, 'missing_scope'])
    expect((await rolesOf(owner))[admin.person.id]).toBe('admin')
  })

  test('lets only owners change owners, and only who has all rights of a member change that member', async () => {
    const { owner, accountId, member } = await account()
    const [admin, second] = [await member('admin'), await member('owner')]
    for (const { person } of [owner, second]) {
      expect(codeOf(await admin.patch(`/v1/members/${person.id}`, { role: 'read-only' }))).toEqual([403, 'missing_scope'])
      expect(codeOf(await admin.delete(`/v1/members/${person.id}`))).toEqual([403, 'missing_scope'])
    }
    const clerk = await member('custom', ['members:update', 'members:delete', 'vms:read'])
    expect(codeOf(await clerk.patch(`/v1/members/${admin.person.id}`, { role: 'custom', scopes: ['vms:read'] }))).toEqual([
      403,
      'missing_scope',
    ])
    expect(codeOf(await clerk.delete(`/v1/members/${admin.person.id}`))).toEqual([403, 'missing_scope'])
    const token = await app.given.token(accountId) // of the owner's making or not: it is no owner
    expect(codeOf(await token.patch(`/members/${admin.person.id}`, { role: 'owner' }))).toEqual([403, 'missing_scope'])
    expect(codeOf(await token.delete(`/members/${second.person.id}`))).toEqual([403, 'missing_scope'])
    expect(Object.values(await rolesOf(owner)).toSorted()).toEqual(['admin', 'custom', 'owner', 'owner'])
    expect((await owner.patch(`/v1/members/${second.person.id}`, { role: 'read-only' })).status).toBe(200)
  })

  test('keeps the last owner', async () => {
    const { owner } = await account()
    const { id } = owner.person
    expect(codeOf(await owner.patch(`/v1/members/${id}`, { role: 'admin' }))).toEqual([409, 'invalid_state'])
    expect(codeOf(await owner.delete(`/v1/members/${id}`))).toEqual([409, 'invalid_state'])
    expect(codeOf(await owner.delete(`/memberships/${owner.person.accountId}`))).toEqual([409, 'invalid_state'])
    expect(await rolesOf(owner)).toEqual({ [id]: 'owner' })
  })

  test.each(['patch', 'delete', 'leave'] as const)('keeps one owner when all of ten do this at once: %s', async (how) => {
    const { owner, accountId, member } = await account()
    const all: Browser[] = [owner]
    for (let i = 0; i < 9; i++) all.push(await member('owner'))
    const next = (i: number) => all[(i + 1) % all.length]!.person.id
    const answers = await Promise.all(
      all.map((each, i) => {
        if (how === 'leave') return each.delete(`/memberships/${accountId}`)
        return how === 'patch' ? each.patch(`/v1/members/${next(i)}`, { role: 'read-only' }) : each.delete(`/v1/members/${next(i)}`)
      }),
    )
    expect(answers.every(({ status }) => [200, 403, 404, 409].includes(status))).toBe(true)
    const { count } = await app.db.one<{ count: number }>(
      sql`select count(*)::int as count from members where account_id = ${accountId} and role = 'owner'`,
    )
    expect(count).toBeGreaterThanOrEqual(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10 - count)
  })

  test('answers the same for a person of another account as for an unknown one', async () => {
    const [mine, theirs] = [await account(), await account()]
    const foreign = await theirs.member('read-only')
    for (const id of [foreign.person.id, theirs.owner.person.id, newId()]) {
      expect(codeOf(await mine.owner.patch(`/v1/members/${id}`, { role: 'admin' }))).toEqual([404, 'not_found'])
      expect(codeOf(await mine.owner.delete(`/v1/members/${id}`))).toEqual([404, 'not_found'])
    }
    expect((await rolesOf(theirs.owner))[foreign.person.id]).toBe('read-only')
  })

  test('needs the password again after 15 minutes', async () => {
    const { owner, member } = await account()
    const { person } = await member('read-only')
    app.clock.advance('16m')
    expect(codeOf(await owner.patch(`/v1/members/${person.id}`, { role: 'admin' }))).toEqual([403, 'reauthentication_required'])
    expect(codeOf(await owner.delete(`/v1/members/${person.id}`))).toEqual([403, 'reauthentication_required'])
    expect(codeOf(await owner.post('/v1/invitations', { email: 'x@example.com', role: 'admin' }))).toEqual([
      403,
      'reauthentication_required',
    ])
  })
})

describe('DELETE /members/{id}', () => {
  test('ends what the person can do in the account at once, and nothing of the own account', async () => {
    const { owner, accountId, member } = await account()
    const other = await member('admin')
    expect((await other.get('/v1/vms')).status).toBe(200)
    expect((await owner.delete(`/v1/members/${other.person.id}`)).status).toBe(200)
    expect(codeOf(await other.get('/v1/vms'))).toEqual([403, 'account_required'])
    expect((await other.get('/session')).body.data).toMatchObject({ account: null, accounts: [{ id: other.person.accountId }] })
    other.choose(other.person.accountId)
    expect((await other.get('/v1/account')).body.data.id).toBe(other.person.accountId)
    other.choose(accountId)
    expect(codeOf(await other.post('/v1/networks', {}))).toEqual([403, 'account_required'])
  })

  test('revokes the API tokens that the person made, and no others', async () => {
    const { owner, member } = await account()
    const [leaver, stayer] = [await member('admin'), await member('admin')]
    const [theirs, another] = [await tokenOf(leaver, ['vms:read', 'tokens:create']), await tokenOf(stayer, ['vms:read'])]
    const child = (await theirs.post('/tokens', { name: 'child', scopes: ['vms:read'] })).body.data as { id: string; secret: string }
    expect((await theirs.get('/vms')).status).toBe(200)
    const { body } = await owner.delete(`/v1/members/${leaver.person.id}`)
    expect(body.data.revokedTokenIds).toEqual([theirs.id, child.id])
    await expect.poll(async () => (await app.clientOf(child.secret).get('/vms')).status).toBe(401)
    await expect.poll(async () => (await theirs.get('/vms')).body.error).toBe('API token has been revoked')
    expect((await another.get('/vms')).status).toBe(200)
  })

  test('lets no token be made beside it', async () => {
    for (let round = 0; round < 5; round++) {
      const { owner, member } = await account()
      const leaver = await member('admin')
      const [removed, ...made] = await Promise.all([
        owner.delete(`/v1/members/${leaver.person.id}`),
        ...Array.from({ length: 5 }, () => leaver.post('/v1/tokens', { name: 'late', scopes: ['vms:read'] })),
        leaver.post('/v1/invitations', { email: `${newId()}@example.com`, role: 'admin' }),
      ])
      expect(removed!.status).toBe(200)
      for (const { body } of made.slice(0, 5).filter(({ status }) => status === 201))
        await expect.poll(async () => (await app.clientOf(body.data.secret as string).get('/vms')).status).toBe(401)
      expect((await owner.get('/v1/invitations')).body.data).toEqual([])
    }
  })

  test('gives no token more than the person has', async () => {
    const { member } = await account()
    const other = await member('custom', ['tokens:create', 'vms:read'])
    for (const scopes of [['*'], ['vms:*'], ['vms:read', 'wallet:deposit']])
      expect(codeOf(await other.post('/v1/tokens', { name: 'more', scopes }))).toEqual([403, 'missing_scope'])
    expect((await (await tokenOf(other, ['vms:read'])).get('/vms')).status).toBe(200)
    const reader = await member('read-only')
    expect(codeOf(await reader.post('/v1/tokens', { name: 'x', scopes: ['vms:read'] }))).toEqual([403, 'missing_scope'])
    const { id } = await tokenOf(other, ['vms:read'])
    expect(codeOf(await reader.delete(`/v1/tokens/${id}`))).toEqual([403, 'missing_scope'])
    expect(codeOf(await reader.patch(`/v1/tokens/${id}`, { isActive: false }))).toEqual([403, 'missing_scope'])
  })

  test('of a change to a smaller role revokes what may do more than it, and keeps the rest', async () => {
    const { owner, member } = await account()
    const other = await member('admin')
    const [writer, reader] = [await tokenOf(other, ['vms:*']), await tokenOf(other, ['vms:read'])]
    const { body } = await owner.patch(`/v1/members/${other.person.id}`, { role: 'read-only' })
    expect(body.data.revokedTokenIds).toEqual([writer.id])
    await expect.poll(async () => [(await writer.get('/vms')).status, (await reader.get('/vms')).status]).toEqual([401, 200])
  })

  test('withdraws what an admin invited admins with, who would be that in all projects, from who keeps every right but the role', async () => {
    const { owner, member } = await account()
    const admin = await member('admin')
    for (const role of ['admin', 'read-only']) await admin.post('/v1/invitations', { email: `${newId()}@example.com`, role })
    await owner.patch(`/v1/members/${admin.person.id}`, { role: 'custom', scopes: SCOPES })
    expect(((await owner.get('/v1/invitations')).body.data as { role: string }[]).map(({ role }) => role)).toEqual(['read-only'])
  })

  test('withdraws open invitations of the person', async () => {
    const { owner, member } = await account()
    const other = await member('admin')
    await other.post('/v1/invitations', { email: `${newId()}@example.com`, role: 'admin' })
    await other.post('/v1/invitations', { email: `${newId()}@example.com`, role: 'read-only' })
    expect((await owner.get('/v1/invitations')).body.data).toHaveLength(2)
    await owner.delete(`/v1/members/${other.person.id}`)
    expect((await owner.get('/v1/invitations')).body.data).toEqual([])
  })
})

describe('DELETE /memberships/{accountId}', () => {
  test('lets a member without any right leave', async () => {
    const { owner, accountId, member } = await account()
    const other = await member('read-only')
    expect((await other.delete(`/memberships/${accountId}`)).body.data).toEqual({ accountId, left: true, revokedTokenIds: [] })
    expect(Object.keys(await rolesOf(owner))).toEqual([owner.person.id])
    expect((await owner.get('/v1/audit-log')).body.data[0]).toMatchObject({
      action: 'leaveAccount',
      actor: { id: other.person.id, via: 'session' },
    })
    expect(codeOf(await other.delete(`/memberships/${accountId}`))).toEqual([404, 'not_found'])
  })

  test('answers 404 for an account of others, in whose log nothing is written', async () => {
    const [mine, theirs] = [await account(), await account()]
    expect(codeOf(await mine.owner.delete(`/memberships/${theirs.accountId}`))).toEqual([404, 'not_found'])
    await app.core.deps.audit.sweep()
    expect((await theirs.owner.get('/v1/audit-log')).body.data).toEqual([])
  })
})

describe('a member of several accounts', () => {
  test('must say which is meant, and is told nothing of others', async () => {
    const { accountId, member } = await account()
    const other = await member('admin')
    other.choose(undefined)
    expect(codeOf(await other.get('/v1/vms'))).toEqual([403, 'account_required'])
    expect(codeOf(await other.post('/v1/networks', {}))).toEqual([403, 'account_required'])
    expect((await other.get('/session')).body.data.accounts.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [accountId, other.person.accountId].toSorted(),
    )
    const stranger = await givenUser(app)
    for (const id of [stranger.accountId, newId(), 'x', '']) {
      other.choose(id === '' ? undefined : id)
      expect(codeOf(await other.get('/v1/vms'))).toEqual([403, 'account_required'])
    }
  })

  test('acts in the named account only, with the role there', async () => {
    const { owner, accountId, member } = await account()
    const other = await member('read-only')
    const { body } = await owner.post('/v1/networks', { name: 'inside', nodeId: app.host.id, cidr: '10.9.0.0/24' })
    expect((await other.get(`/v1/networks/${body.data.id}`)).status).toBe(200)
    expect(codeOf(await other.delete(`/v1/networks/${body.data.id}`))).toEqual([403, 'missing_scope'])
    other.choose(other.person.accountId)
    expect(codeOf(await other.get(`/v1/networks/${body.data.id}`))).toEqual([404, 'not_found'])
    expect(codeOf(await other.delete(`/v1/networks/${body.data.id}`))).toEqual([404, 'not_found'])
    expect((await other.get('/v1/account')).body.data.id).not.toBe(accountId)
  })

  test('is given no answer of another member by the same Idempotency-Key', async () => {
    const { accountId, member } = await account()
    const [one, two] = [await member('admin'), await member('admin')]
    const send = (by: Browser) =>
      by.post('/v1/webhooks', { url: 'https://hooks.example.com/x', events: ['vm.created'] }, { 'idempotency-key': `same-${accountId}` })
    const first = await send(one)
    const again = await send(one)
    expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', first.body])
    expect(codeOf(await send(two))).toEqual([422, 'idempotency_key_reused'])
  })

  test('has sign-ins and changes of the own password recorded in each', async () => {
    const { owner, member } = await account()
    const other = await member('read-only')
    const browser = browserOf(app)
    expect((await browser.signIn(other.person.email)).body.data.account).toBeNull()
    await browser.signIn(other.person.email, 'wrong password')
    await other.patch('/user', { name: 'Grace' })
    await app.core.deps.audit.close()
    const actions = ((await owner.get('/v1/audit-log')).body.data as { action: string; result: string }[]).map(
      ({ action, result }) => `${action} ${result}`,
    )
    expect(actions.toSorted()).toEqual(['changeUser succeeded', 'signIn refused', 'signIn succeeded'])
  })
})

describe('the audit log', () => {
  test('names the person of each change, also behind a token, and finds all of one', async () => {
    const { owner, member } = await account()
    const other = await member('admin')
    const token = await tokenOf(other, ['networks:create'])
    const network = { name: 'inside', nodeId: app.host.id, cidr: '10.9.0.0/24' }
    await token.post('/networks', network)
    await other.post('/v1/networks', { ...network, cidr: '10.10.0.0/24' })
    await owner.post('/v1/networks', { ...network, cidr: '10.11.0.0/24' })
    const person = { id: other.person.id, name: other.person.email }
    const { body } = await owner.get(`/v1/audit-log?action=createNetwork&personId=${other.person.id}`)
    expect(body.data).toMatchObject([
      { actor: { type: 'person', id: other.person.id, via: 'session', person } },
      { actor: { type: 'token', id: token.id, name: 'mine', via: 'token', person } },
    ])
    expect(body.pagination.total).toBe(2)
  })
})

describe('an operator', () => {
  test('acts as one in the own account only, so that a customer who invited one sees nothing of it', async () => {
    const { owner, accountId } = await account()
    const operator = await givenBrowser(app, { isOperator: true })
    await app.db.run(sql`
      insert into members (account_id, user_id, role, created_at) values (${accountId}, ${operator.person.id}, 'owner', ${app.clock.now()})`)
    operator.choose(accountId)
    expect((await operator.get('/v1/account')).body.data.id).toBe(accountId)
    expect(codeOf(await operator.post('/operator/accounts', { email: `${newId()}@example.com` }))).toEqual([403, 'operator_only'])
    operator.choose(operator.person.accountId)
    expect((await operator.post('/operator/accounts', { email: `${newId()}@example.com` })).status).toBe(201)
    await app.core.deps.audit.sweep()
    const log = (await owner.get('/v1/audit-log')).body.data as { action: string; result: string }[]
    expect(log.filter(({ result }) => result === 'succeeded')).toEqual([])
  })
})

describe('users.account_id', () => {
  const homeOf = async (id: string) =>
    (await app.db.one<{ account_id: string | null }>(sql`select account_id from users where id = ${id}`)).account_id

  test('is an account that the user owns, because the version before gives every right in it', async () => {
    const { owner, accountId, member } = await account()
    const second = await member('owner')
    await second.patch(`/v1/members/${owner.person.id}`, { role: 'read-only' })
    expect(await homeOf(owner.person.id)).toBeNull()
    await second.patch(`/v1/members/${owner.person.id}`, { role: 'owner' })
    expect(await homeOf(owner.person.id)).toBe(accountId)
    await second.delete(`/v1/members/${owner.person.id}`)
    expect(await homeOf(owner.person.id)).toBeNull()
    expect(await homeOf(second.person.id)).toBe(second.person.accountId)
    expect(codeOf(await owner.get('/v1/vms'))).toEqual([403, 'account_required'])
    owner.choose(undefined)
    expect((await owner.get('/v1/vms')).body.error).toBe('You are a member of no account. Accept an invitation first')
    expect((await owner.get('/session')).body.data).toMatchObject({ account: null, accounts: [] })
  })
})
