// Every operation of the OpenAPI document against the rules that apply to all of them. An operation without an entry in endpoint-table.ts
// fails here.
import { describe, expect, test } from 'vitest'
import { PUBLIC_PREFIX } from '../src/compose.ts'
import { deleteToken, revokeToken } from '../src/features/accounts/service.ts'
import { SCOPES } from '../src/features/accounts/scopes.ts'
import type { Operation } from '../src/http/api/operation.ts'
import { newId } from '../src/kernel/ids.ts'
import { sql } from '../src/kernel/database/db.ts'
import { ENDPOINTS, fixtureOf, type Call } from './endpoint-table.ts'
import { fingerprint } from './fingerprint.ts'
import { testApp } from './harness.ts'
import { undocumented } from './validate-response.ts'

const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' } })
await makeRoom()
const dead = await deadTokens()
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Enough for hundreds of VMs. */
async function makeRoom(): Promise<void> {
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 100000000, disk_total_gib = 1000000`)
  await app.db.run(sql`update simulated.hosts set disk_total_bytes = ${10n ** 15n}`)
}

/** Tokens of a real account that are no longer valid. */
async function deadTokens(): Promise<[name: string, token: string | undefined, sentence: string][]> {
  const { accountId } = await app.given.customer()
  const [expired, revoked, deleted] = [
    await app.given.token(accountId, { expiresAt: new Date(app.clock.now().getTime() + 1_000) }),
    await app.given.token(accountId),
    await app.given.token(accountId),
  ]
  app.clock.advance('1s')
  await app.db.tx((tx) => revokeToken(tx, app.clock.now(), revoked.id))
  await app.db.tx((tx) => deleteToken(tx, deleted.id))
  return [
    ['no', undefined, 'Missing API token'],
    ['a malformed', 'vmk_notatoken', 'Invalid API token'],
    ['an expired', expired.token, 'API token has expired'],
    ['a revoked', revoked.token, 'API token has been revoked'],
    ['a deleted', deleted.token, 'Invalid API token'],
  ]
}

let addresses = 0

async function send(operation: Operation, call: Call, token: string | undefined, options: { method?: string; key?: string } = {}) {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => call.params?.[name] ?? 'cunknown1')
  const { statusCode, headers, body } = await app.app.inject({
    method: (options.method ?? operation.method) as 'GET',
    url: `${PUBLIC_PREFIX}${path}${call.query ?? ''}`,
    headers: { ...(token && { 'x-api-key': token }), ...(options.key && { 'idempotency-key': options.key }) },
    ...(call.body && { payload: call.body }),
    remoteAddress: `10.1.${Math.floor(addresses / 250)}.${addresses++ % 250}`, // so that tests do not share a rate limit
  })
  return { status: statusCode, text: body, code: headers['x-error-code'], headers }
}

const seen = ({ status, text, code }: Awaited<ReturnType<typeof send>>) => ({ status, text, code })

/** The same for all tests of an operation: those without effect come first, and each of the last two has a customer of its own. */
const arrangements = new Map<Operation, Promise<{ mine: Arranged; theirs: Arranged }>>()
type Arranged = Awaited<ReturnType<typeof arranged>>

async function arranged(operation: Operation) {
  const customer = await app.given.customer({ credit: '10000.00' })
  return { customer, call: await ENDPOINTS[operation.operationId]!(fixtureOf(app, customer)) }
}

function arrangementOf(operation: Operation) {
  const arrange = async () => ({ mine: await arranged(operation), theirs: await arranged(operation) })
  if (!arrangements.has(operation)) arrangements.set(operation, arrange())
  return arrangements.get(operation)!
}

function expectDocumented(operation: Operation, { status, text }: Awaited<ReturnType<typeof send>>): void {
  expect(status, text).toBe([operation.status ?? 200].flat()[0])
  const answer = JSON.parse(text) as { data: unknown }
  expect(undocumented(operation, status, answer)).toEqual([])
  expect(answer.data, 'a list must not be empty here').not.toEqual([])
}

test('every operation has an entry, and every entry an operation', () => {
  expect(Object.keys(ENDPOINTS).toSorted()).toEqual(app.operations.map(({ operationId }) => operationId).toSorted())
})

const offersDryRun = ({ query }: Operation): boolean => query?.['dryRun'] !== undefined

const covered = app.operations.filter(({ operationId }) => operationId in ENDPOINTS)
const stranger = await app.given.customer()

/** Defines a test once, or not at all. */
const only = (applies: boolean): boolean[] => (applies ? [true] : [])

describe.each(covered)('$operationId', (operation) => {
  const { method, scope, paged } = operation
  const changes = method !== 'GET'

  test.each(dead)('rejects %s token', async (_, token, sentence) => {
    const { status, text, code, headers } = await send(operation, { body: { unknown: true } }, token)
    expect([status, code, JSON.parse(text)]).toEqual([401, 'unauthorized', { success: false, error: sentence }])
    expect(headers['x-ratelimit-limit']).toBe('100')
  })

  test('returns 405 for a wrong method', async () => {
    // Also those of a path with a parameter that this one fits: `/vms/actions` is an id of `/vms/:id`.
    const isServedBy = ({ path }: Operation): boolean => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`).test(operation.path)
    const methods = app.operations.filter(isServedBy).map((each) => each.method)
    for (const wrong of METHODS.filter((each) => !methods.includes(each))) {
      const { status, code, headers } = await send(operation, {}, stranger.token, { method: wrong })
      expect([status, code]).toEqual([405, 'method_not_allowed'])
      expect(String(headers['allow']).split(', ')).toEqual(expect.arrayContaining(methods))
    }
  })

  test.each(only(scope !== null))('rejects a token with every scope but its own', async () => {
    const { token } = await app.given.customer({ scopes: SCOPES.filter((each) => each !== scope) })
    const { status, text, code } = await send(operation, { body: { unknown: true } }, token)
    expect([status, code]).toEqual([403, 'missing_scope'])
    expect(JSON.parse(text)).toEqual({ success: false, error: `This token lacks the required scope: ${scope}` })
  })

  test('returns the same for ids of another account as for unknown ones, without effect', async () => {
    const { mine, theirs } = await arrangementOf(operation)
    const before = await fingerprint(app.db)
    for (const [foreign, unknown] of swappedIds(mine.call, theirs.call)) {
      const answer = seen(await send(operation, foreign, mine.customer.token))
      expect(answer).toEqual(seen(await send(operation, unknown, mine.customer.token)))
      expect(answer).toMatchObject({ status: 404, code: 'not_found' })
    }
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test.each(only(paged))('follows the paging rules', async () => {
    const { customer, call } = (await arrangementOf(operation)).mine
    expect((await send(operation, { ...call, query: '?limit=101' }, customer.token)).status).toBe(400)
    expect((await send(operation, { ...call, query: '?page=0' }, customer.token)).status).toBe(400)
    const { status, text } = await send(operation, { ...call, query: '?page=999999999999&limit=100&unknown=x' }, customer.token)
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ success: true, data: [], pagination: { page: 999_999_999_999, limit: 100 } })
  })

  test.each(only(changes))('rejects an unknown field without effect', async () => {
    const { customer, call } = (await arrangementOf(operation)).mine
    const before = await fingerprint(app.db)
    const { status, text } = await send(operation, { ...call, body: { ...call.body, surprise: 1 } }, customer.token)
    expect([status, JSON.parse(text)]).toEqual([400, { success: false, error: 'Validation failed: surprise is not a known field' }])
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test.each(only(changes && offersDryRun(operation)))('returns the price with dryRun, without effect', async () => {
    const { customer, call } = (await arrangementOf(operation)).mine
    const before = await fingerprint(app.db)
    const { status, text } = await send(operation, { ...call, query: '?dryRun=true' }, customer.token)
    const answer = JSON.parse(text) as object
    expect([status, undocumented(operation, status, answer)]).toEqual([200, []])
    expect(answer).toMatchObject({ data: { charge: expect.any(String), balanceAfter: expect.any(String) } })
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test.each(only(changes && !offersDryRun(operation)))('rejects dryRun without effect', async () => {
    const { customer, call } = (await arrangementOf(operation)).mine
    const before = await fingerprint(app.db)
    const { status, text } = await send(operation, { ...call, query: '?dryRun=true' }, customer.token)
    const error = `Validation failed: ${method} ${operation.path.replace(/:(\w+)/g, '{$1}')} has no dry run; nothing was done`
    expect([status, JSON.parse(text)]).toEqual([400, { success: false, error }])
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test('works as documented for a token with only its scope', async () => {
    const { customer, call } = (await arrangementOf(operation)).mine
    const { token } = await app.given.token(customer.accountId, { scopes: scope ? [scope, ...(call.otherScopes ?? [])] : ['*'] })
    expectDocumented(operation, await send(operation, call, token))
  })

  test.each(only(!changes))('works as documented', async () => {
    const { customer, call } = (await arrangementOf(operation)).theirs
    expectDocumented(operation, await send(operation, call, customer.token))
  })

  test.each(only(changes))('works as documented, and has one effect and the same response for a repeated key', async () => {
    const { customer, call } = (await arrangementOf(operation)).theirs
    const key = newId()
    const first = await send(operation, call, customer.token, { key })
    expectDocumented(operation, first)
    expect(first.headers).not.toHaveProperty('idempotent-replayed')
    const after = await fingerprint(app.db)
    const second = await send(operation, call, customer.token, { key })
    expect(seen(second)).toEqual(seen(first))
    expect([second.headers['idempotent-replayed'], second.headers['location']]).toEqual(['true', first.headers['location']])
    expect(await fingerprint(app.db)).toEqual(after)
  })
})

test('every operation that charges or refunds has a dry run', () => {
  const named = (operations: Operation[]): string[] => operations.map(({ operationId }) => operationId).toSorted()
  const costs = app.operations.filter(({ errorCodes: refuses = [] }) => refuses.includes('insufficient_funds'))
  expect(named(app.operations.filter(offersDryRun))).toEqual(
    [...named(costs), 'deleteImage', 'deleteVm', 'deleteVolume', 'shelveVm', 'releaseAddress', 'startBulkAction'].toSorted(),
  )
})

test('the fingerprint detects every change', async () => {
  const before = await fingerprint(app.db)
  expect(await fingerprint(app.db)).toEqual(before)
  await app.db.run(sql`update accounts set name = name || 'x' where id = (select min(id) from accounts)`)
  expect(await fingerprint(app.db)).not.toEqual(before)
})

/** My call with each of my ids replaced: once by theirs, once by an unknown one. */
function swappedIds(mine: Call, theirs: Call): [foreign: Call, unknown: Call][] {
  if (mine.shared) return []
  const inPath = Object.keys(mine.params ?? {}).map((name): [Call, Call] => {
    const withParam = (id: string): Call => ({ ...mine, params: { ...mine.params, [name]: id } })
    return [withParam(theirs.params![name]!), withParam(newId())]
  })
  const inBody = Object.keys(mine.body ?? {})
    .filter((name) => isId(mine.body![name]) && String(mine.body![name]) !== String(theirs.body![name]))
    .map((name): [Call, Call] => {
      const withField = (value: unknown): Call => ({ ...mine, body: { ...mine.body, [name]: value } })
      return [withField(theirs.body![name]), withField(Array.isArray(mine.body![name]) ? [newId()] : newId())]
    })
  return [...inPath, ...inBody]
}

const isId = (value: unknown): boolean => [value].flat().every((each) => typeof each === 'string' && /^c[0-9a-z]{24}$/.test(each))
