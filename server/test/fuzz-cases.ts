// Sends generated requests to every operation: every response has the envelope, and none is a server error.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DASHBOARD_PREFIX, PUBLIC_PREFIX } from '../src/compose.ts'
import type { Operation } from '../src/http/api/operation.ts'
import { givenBrowser, OWN_PAGE } from './browser.ts'
import { fixtureOf } from './endpoint-table.ts'
import { requestsOf, type FuzzedRequest } from './fuzz.ts'
import { testApp } from './harness.ts'

export async function neverFails(perOperation: number, seed: number): Promise<void> {
  const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_SIGN_UP: 'open' } })
  const customer = await app.given.customer({ credit: '100000.00' })
  const fixture = fixtureOf(app, customer)
  const vm = await fixture.vm()
  const firewall = await fixture.firewall()
  const theirs = [vm, firewall, await fixture.rule(firewall), await fixture.key(), await fixture.network(), await fixture.webhook()]
  const catalog = [await fixture.region(), await fixture.template(), await fixture.plan('medium'), 'debian-12', app.host.id]
  const ids = [...theirs, ...catalog, await fixture.actionOf(vm)]

  let addresses = 0
  const send = (prefix: string, proof: Record<string, string>, operation: Operation, { params, query, body, key }: FuzzedRequest) =>
    app.app.inject({
      method: operation.method as 'GET',
      url: prefix + operation.path.replace(/:(\w+)/g, (_, name: string) => encode(params[name] ?? vm)),
      query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, value.toWellFormed()])),
      headers: { ...proof, 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
      remoteAddress: `10.4.${Math.floor(++addresses / 250) % 250}.${addresses % 250}`, // unauthenticated requests are limited by address
    })

  /** The smallest failing request, or undefined. */
  const trouble = async (prefix: string, proof: Record<string, string>, operation: Operation): Promise<string | undefined> => {
    const property = fc.asyncProperty(requestsOf(operation, ids), async (request) => {
      const { statusCode, headers, body } = await send(prefix, proof, operation, request)
      if (headers['x-error-code'] === 'no_capacity') return
      expect(statusCode, body).toBeLessThan(500)
      expect(JSON.parse(body)).toHaveProperty('success', statusCode < 300)
    })
    return fc.asyncDefaultReportMessage(await fc.check(property, { numRuns: perOperation, seed }))
  }

  const total = (app.operations.length + app.dashboardOperations.length) * perOperation
  describe(`${total} generated requests (seed ${seed})`, () => {
    test.each(app.operations)('never make $operationId fail', async (operation) => {
      expect(await trouble(PUBLIC_PREFIX, { 'x-api-key': customer.token }, operation)).toBeUndefined()
    })

    test.each(app.dashboardOperations)('never make $operationId fail', async (operation) => {
      const { cookie } = await givenBrowser(app, { isOperator: true })
      expect(await trouble(DASHBOARD_PREFIX, { ...OWN_PAGE, cookie: cookie()! }, operation)).toBeUndefined()
    })
  })
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed())
