import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../../test/openssh-keys.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { pruneAuditLog } from './prune.reconciler.ts'
import { CHANGES_PER_HOUR, FIRST_OF_KIND, MOST_PER_HOUR, openAuditTrail, REFUSALS_PER_HOUR } from './audit-trail.ts'
import { recordByOperator } from './service.ts'

const app = await testApp({ breaks: ['idempotency.finished'] }) // the clock advances by years; keys must not be pruned
type Customer = Awaited<ReturnType<typeof app.given.customer>>

const key = (name = 'laptop') => ({ name, publicKey: generateKey().line })
const page = async (customer: Customer, query = '') => {
  await app.deps.audit.sweep()
  return (await customer.get(`/audit-log${query}`)).body
}
const log = async (customer: Customer, query = '') => (await page(customer, query)).data

describe('the audit log', () => {
  test('records actor, action, source IP and outcome', async () => {
    const customer = await app.given.customer()
    const { headers, body } = await customer.post('/ssh-keys', key())
    expect(await log(customer)).toEqual([
      {
        id: expect.stringMatching(/^c[0-9a-z]{24}$/),
        action: 'createSshKey',
        actor: { type: 'token', id: customer.tokenId, name: 'test', via: 'token', person: null },
        ip: '127.0.0.1',
        method: 'POST',
        route: '/ssh-keys',
        resourceId: body.data.id,
        resourceIds: [body.data.id],
        resourceName: 'laptop',
        changes: null,
        result: 'succeeded',
        status: 201,
        errorCode: null,
        requestId: headers['x-request-id'],
        count: 1,
        createdAt: app.clock.now().toISOString(),
      },
    ])
  })

  test('filters the newest 100,000 entries, and older ones by date range', async () => {
    const customer = await app.given.customer()
    await customer.post('/ssh-keys', key())
    const until = app.clock.now().toISOString()
    await page(customer)
    await app.db.run(sql`
      insert into audit_log (account_id, created_at, id, actor_type, actor_name, action, resource_ids)
      select ${customer.accountId}, ${app.clock.now()}::timestamptz + interval '1 hour', 'line' || n, 'operator', 'x', 'noise', '{}'
      from generate_series(1, 100000) n`)
    expect(await log(customer, '?action=createSshKey')).toEqual([])
    expect(await log(customer, `?action=createSshKey&dateTo=${until}`)).toHaveLength(1)
    await app.db.run(sql`delete from audit_log where account_id = ${customer.accountId} and action = 'noise'`)
  })

  test('counts changes beyond the hourly limit by actor and action, in the transaction of the change', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/ssh-keys', key())).body.data as { id: string }
    const rename = async (times: number, by = customer) => {
      for (let i = 0; i < times; i++) expect((await by.patch(`/ssh-keys/${id}`, { name: `n${i}` })).status).toBe(200)
    }
    await rename(CHANGES_PER_HOUR - 1)
    await rename(25)
    const other = { ...customer, ...(await app.given.token(customer.accountId)) }
    await rename(FIRST_OF_KIND + 1, other)
    const { headers } = await customer.delete(`/ssh-keys/${id}`)
    const counted = await app.db.many(sql`
      select action, actor_id, resource_ids, count from audit_log where account_id = ${customer.accountId} and request_id is null order by count`)
    expect(counted).toEqual([
      { action: 'renameSshKey', actor_id: other.id, resource_ids: [], count: 1 },
      { action: 'renameSshKey', actor_id: customer.tokenId, resource_ids: [], count: 25 },
    ])
    const deletion = { ip: '127.0.0.1', resourceIds: [id], requestId: headers['x-request-id'], count: 1 }
    expect(await log(customer, '?action=deleteSshKey')).toMatchObject([deletion])
    const { rows } = await app.db.one<{ rows: number }>(
      sql`select count(*)::int as rows from audit_log where account_id = ${customer.accountId}`,
    )
    expect(rows).toBe(CHANGES_PER_HOUR + FIRST_OF_KIND + 3)
    app.clock.advance('1h')
    await customer.post('/ssh-keys', key())
    expect((await log(customer))[0]).toMatchObject({ action: 'createSshKey', count: 1, requestId: expect.any(String) })
  }, 60_000)

  test('bounds the entries of an hour, however many actors and actions there are', async () => {
    const { accountId } = await app.given.customer()
    const trail = openAuditTrail(app.deps)
    const rows = async () =>
      (await app.db.one<{ rows: number }>(sql`select count(*)::int as rows from audit_log where account_id = ${accountId}`)).rows
    const call = {
      accountId,
      payerId: accountId,
      actorType: 'token' as const,
      actorName: 'x',
      person: null,
      ip: '127.0.0.1',
      method: 'POST',
      route: '/x',
      resourceIds: [],
      status: 200,
      code: null,
      resource: null,
      resourceName: null,
      changes: [],
    }
    await app.db.tx(async (tx) => {
      for (let i = 0; i < MOST_PER_HOUR + 20; i++)
        trail.recordSuccess(tx, { ...call, actorId: `token ${Math.floor(i / 10)}`, action: 'createSshKey', requestId: `r${i}` })
    })
    expect(await rows()).toBe(MOST_PER_HOUR + 2)
  }, 60_000)

  test('records the ids of the path and of the created resource', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    const { snapshot } = (await customer.post(`/vms/${id}/snapshots`, { name: 'before' })).body.data
    await app.settle()
    await customer.post(`/vms/${id}/restart`)
    const shown = (await log(customer)).map(({ action, route, resourceIds }: Record<string, unknown>) => [action, route, resourceIds])
    expect(shown.toSorted()).toEqual([
      ['createSnapshot', '/vms/{vmId}/snapshots', [id, snapshot.id]],
      ['createVm', '/vms', [id]],
      ['restartVm', '/vms/{id}/restart', [id]],
    ])
  })

  test('records denied requests of every kind with their error code', async () => {
    const customer = await app.given.customer({ scopes: ['ssh_keys:create', 'ssh_keys:delete', 'account:read'] })
    await customer.post('/ssh-keys', { name: 1 })
    await customer.post('/networks', {})
    await customer.delete('/ssh-keys/vmk_somebodys_secret')
    await app.request('POST', '/ssh-keys', { token: customer.token, headers: { 'content-type': 'text/plain' }, body: 'x' })
    const shown = (await log(customer)).map(({ action, status, errorCode, result, resourceId }: Record<string, unknown>) =>
      [action, status, errorCode, result, resourceId].join(' '),
    )
    expect(shown.toSorted()).toEqual([
      'createNetwork 403 missing_scope refused ',
      'createSshKey 400 validation_failed refused ',
      'createSshKey 415 unsupported_media_type refused ',
      'deleteSshKey 404 not_found refused ',
    ])
  })

  test('omits reads, dry runs, idempotent replays, unknown paths and unauthenticated requests', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const input = await app.given.vmInput()
    await customer.post('/vms?dryRun=true', input)
    await customer.get('/vms')
    await customer.post('/nothing', {})
    const headers = { 'idempotency-key': 'once' }
    const body = key()
    await customer.post('/ssh-keys', body, headers)
    await customer.post('/ssh-keys', body, headers)
    await app.request('POST', '/ssh-keys', { token: 'vmk_wrong', body })
    expect((await log(customer)).map(({ action }: { action: string }) => action)).toEqual(['createSshKey'])
    const { count } = await app.db.one<{ count: number }>(sql`select count(*)::int from audit_log where status = 401`)
    expect(count).toBe(0)
  })

  test('omits dry runs that are refused, whatever refuses them', async () => {
    const customer = await app.given.customer({ scopes: ['vms:create', 'account:read'] })
    const input = await app.given.vmInput()
    const codeOf = async (path: string, body: object) => (await customer.post(path, body)).headers['x-error-code']
    expect(await codeOf('/vms?dryRun=true', input)).toBe('insufficient_funds')
    expect(await codeOf('/vms?dryRun=true', {})).toBe('validation_failed')
    expect(await codeOf('/vms/cnothing0/upgrade?dryRun=true', { planId: 'cnothing0' })).toBe('missing_scope')
    expect(await log(customer)).toEqual([])
    expect(await codeOf('/vms?dryRun=false', input)).toBe('insufficient_funds')
    expect(await codeOf('/ssh-keys?dryRun=true', key())).toBe('missing_scope')
    expect((await log(customer)).map(({ action }: { action: string }) => action).toSorted()).toEqual(['createSshKey', 'createVm'])
  })

  test('contains neither request bodies nor secrets', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const marker = 'Sesam-0pen-4711'
    await customer.post('/vms', { ...(await app.given.vmInput()), password: marker, userData: `#!/bin/sh\n# ${marker}` })
    await customer.post(`/vms/${marker}/restart?x=${marker}`)
    await app.deps.audit.sweep()
    const { text } = await app.db.one<{ text: string }>(sql`select string_agg(l::text, '') as text from audit_log l`)
    expect(text).not.toContain(marker)
    expect(text).not.toContain(customer.token.slice(4, 20))
  })

  test('says what an update changed, and what was deleted was called', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/ssh-keys', key())).body.data
    app.clock.advance('1s')
    await customer.patch(`/ssh-keys/${id}`, { name: 'desktop' })
    app.clock.advance('1s')
    await customer.patch(`/ssh-keys/${id}`, { name: 'desktop' })
    app.clock.advance('1s')
    await customer.delete(`/ssh-keys/${id}`)
    app.clock.advance('1s')
    expect((await customer.delete(`/ssh-keys/${id}`)).status).toBe(404)
    const shown = (await log(customer)).map(({ action, resourceName, changes }: Record<string, unknown>) => ({
      action,
      resourceName,
      changes,
    }))
    expect(shown).toEqual([
      { action: 'deleteSshKey', resourceName: null, changes: null },
      { action: 'deleteSshKey', resourceName: 'desktop', changes: null },
      { action: 'renameSshKey', resourceName: 'desktop', changes: null },
      { action: 'renameSshKey', resourceName: 'desktop', changes: [{ field: 'name', from: 'laptop', to: 'desktop' }] },
      { action: 'createSshKey', resourceName: 'laptop', changes: null },
    ])
  })

  test('says which rules and labels came and went', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await customer.patch(`/vms/${id}`, { labels: { env: 'test', team: 'shop' }, isProtected: true })
    await customer.patch(`/vms/${id}`, { labels: { env: 'prod', team: 'shop' } })
    const firewall = (await customer.post('/firewalls', { name: 'web' })).body.data.id
    const rule = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP' }
    await customer.put(`/firewalls/${firewall}/rules`, { rules: [{ ...rule, port: '22' }] })
    await customer.put(`/firewalls/${firewall}/rules`, {
      rules: [
        { ...rule, port: '22' },
        { ...rule, port: '443' },
      ],
    })
    await customer.post(`/firewalls/${firewall}/undo`)
    const changes = (await log(customer)).flatMap((entry: { changes: object[] | null }) => entry.changes ?? [])
    expect(changes).toHaveLength(6)
    expect(changes).toContainEqual({ field: 'rules', from: expect.stringMatching(/port 443/), to: null })
    expect(changes).toContainEqual({ field: 'labels', from: 'env: test', to: 'env: prod' })
    expect(changes).toContainEqual({ field: 'isProtected', from: 'false', to: 'true' })
    expect(changes).toContainEqual({ field: 'rules', from: null, to: expect.stringMatching(/port 443/) })
    expect(changes).not.toContainEqual({ field: 'rules', from: null, to: expect.stringMatching(/port 22[^]*port 443/) })
  })

  test('shows names and changes to those alone who may read what was changed', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/ssh-keys', key())).body.data
    await customer.patch(`/ssh-keys/${id}`, { name: 'desktop' })
    const auditor = await app.given.token(customer.accountId, { scopes: ['account:read'] })
    const entries = (await auditor.get('/audit-log')).body.data as Record<string, unknown>[]
    expect(entries.map(({ resourceName, changes }) => [resourceName, changes])).toEqual([
      [null, null],
      [null, null],
    ])
  })

  test('has an entry if and only if the change was committed', async () => {
    const customer = await app.given.customer()
    await app.db.run(sql`alter table audit_log add constraint full_disk check (action <> 'createSshKey') not valid`)
    const { status } = await customer.post('/ssh-keys', key())
    await app.db.run(sql`alter table audit_log drop constraint full_disk`)
    expect(status).toBe(500)
    expect((await customer.get('/ssh-keys')).body.data).toEqual([])
  })

  test('does not change the response to a denied request when writing the entry fails', async () => {
    const customer = await app.given.customer()
    await app.db.run(sql`alter table audit_log add constraint full_disk check (status < 400) not valid`)
    const { status } = await customer.post('/ssh-keys', {})
    await app.deps.audit.sweep()
    await app.db.run(sql`alter table audit_log drop constraint full_disk`)
    expect(status).toBe(400)
    expect(await log(customer)).toEqual([])
  })
})

describe('a flood of denied requests', () => {
  test('is aggregated into one entry per hour', async () => {
    const customer = await app.given.customer()
    const trail = openAuditTrail(app.deps)
    const call = {
      accountId: customer.accountId,
      payerId: customer.accountId,
      actorType: 'token' as const,
      actorId: customer.tokenId,
      actorName: 'test',
      person: null,
      ip: '127.0.0.1',
      requestId: 'r',
      resource: null,
      resourceName: null,
      changes: [],
    }
    const refuse = (times: number): void => {
      for (let i = 0; i < times; i++)
        trail.recordDenied({
          ...call,
          action: 'createVm',
          method: 'POST',
          route: '/vms',
          resourceIds: [],
          status: 429,
          code: 'rate_limited',
        })
    }
    const counts = () => log(customer, '?action=refusals')
    refuse(REFUSALS_PER_HOUR + 5_000)
    await trail.sweep()
    expect((await page(customer)).pagination.total).toBe(REFUSALS_PER_HOUR)
    app.clock.advance('1h')
    await trail.sweep()
    expect((await page(customer)).pagination.total).toBe(REFUSALS_PER_HOUR + 1)
    const line = { action: 'refusals', count: 5_000, result: 'refused', actor: { type: 'system', id: null, name: 'system' } }
    expect(await counts()).toMatchObject([line])
    refuse(REFUSALS_PER_HOUR + 7)
    await trail.close()
    expect((await counts()).map(({ count }: { count: number }) => count).toSorted((a: number, b: number) => a - b)).toEqual([7, 5_000])
  })
})

describe('GET /audit-log', () => {
  test('pages through entries of the own account, newest first', async () => {
    const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
    for (const name of ['a', 'b', 'c']) {
      app.clock.advance('1s')
      await customer.post('/ssh-keys', key(name))
    }
    const first = await page(customer, '?limit=2')
    expect(first.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 })
    const rest = await page(customer, '?limit=2&page=2')
    const times = [...first.data, ...rest.data].map(({ createdAt }: { createdAt: string }) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(await log(stranger)).toEqual([])
  })

  test('filters by date, action and token', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/ssh-keys', key())).body.data
    app.clock.advance('48h')
    const second = await app.given.token(customer.accountId)
    await second.delete(`/ssh-keys/${id}`)
    const actions = async (query: string) => (await log(customer, query)).map(({ action }: { action: string }) => action)
    const today = app.clock.now().toISOString().slice(0, 10)
    expect(await actions(`?dateFrom=${today}`)).toEqual(['deleteSshKey'])
    expect(await actions(`?dateTo=${new Date(app.clock.now().getTime() - 86_400_000).toISOString()}`)).toEqual(['createSshKey'])
    expect(await actions('?action=createSshKey')).toEqual(['createSshKey'])
    expect(await actions(`?tokenId=${second.id}`)).toEqual(['deleteSshKey'])
    expect(await actions('?action=createSshKey&tokenId=cnobody')).toEqual([])
    expect((await customer.get('/audit-log?dateFrom=yesterday')).status).toBe(400)
  })

  test("shows operator actions without the operator's identity", async () => {
    const { accountId, ...customer } = await app.given.customer()
    await app.db.tx(async (tx) => recordByOperator(tx, app.clock.now(), { accountId, action: 'account credit', resourceIds: [accountId] }))
    const actor = { type: 'operator', id: null, name: 'operator' }
    const line = { action: 'account credit', actor, ip: null, method: null, status: null, result: 'succeeded', resourceId: accountId }
    expect(await log({ accountId, ...customer })).toMatchObject([line])
  })

  test('is pruned after the retention set in the catalog', async () => {
    const customer = await app.given.customer()
    await customer.post('/ssh-keys', key())
    app.clock.advance('365d')
    await pruneAuditLog.runOnce(app.deps)
    expect(await log(customer)).toHaveLength(1)
    app.clock.advance('1ms')
    await pruneAuditLog.runOnce(app.deps)
    expect(await log(customer)).toEqual([])
  })
})

test('POST /vms needs one statement and no extra round trip for its audit entry', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const input = await app.given.vmInput()
  await app.given.vm(customer, {}, { settled: false })
  const texts = await statementsOf(() => customer.post('/vms', input))
  expect(texts.filter((text) => text.includes('audit_log'))).toHaveLength(1)
  const commit = texts.indexOf('commit')
  expect(texts[commit - 1]).toMatch(/^insert into audit_log/)
})

async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const texts: string[] = []
  const { query } = pg.Client.prototype as { query: (...given: unknown[]) => unknown }
  pg.Client.prototype.query = function (this: unknown, ...given: unknown[]) {
    texts.push((typeof given[0] === 'string' ? given[0] : (given[0] as { text: string }).text).trim())
    return query.apply(this, given)
  } as typeof pg.Client.prototype.query
  await work().finally(() => Object.assign(pg.Client.prototype, { query }))
  return texts
}
