// Every operation of the dashboard against the rules that apply to all of them, and the public operations with a session.
import { beforeAll, describe, expect, test } from 'vitest'
import { DASHBOARD_PREFIX } from '../src/compose.ts'
import { OPERATOR } from '../src/features/sessions/service.ts'
import type { Operation } from '../src/http/api/operation.ts'
import { newId } from '../src/kernel/ids.ts'
import { browserOf, givenBrowser, OWN_PAGE, PASSWORD } from './browser.ts'
import { DASHBOARD, type DashboardFixture } from './dashboard-table.ts'
import type { Call } from './endpoint-table.ts'
import { fingerprint } from './fingerprint.ts'
import { testApp } from './harness.ts'
import { undocumented } from './validate-response.ts'

const app = await testApp({ environment: { BERTH_SIGN_UP: 'open' } })
const OPEN = new Set([
  'getSetup',
  'welcome',
  'signIn',
  'signUp',
  'completeSignUp',
  'requestPasswordReset',
  'completePasswordReset',
  'previewInvitation',
  'registerByInvitation',
  'beginSignInByProvider',
  'signInByProvider',
  'completeSignInByProvider',
])
const operations = app.dashboardOperations.filter(({ operationId }) => operationId in DASHBOARD)
const closed = operations.filter(({ operationId }) => !OPEN.has(operationId))
const isWrite = ({ method }: Operation): boolean => method !== 'GET'

let addresses = 0
const somewhere = (): string => `10.2.${Math.floor(++addresses / 250)}.${addresses % 250}`

async function send(operation: Operation, call: Call, headers: Record<string, string>) {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => call.params?.[name] ?? 'cunknown1')
  const answer = await app.app.inject({
    method: operation.method as 'GET',
    url: `${DASHBOARD_PREFIX}${path}${call.query ?? ''}`,
    headers,
    ...(call.body && { payload: call.body }),
    remoteAddress: somewhere(),
  })
  return { status: answer.statusCode, code: answer.headers['x-error-code'], text: answer.body, headers: answer.headers }
}

const as = (browser: DashboardFixture['browser']) => ({
  ...OWN_PAGE,
  cookie: browser.cookie()!,
  ...(browser.chosen() !== undefined && { 'x-account-id': browser.chosen()! }),
})

async function arranged(operation: Operation) {
  const browser = await givenBrowser(app, { isOperator: operation.scope === OPERATOR })
  return { browser, call: await DASHBOARD[operation.operationId]!({ app, browser }) }
}

/** The same for all tests of an operation, of which only the last has an effect. */
const arrangements = new Map<Operation, ReturnType<typeof arranged>>()

function arrangementOf(operation: Operation) {
  if (!arrangements.has(operation)) arrangements.set(operation, arranged(operation))
  return arrangements.get(operation)!
}

test('every operation has an entry, and every entry an operation', () => {
  expect(Object.keys(DASHBOARD).toSorted()).toEqual(app.dashboardOperations.map(({ operationId }) => operationId).toSorted())
})

const STRANGERS = [
  ['nobody', undefined],
  ['a broken cookie', 'berth=ses_notasession'],
  ['the cookie of another name', '__Host-berth=x'],
] as const
const [customer, { token }] = [await givenBrowser(app), await app.given.customer()]

/** Defines a test once, or not at all. */
const only = (applies: boolean): boolean[] => (applies ? [true] : [])

describe.each(operations)('$operationId', (operation) => {
  const { scope, path } = operation
  const isClosed = closed.includes(operation)

  test.each(isClosed ? STRANGERS : [])('rejects %s', async (_, cookie) => {
    const { status, code } = await send(operation, { body: { unknown: true } }, { ...OWN_PAGE, ...(cookie && { cookie }) })
    expect([status, code]).toEqual([401, 'unauthorized'])
  })

  test.each(only(isClosed))('rejects a token', async () => {
    expect((await send(operation, {}, { ...OWN_PAGE, 'x-api-key': token })).status).toBe(401)
  })

  test.each(only(isWrite(operation)))('rejects a page of another site without effect', async () => {
    const { browser, call } = await arrangementOf(operation)
    const before = await fingerprint(app.db)
    for (const foreign of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, {}]) {
      const { status, code } = await send(operation, call, { host: OWN_PAGE.host, cookie: browser.cookie()!, ...foreign } as never)
      expect([status, code]).toEqual([403, 'origin_not_allowed'])
    }
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test.each(only(isWrite(operation)))('rejects an unknown field', async () => {
    const { browser, call } = await arrangementOf(operation)
    const { status, text } = await send(operation, { ...call, body: { ...call.body, surprise: 1 } }, as(browser))
    expect([status, JSON.parse(text).error]).toEqual([400, 'Validation failed: surprise is not a known field'])
  })

  test.each(only(isClosed && isWrite(operation) && operation.dryRunData === undefined))('rejects a dry run without effect', async () => {
    const { browser, call } = await arrangementOf(operation)
    const before = await fingerprint(app.db)
    const { status, text } = await send(operation, { ...call, query: '?dryRun=true' }, as(browser))
    expect([status, JSON.parse(text).error]).toEqual([400, expect.stringContaining('has no dry run; nothing was done')])
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test.each(only(isClosed))('returns not_found for an unknown id', async () => {
    const { browser, call } = await arrangementOf(operation)
    for (const name of Object.keys(call.params ?? {}).filter((each) => each !== 'name')) {
      const { status, code } = await send(operation, { ...call, params: { ...call.params, [name]: newId() } }, as(browser))
      expect([name, status, code]).toEqual([name, 404, 'not_found'])
    }
  })

  test.each(only(isClosed && scope === OPERATOR))('rejects customers', async () => {
    const { call } = await arrangementOf(operation)
    const before = await fingerprint(app.db)
    const { status, text, code } = await send(operation, call, as(customer))
    expect([status, code, JSON.parse(text).error]).toEqual([403, 'operator_only', 'Only an operator may do this'])
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test.each(only(isClosed && scope !== OPERATOR && path.includes(':')))(
    "returns the same for another user's id as for an unknown one",
    async () => {
      const [mine, theirs] = [await arrangementOf(operation), await arranged(operation)]
      const seen = async (id: string) => {
        const { status, text } = await send(operation, { ...mine.call, params: { id } }, as(mine.browser))
        return { status, text }
      }
      const before = await fingerprint(app.db)
      expect(await seen(theirs.call.params!['id']!)).toEqual(await seen(newId()))
      expect(await fingerprint(app.db)).toEqual(before)
    },
  )

  test('works as documented', async () => {
    const { browser, call } = await arrangementOf(operation)
    const { status, text, headers } = await send(operation, call, as(browser))
    expect(status, text).toBe([operation.status ?? 200].flat()[0])
    const answer = JSON.parse(text) as { data: unknown }
    expect(undocumented(operation, status, answer)).toEqual([])
    expect(answer.data, 'a list must not be empty here').not.toEqual([])
    expect(headers['cache-control']).toBe('no-store')
  })
})

const needing = [...app.operations, ...operations].filter(({ requiresReauth }) => requiresReauth)

test('irreversible operations require a recent password', () => {
  expect(needing.map(({ operationId }) => operationId).toSorted()).toEqual([
    'allowVisitChanges',
    'beginLinkIdentity',
    'beginTotp',
    'createInvitation',
    'createToken',
    'deleteMember',
    'deleteProject',
    'deleteVm',
    'leaveAccount',
    'operatorAdjustAccount',
    'operatorAnnounceMaintenance',
    'operatorCreateAnnouncement',
    'operatorCreditAccount',
    'operatorEnrollHost',
    'operatorImportTemplate',
    'operatorMakeSetUpLink',
    'operatorVisitAccount',
    'rebuildVm',
    'removeTotp',
    'renewRecoveryCodes',
    'unlinkIdentity',
    'updateAccount',
    'updateMember',
  ])
})

describe.each(operations.filter(({ requiresReauth }) => requiresReauth))('$operationId', (operation) => {
  test('requires the password when it was entered more than 15 minutes ago', async () => {
    const { browser, call } = await arranged(operation)
    app.clock.advance('15m')
    const { status, code } = await send(operation, call, as(browser))
    expect([status, code]).toEqual([403, 'reauthentication_required'])
    const { statusCode } = await app.app.inject({
      method: 'POST',
      url: `${DASHBOARD_PREFIX}/reauthenticate`,
      headers: as(browser),
      payload: { password: 'wrong' },
    })
    expect(statusCode).toBe(401)
    await browser.post('/reauthenticate', { password: PASSWORD, ...call.proof })
    expect((await send(operation, call, as(browser))).status).toBeLessThan(300)
  })
})

describe('the public routes', () => {
  let visitor: Awaited<ReturnType<typeof givenBrowser>>
  beforeAll(async () => void (visitor = await givenBrowser(app)))

  test.each(app.operations)('$method $path accepts sessions only', async ({ method, path }) => {
    const url = `${DASHBOARD_PREFIX}/v1${path.replace(/:(\w+)/g, 'cunknown1')}`
    const ask = async (headers: Record<string, string>) =>
      (await app.app.inject({ method: method as 'GET', url, headers, remoteAddress: somewhere() })).statusCode
    expect(await ask(OWN_PAGE)).toBe(401)
    expect(await ask({ ...OWN_PAGE, 'x-api-key': token })).toBe(401)
    expect([200, 400, 404, 422]).toContain(await ask(as(visitor)))
    const fromNowhere = await ask({ host: 'localhost', cookie: visitor.cookie()! })
    expect(fromNowhere === 403).toBe(method !== 'GET')
  })

  test('show a user the VMs of the own account only', async () => {
    const [mine, theirs] = [await givenBrowser(app), await app.given.customer({ credit: '100.00' })]
    const { id } = await app.given.vm(theirs)
    for (const path of [`/v1/vms/${id}`, `/v1/vms/${id}/actions`, `/v1/vms/${id}/snapshots`]) {
      const unknown = await mine.get(path.replace(id, newId()))
      const foreign = await mine.get(path)
      expect([foreign.status, foreign.body]).toEqual([404, unknown.body])
    }
    expect((await mine.post(`/v1/vms/${id}/stop`)).status).toBe(404)
    expect((await mine.delete(`/v1/vms/${id}`)).status).toBe(404)
    expect((await mine.get('/v1/vms')).body.data).toEqual([])
    expect((await theirs.get(`/vms/${id}`)).body.data.status).toBe('RUNNING')
  })

  test('limit requests per user, not per address', async () => {
    const browser = await givenBrowser(app)
    const other = browserOf(app)
    other.keep(browser.cookie())
    const first = await browser.get('/v1/vms')
    expect(first.headers['x-ratelimit-limit']).toBe('600')
    const second = await other.get('/session')
    expect(Number(second.headers['x-ratelimit-remaining'])).toBe(Number(first.headers['x-ratelimit-remaining']) - 1)
  })
})
