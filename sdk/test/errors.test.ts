import { describe, expect, test } from 'vitest'
import { ERROR_CATALOG } from '../../server/src/kernel/errors.ts'
import { ApiError, Berth, BerthError, isRefusal, type ErrorCode } from '../src/index.ts'
import { html, json, scripted } from './scripted.ts'
import { sdkWorld } from './world.ts'

const app = await sdkWorld()
const refusalOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => {
      throw new Error('It was not refused')
    },
    (error: ApiError) => error,
  )

describe('a refusal of the server', () => {
  test('has its sentence, its code, the request and the fields', async () => {
    const berth = app.client(await app.given.customer())
    const error = await refusalOf(berth.vms.create({ ...(await app.given.vmInput()), hostname: '-' }))
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
  ])('is told apart by its code: %s', async (_, call, status, code, sentence) => {
    const error = await refusalOf(call(app.client(await app.given.customer())))
    expect([error.status, error.code, error.message]).toEqual([status, code, expect.stringContaining(sentence)])
    expect([isRefusal(error, code), isRefusal(error, 'busy', code), isRefusal(error), isRefusal(error, 'busy')]).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(isRefusal(new Error('VM not found'), 'not_found')).toBe(false)
  })

  test('comes for a scope that the token lacks', async () => {
    const berth = app.client(await app.given.customer({ scopes: ['vms:read'] }))
    await expect(berth.wallet.get()).rejects.toMatchObject({ status: 403, code: 'missing_scope' })
  })

  test('can be for any reason of the catalogue', () => {
    const known: Record<ErrorCode, unknown> = ERROR_CATALOG
    expect(Object.keys(known).length).toBeGreaterThan(25)
  })
})

describe('an answer that is not of Berth', () => {
  const against = async (...behaviours: Parameters<typeof scripted>) =>
    new Berth({ baseUrl: (await scripted(...behaviours)).baseUrl, token: 'vmk_test', maxRetries: 0 })

  test('is said to be one', async () => {
    const error = await refusalOf((await against(html(403))).regions.list())
    expect(error).toMatchObject({ status: 403, code: 'unknown', requestId: null, fields: [] })
    expect(error.message).toMatch(/GET .*\/regions was answered with 403 Forbidden, and not by Berth/)
  })

  test('may have the status of success', async () => {
    await expect((await against(html(200))).regions.list()).rejects.toThrow(/not by Berth: is baseUrl right/)
    await expect((await against(json(200, {}))).regions.list()).rejects.toThrow(/not by Berth/)
  })

  test('may lead elsewhere: the token does not go there', async () => {
    const elsewhere = await scripted()
    const berth = await against(html(301, { location: `${elsewhere.baseUrl}/api/public/v1/regions` }))
    await expect(berth.regions.list()).rejects.toThrow(/leads elsewhere \(http.*\): give the final address as baseUrl/)
    expect(elsewhere.requests).toEqual([])
  })

  test('in the form of the specification alone is understood too', async () => {
    const headers = { 'x-error-code': 'busy', 'x-request-id': 'c1' }
    const berth = await against(json(409, { success: false, error: 'VM is busy' }, headers))
    await expect(berth.vms.restart('c12345678')).rejects.toMatchObject({ code: 'busy', message: 'VM is busy', requestId: 'c1' })
  })
})

describe('a client', () => {
  test.each(['', '/', '/api/public/v1', '/api/public/v1/'])('takes the address of the server with %j at its end', async (end) => {
    const { token } = await app.given.customer()
    const regions = await new Berth({ baseUrl: `${app.baseUrl}${end}`, token }).regions.list()
    expect(regions[0]!.slug).toBe('fra1')
  })

  test('is not made without a token or an address', () => {
    expect(() => new Berth({ baseUrl: app.baseUrl, token: '' })).toThrow('token is missing')
    expect(() => new Berth({ baseUrl: 'cloud.example.com', token: 'vmk_test' })).toThrow('baseUrl must be an http or https URL')
  })

  test.each(['', '.', '..', undefined as unknown as string])('does not take %j for an id', (id) => {
    const berth = new Berth({ baseUrl: app.baseUrl, token: 'vmk_test' })
    return expect(async () => berth.networks.delete(id)).rejects.toThrow('id must be an id')
  })

  test('sends ids as they are, whatever is in them', async () => {
    const server = await scripted(json(404, { success: false, error: 'VM not found' }))
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test' })
    await expect(berth.vms.get('../wallet?a=b#c')).rejects.toThrow('VM not found')
    expect(server.requests[0]!.url).toBe('/api/public/v1/vms/..%2Fwallet%3Fa%3Db%23c')
  })

  test('calls what it has no method for', async () => {
    const customer = await app.given.customer()
    const berth = app.client(customer)
    const network = { name: 'net', nodeId: app.host.id, cidr: '10.9.0.0/24' }
    const made = await berth.request({ method: 'POST', path: '/networks', body: network })
    expect(await berth.request({ method: 'get', path: '/networks', query: { limit: 1 } })).toEqual([made])
  })

  test('does not show its token', async () => {
    const berth = app.client({ token: 'vmk_secret' })
    const error = await refusalOf(berth.regions.list())
    expect(JSON.stringify([berth, error, Object.entries(error)]) + String(error.stack)).not.toContain('vmk_secret')
  })
})
