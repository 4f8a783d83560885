// Every operation of the OpenAPI document, called by a member of every role. What a role may do is written down here once more, operation by
// operation: one that is new fails until somebody has decided who may call it.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SCOPES } from '../src/features/accounts/service.ts'
import { givenBrowser, givenMember } from './browser.ts'
import { testApp } from './harness.ts'
import { MAY } from './role-table.ts'

interface Found {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  scope: string | null
}

type Document = { paths: Record<string, Record<Found['method'], { operationId: string; 'x-scope': string | null }>> }
const document = JSON.parse(readFileSync(new URL('../../openapi/v1.json', import.meta.url), 'utf8')) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId: id, 'x-scope': scope }]) => ({ id, method, path, scope }) as Found),
)

const app = await testApp({ environment: { BERTH_PAYMENTS: 'manual' } })
const owner = await givenBrowser(app)
const { accountId } = owner.person
const NAMED = ['owner', 'admin', 'operator', 'billing', 'read-only'] as const

/** Ids that nothing has: what is allowed gets as far as that, or as the check of the body, and changes nothing. */
const outcome = async (browser: typeof owner, { method, path }: Found) => {
  const url = `/v1${path.replace(/\{\w+\}/g, 'cunknown1')}`
  const { status, headers, body } = method === 'get' || method === 'delete' ? await browser[method](url) : await browser[method](url, {})
  return [200, 400, 404, 409, 422].includes(status) ? 'allowed' : { status, code: headers['x-error-code'], error: body.error }
}

const refusal = (scope: string | null) => ({
  status: 403,
  code: 'missing_scope',
  error: `Your role in this account lacks the required scope: ${scope}`,
})

test('the table has every operation, and no other', () => {
  expect(Object.keys(MAY).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
})

test('every operation needs a scope that there is, but for the search, which finds what the scopes may read', () => {
  expect(operations.filter(({ scope }) => scope === null || !SCOPES.includes(scope)).map(({ id }) => id)).toEqual(['search'])
})

describe.each(NAMED)('a member with the role %s', async (role) => {
  const member = await givenMember(app, accountId, role)

  test.each(operations)('$id', async (operation) => {
    const isAllowed = MAY[operation.id]!.split(' ').includes(role)
    expect(await outcome(member, operation)).toEqual(isAllowed ? 'allowed' : refusal(operation.scope))
  })
})

test.each(SCOPES)('a member with the scope %s alone may call what needs it, and nothing else', async (scope) => {
  const member = await givenMember(app, accountId, 'custom', [scope])
  for (const operation of operations) {
    const expected = [scope, null].includes(operation.scope) ? 'allowed' : refusal(operation.scope)
    expect([operation.id, await outcome(member, operation)]).toEqual([operation.id, expected])
  }
})

test('operations of the dashboard are personal, or for operators, or of the scopes', () => {
  const others = app.dashboardOperations.filter(({ scope, isPersonal }) => !scope && !isPersonal).map(({ operationId }) => operationId)
  expect(others.toSorted()).toEqual([
    'beginSignInByProvider',
    'completePasswordReset',
    'completeSignInByProvider',
    'completeSignUp',
    'getSetup',
    'listScopes',
    'previewInvitation',
    'registerByInvitation',
    'requestPasswordReset',
    'signIn',
    'signInByProvider',
    'signUp',
    'welcome',
  ])
})
