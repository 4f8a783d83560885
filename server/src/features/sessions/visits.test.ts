// An operator in the account of a customer: what of all operations is open, and that both audit logs say so.
import { describe, expect, test } from 'vitest'
import { givenBrowser, givenMember } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import type { Operation } from '../../http/api/operation.ts'

const NOWHERE = 'cnowhere1nowhere1nowhere1'

describe('a visit of an operator', async () => {
  const app = await testApp()
  const actionsOf = async (accountId: string) =>
    app.db.many<{
      action: string
      actor_type: string
      actor_name: string
      person_id: string | null
      ip: string | null
      resource_ids: string[]
    }>(
      sql`select action, actor_type, actor_name, person_id, ip, resource_ids from audit_log where account_id = ${accountId} order by created_at, id`,
    )

  async function givenVisit({ canWrite = false } = {}) {
    const operator = await givenBrowser(app, { isOperator: true })
    const customer = await app.given.customer({ credit: '100.00' })
    const { status } = await operator.post(`/operator/accounts/${customer.accountId}/visit`, { reason: 'Ticket 4711' })
    expect(status).toBe(201)
    operator.choose(customer.accountId)
    const allowed = canWrite ? await operator.post('/visit/changes', { reason: 'They asked for it' }) : null
    expect(allowed?.status ?? 200).toBe(200)
    return { operator, customer, home: operator.person.accountId }
  }

  const send = (browser: Awaited<ReturnType<typeof givenVisit>>['operator'], { method, path }: Operation, isPublic: boolean) => {
    const route = `${isPublic ? '/v1' : ''}${path.replace(/:\w+/g, NOWHERE)}`
    const verbs = { GET: browser.get, POST: browser.post, PUT: browser.put, PATCH: browser.patch, DELETE: browser.delete }
    return verbs[method as keyof typeof verbs](route)
  }
  const isRefused = ({ status, headers }: { status: number; headers: Record<string, string> }): boolean =>
    status === 403 && ['missing_scope', 'operator_only', 'account_required'].includes(headers['x-error-code']!)

  const DURING = new Set(['getSession', 'signOut', 'reauthenticate', 'allowVisitChanges', 'endVisit'])
  const all = (): { operation: Operation; isPublic: boolean }[] => [
    ...app.operations.map((operation) => ({ operation, isPublic: true })),
    ...app.dashboardOperations.map((operation) => ({ operation, isPublic: false })),
  ]
  const publicIds = new Set(app.operations.map(({ operationId }) => operationId))
  const distinct = () => all().filter(({ operation, isPublic }) => isPublic || !publicIds.has(operation.operationId))
  const concernsTheUser = ({ isPersonal, scope }: Operation): boolean => Boolean(isPersonal) || scope === 'operator'

  test('only reads: every other operation is refused', async () => {
    const { operator } = await givenVisit()
    const wrong: string[] = []
    for (const { operation, isPublic } of distinct()) {
      const { operationId, method, scope } = operation
      if (DURING.has(operationId) || operation.scope === undefined || isOpen(operation)) continue
      const isOpenHere = method === 'GET' && !concernsTheUser(operation) && (scope === null || scope.endsWith(':read'))
      if (isOpenHere === isRefused(await send(operator, operation, isPublic))) wrong.push(operationId)
    }
    expect(wrong).toEqual([])
  })

  test('with changes allowed still refuses secrets, logins to VMs, members, tokens, settings, money, tickets, consoles and the own user', async () => {
    const { operator } = await givenVisit({ canWrite: true })
    const wrong: string[] = []
    const never = /^(account|members|projects|ssh_keys|tickets|tokens|wallet|webhooks):(?!read)|:console$/
    for (const { operation, isPublic } of distinct()) {
      const { operationId, scope } = operation
      if (DURING.has(operationId) || isOpen(operation)) continue
      const refuses =
        concernsTheUser(operation) || Boolean(operation.answersSecret) || Boolean(operation.givesLogin) || never.test(scope ?? '')
      if (refuses !== isRefused(await send(operator, operation, isPublic))) wrong.push(operationId)
    }
    expect(wrong).toEqual([])
  })

  test('changes what it may, which the logs of both accounts say, and only the own one who it was', async () => {
    const { operator, customer, home } = await givenVisit()
    const { id } = await app.given.vm(customer)
    expect((await operator.patch(`/v1/vms/${id}`, { name: 'renamed' })).status).toBe(403)
    await operator.post('/visit/changes', { reason: 'They asked for it' })
    expect((await operator.patch(`/v1/vms/${id}`, { name: 'renamed' })).body.data.name).toBe('renamed')
    expect((await operator.delete('/visit')).status).toBe(200)
    const theirs = (await actionsOf(customer.accountId)).filter(({ actor_type }) => actor_type === 'operator')
    expect(theirs.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['account visit', 'account visit changes', 'updateVm', 'account visit end']),
    )
    for (const entry of theirs) expect(entry).toMatchObject({ actor_name: 'operator', person_id: null, ip: null })
    const own = await actionsOf(home)
    expect(own.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['operatorVisitAccount', 'allowVisitChanges', 'updateVm', 'endVisit']),
    )
    expect(own.find(({ action }) => action === 'updateVm')).toMatchObject({
      person_id: operator.person.id,
      resource_ids: [customer.accountId, id],
    })
    operator.choose(undefined)
    expect((await operator.get(`/operator/accounts/${customer.accountId}/visits`)).body.data).toMatchObject([
      { by: operator.person.email, reason: 'Ticket 4711', writesReason: 'They asked for it', endedAt: expect.any(String) },
    ])
  })

  test('is said in the session, and over after an hour, with the session, and when the operator is none any more', async () => {
    const { operator, customer, home } = await givenVisit()
    const { account, visit, user } = (await operator.get('/session')).body.data
    expect(visit).toMatchObject({
      accountId: customer.accountId,
      email: customer.email,
      canWrite: false,
      homeId: home,
      reason: 'Ticket 4711',
    })
    expect(account.scopes).toContain('vms:read')
    expect([account.id, user.isOperator]).toEqual([customer.accountId, false])
    expect((await operator.get('/v1/vms')).status).toBe(200)
    await app.db.run(sql`update users set is_operator = false where id = ${operator.person.id}`)
    expect((await operator.get('/v1/vms')).status).toBe(403)
    await app.db.run(sql`update users set is_operator = true where id = ${operator.person.id}`)
    expect((await operator.get('/v1/vms')).status).toBe(200)
    app.clock.advance('61m')
    expect((await operator.get('/v1/vms')).headers['x-error-code']).toBe('account_required')
    expect((await operator.get('/session')).body.data).toMatchObject({ account: null, visit: null })
  })

  test('is not told to other accounts of the operator, nor are their names', async () => {
    const { operator, customer } = await givenVisit({ canWrite: true })
    const inviting = await app.given.customer()
    await app.db.run(sql`
      insert into members (account_id, user_id, role, scopes, created_at)
      values (${inviting.accountId}, ${operator.person.id}, 'read-only', '{}', ${app.clock.now()})`)
    await operator.post('/visit/changes', { reason: 'Once more' })
    await operator.post('/reauthenticate', { password: 'wrong' })
    const told = await app.db.many<{ text: string }>(sql`
      select concat(resource_ids, resource_name, changes) as text from audit_log where account_id = ${inviting.accountId}`)
    expect(told.length).toBeGreaterThan(0)
    for (const { text } of told) for (const foreign of [customer.accountId, customer.email]) expect(text).not.toContain(foreign)
  })

  test('belongs to the session that began it', async () => {
    const { operator, customer } = await givenVisit()
    const other = await givenBrowser(app, { isOperator: true })
    other.choose(customer.accountId)
    expect((await other.get('/v1/vms')).status).toBe(403)
    await operator.post('/sign-out')
    operator.choose(undefined)
    other.choose(undefined)
    expect((await other.get(`/operator/accounts/${customer.accountId}/visits`)).body.data[0].endedAt).not.toBeNull()
  })

  test('needs a recent password to begin and to change things, and a second factor where the account requires it', async () => {
    const { operator, customer, home } = await givenVisit()
    app.clock.advance('16m')
    expect((await operator.post('/visit/changes', { reason: 'They asked' })).headers['x-error-code']).toBe('reauthentication_required')
    await app.db.run(sql`update accounts set requires_totp = true where id = ${customer.accountId}`)
    expect((await operator.get('/v1/vms')).headers['x-error-code']).toBe('two_factor_required')
    operator.choose(home)
    const again = await operator.post(`/operator/accounts/${customer.accountId}/visit`, { reason: 'Again' })
    expect(again.headers['x-error-code']).toBe('reauthentication_required')
  })

  test('enters no account of an operator, none that an operator is a member of, and is for operators only', async () => {
    const operator = await givenBrowser(app, { isOperator: true })
    const colleague = await givenBrowser(app, { isOperator: true })
    const customer = await app.given.customer()
    const member = await givenMember(app, customer.accountId, 'read-only')
    const visit = (id: string) => operator.post(`/operator/accounts/${id}/visit`, { reason: 'Curious' })
    expect((await visit(colleague.person.accountId)).headers['x-error-code']).toBe('invalid_state')
    expect((await visit(operator.person.accountId)).headers['x-error-code']).toBe('invalid_state')
    expect((await visit(NOWHERE)).status).toBe(404)
    expect((await member.post(`/operator/accounts/${colleague.person.accountId}/visit`, { reason: 'Curious' })).status).toBe(403)
    expect((await visit(customer.accountId)).status).toBe(201)
    operator.choose(customer.accountId)
    expect((await operator.get('/v1/vms')).status).toBe(200)
    await app.db.run(sql`update users set is_operator = true where id = ${member.person.id}`)
    expect((await operator.get('/v1/vms')).status).toBe(403)
  })
})

/** Without authentication, such as signing in. */
const isOpen = ({ path, scope }: Operation): boolean =>
  scope === null && /^\/(setup|welcome|sign-in|sign-up|password-reset|invitations\/(preview|register))/.test(path)
