import { describe, expect, test } from 'vitest'
import { ERROR_CATALOG } from '../../server/src/kernel/errors.ts'
import { ApiError, Berth, BerthError, isApiError, type ErrorCode } from '../src/index.ts'
import { html, json, scripted } from './scripted.ts'
import { sdkFixture } from './fixture.ts'

const app = await sdkFixture()
const errorOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => {
      throw new Error('The call did not fail')
    },
    (error: ApiError) => error,
  )

describe('an error response', () => {
  test('has message, code, request id and fields', async () => {
    const berth = app.client(await app.given.customer())
    const error = await errorOf(berth.vms.create({ ...(await app.given.vmInput()), hostname: '-' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toBeInstanceOf(BerthError)
    expect(error).toMatchObject({
      name: 'ApiError',
      status: 400,
      code: 'validation_failed',
      message: expect.stringMatching(/^Validation failed: hostname must be/),
      requestId: expect.stringMatching(/^c[0-9a-z]{24}$/),
      fields: [{ field: 'hostname', message: expect.stringContaining('must be') }],
      retryAfterSeconds: null,
    })
  })

  test.each<[string, (berth: Berth) => Promise<unknown>, number, ErrorCode, string]>([
    ['an unknown id', (berth) => berth.vms.get('cunknown1'), 404, 'not_found', 'VM not found'],
    ['an empty wallet', async (berth) => berth.vms.create(await app.given.vmInput()), 402, 'insufficient_funds', 'Insufficient wallet'],
  ])('is identified by its code: %s', async (_, call, status, code, message) => {
    const error = await errorOf(call(app.client(await app.given.customer())))
    expect([error.status, error.code, error.message]).toEqual([status, code, expect.stringContaining(message)])
    expect([isApiError(error, code), isApiError(error, 'busy', code), isApiError(error), isApiError(error, 'busy')]).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(isApiError(new Error('VM not found'), 'not_found')).toBe(false)
  })

  test('is returned for a missing scope', async () => {
    const berth = app.client(await app.given.customer({ scopes: ['vms:read'] }))
    await expect(berth.wallet.get()).rejects.toMatchObject({ status: 403, code: 'missing_scope' })
  })

  test('can have any code of the error catalog', () => {
    const known: Record<ErrorCode, unknown> = ERROR_CATALOG
    expect(Object.keys(known).length).toBeGreaterThan(25)
  })
})

describe('a response that is not from Berth', () => {
  const against = async (...behaviours: Parameters<typeof scripted>) =>
    new Berth({ baseUrl: (await scripted(...behaviours)).baseUrl, token: 'vmk_test', maxRetries: 0 })

  test('is reported as such', async () => {
    const error = await errorOf((await against(html(403))).regions.list())
    expect(error).toMatchObject({ status: 403, code: 'unknown', requestId: null, fields: [] })
    expect(error.message).toMatch(/GET .*\/regions returned 403 Forbidden, not from Berth/)
  })

  test('is detected even with status 200', async () => {
    await expect((await against(html(200))).regions.list()).rejects.toThrow(/response that is not Berth's. Check baseUrl/)
    await expect((await against(json(200, {}))).regions.list()).rejects.toThrow(/not Berth's/)
  })

  test('is not followed if it is a redirect, so the token stays here', async () => {
    const elsewhere = await scripted()
    const berth = await against(html(301, { location: `${elsewhere.baseUrl}/api/public/v1/regions` }))
    await expect(berth.regions.list()).rejects.toThrow(/is redirected \(http.*\). Set baseUrl to the final URL/)
    expect(elsewhere.requests).toEqual([])
  })

  test('is parsed without problem+json too', async () => {
    const headers = { 'x-error-code': 'busy', 'x-request-id': 'c1' }
    const berth = await against(json(409, { success: false, error: 'VM is busy' }, headers))
    await expect(berth.vms.restart('c12345678')).rejects.toMatchObject({ code: 'busy', message: 'VM is busy', requestId: 'c1' })
  })
})

describe('a client', () => {
  test.each(['', '/', '/api/public/v1', '/api/public/v1/'])('accepts a baseUrl that ends with %j', async (end) => {
    const { token } = await app.given.customer()
    const regions = await new Berth({ baseUrl: `${app.baseUrl}${end}`, token }).regions.list()
    expect(regions[0]!.slug).toBe('fra1')
  })

  test('requires a token and a URL', () => {
    expect(() => new Berth({ baseUrl: app.baseUrl, token: '' })).toThrow('token is missing')
    expect(() => new Berth({ baseUrl: 'cloud.example.com', token: 'vmk_test' })).toThrow('baseUrl must be an http or https URL')
  })

  test.each(['', '.', '..', undefined as unknown as string])('rejects %j as an id', (id) => {
    const berth = new Berth({ baseUrl: app.baseUrl, token: 'vmk_test' })
    return expect(async () => berth.networks.delete(id)).rejects.toThrow('id must be an id')
  })

  test('escapes ids', async () => {
    const server = await scripted(json(404, { success: false, error: 'VM not found' }))
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test' })
    await expect(berth.vms.get('../wallet?a=b#c')).rejects.toThrow('VM not found')
    expect(server.requests[0]!.url).toBe('/api/public/v1/vms/..%2Fwallet%3Fa%3Db%23c')
  })

  test('calls endpoints without a method', async () => {
    const customer = await app.given.customer()
    const berth = app.client(customer)
    const network = { name: 'net', nodeId: app.host.id, cidr: '10.9.0.0/24' }
    const created = await berth.request({ method: 'POST', path: '/networks', body: network })
    expect(await berth.request({ method: 'get', path: '/networks', query: { limit: 1 } })).toEqual([created])
  })

  test('does not reveal its token', async () => {
    const berth = app.client({ token: 'vmk_secret' })
    const error = await errorOf(berth.regions.list())
    expect(JSON.stringify([berth, error, Object.entries(error)]) + String(error.stack)).not.toContain('vmk_secret')
  })
})
