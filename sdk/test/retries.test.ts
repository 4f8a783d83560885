import { describe, expect, test } from 'vitest'
import { ApiError, Berth, BerthError, NetworkError, TimeoutError, type ClientOptions, type Sleep } from '../src/index.ts'
import { pauseMs } from '../src/pipeline/retry.ts'
import { data, truncatedResponse, hang, html, json, reset, scripted, type Behaviour } from './scripted.ts'

/** A client of a scripted server, one behaviour per request; pauses are recorded, not waited for. */
async function against(behaviours: Behaviour[], options: Partial<ClientOptions> = {}) {
  const server = await scripted(...behaviours)
  const pauses: number[] = []
  const causes: unknown[] = []
  const sleep: Sleep = async (ms, _, error) => {
    pauses.push(ms)
    causes.push(error)
  }
  return { causes, berth: new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep, ...options }), pauses, requests: server.requests }
}

const errorResponse = (status: number, code: string, headers: Record<string, string> = {}): Behaviour =>
  json(status, { success: false, error: `Error: ${code}` }, { 'x-error-code': code, ...headers })

const keysOf = (requests: { headers: Record<string, unknown> }[]): unknown[] => requests.map(({ headers }) => headers['idempotency-key'])

describe('a request that is safe to repeat', () => {
  test.each<[string, Behaviour]>([
    ['a connection that is reset', reset],
    ['a truncated response', truncatedResponse],
    ['a 502 of a proxy', html(502)],
    ['a 503 of the server', errorResponse(503, 'service_unavailable')],
    ['a 504 of a proxy', html(504)],
    ['a 429', errorResponse(429, 'rate_limited', { 'retry-after': '3' })],
    ['an earlier attempt that is still under way', errorResponse(409, 'idempotency_in_progress')],
  ])('is retried after %s with the same key', async (_, failure) => {
    const { berth, requests, pauses, causes } = await against([failure, failure, data({ id: 'c1' })])
    expect(await berth.sshKeys.create({ name: 'key', publicKey: 'ssh-ed25519 …' })).toEqual({ id: 'c1' })
    expect(pauses).toHaveLength(2)
    expect(causes).toEqual([expect.any(BerthError), expect.any(BerthError)])
    expect(new Set(keysOf(requests))).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]))
  })

  test('is retried after a timeout', async () => {
    const { berth, requests } = await against([hang, data([])], { timeoutMs: 100 })
    expect(await berth.regions.list()).toEqual([])
    expect(requests).toHaveLength(2)
  })

  test('fails with the last error after maxRetries', async () => {
    const { berth, requests } = await against([html(502), html(502), errorResponse(503, 'service_unavailable')], { maxRetries: 2 })
    await expect(berth.regions.list()).rejects.toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(requests).toHaveLength(3)
  })

  test('has a random key or the given one', async () => {
    const { berth, requests } = await against([data({}), data({}), data({})])
    await berth.networks.delete('c12345678')
    await berth.networks.delete('c12345678')
    await berth.networks.delete('c12345678', { idempotencyKey: 'mine' })
    const [first, second, third] = keysOf(requests)
    expect(first).not.toBe(second)
    expect(third).toBe('mine')
  })
})

describe('a request that is not retried', () => {
  test.each<[string, Behaviour]>([
    ['a validation error', errorResponse(400, 'validation_failed')],
    ['a conflict', errorResponse(409, 'busy')],
    ['an internal error', errorResponse(500, 'internal_error')],
    ['a full fleet', errorResponse(503, 'no_capacity')],
  ])('fails with %s', async (_, failure) => {
    const { berth, requests } = await against([failure, data({})])
    await expect(berth.vms.restart('c12345678')).rejects.toBeInstanceOf(ApiError)
    expect(requests).toHaveLength(1)
  })

  test.each<[string, Behaviour, new (...args: never[]) => Error]>([
    ['a truncated response', truncatedResponse, NetworkError],
    ['a 502 of a proxy', html(502), ApiError],
  ])('is a write without a key after %s', async (_, failure, kind) => {
    const { berth, requests } = await against([failure, data({})])
    await expect(berth.vms.restart('c12345678', {}, { idempotencyKey: null })).rejects.toBeInstanceOf(kind)
    expect(requests).toHaveLength(1)
    expect(keysOf(requests)).toEqual([undefined])
  })

  test('is not a write without a key after 429, which the server did not process', async () => {
    const { berth, requests } = await against([errorResponse(429, 'rate_limited', { 'retry-after': '1' }), data({ actionId: 'c1' })])
    expect(await berth.vms.restart('c12345678', {}, { idempotencyKey: null })).toEqual({ actionId: 'c1', vmId: 'c12345678' })
    expect(requests).toHaveLength(2)
  })
})

describe('cancellation', () => {
  test('by timeout can be disabled', async () => {
    const { berth, requests } = await against([hang, data([])])
    const call = berth.regions.list({ timeoutMs: Infinity, maxRetries: 0 })
    await expect.poll(() => requests.length).toBe(1)
    const other = berth.regions.list()
    expect(await Promise.race([call, other])).toEqual([])
    expect(requests).toHaveLength(2)
    void call.catch(() => {}) // ends with its server
  })

  test('by timeout names the request', async () => {
    const { berth } = await against([hang], { maxRetries: 0 })
    const call = berth.regions.list({ timeoutMs: 50 })
    await expect(call).rejects.toBeInstanceOf(TimeoutError)
    await expect(call).rejects.toThrow(/GET http.*\/regions took longer than 50 ms/)
  })

  test('by signal ends the current attempt without a retry', async () => {
    const { berth, requests } = await against([hang, data([])])
    const controller = new AbortController()
    const call = berth.regions.list({ signal: controller.signal })
    await expect.poll(() => requests.length).toBe(1)
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    expect(requests).toHaveLength(1)
  })

  test('by signal ends a pause', async () => {
    const { baseUrl } = await scripted(errorResponse(429, 'rate_limited', { 'retry-after': '1000' }))
    const berth = new Berth({ baseUrl, token: 'vmk_test' })
    await expect(berth.regions.list({ signal: AbortSignal.timeout(200) })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('before the call sends nothing', async () => {
    const { berth, requests } = await against([data([])])
    await expect(berth.regions.list({ signal: AbortSignal.abort(new Error('never mind')) })).rejects.toThrow('never mind')
    expect(requests).toEqual([])
  })
})

describe('the pause before the next attempt', () => {
  const limited = (retryAfterSeconds: number | null): ApiError =>
    new ApiError('', { status: 429, code: 'rate_limited', requestId: null, fields: [], retryAfterSeconds })
  const many = (error: unknown, attempt: number): number[] => Array.from({ length: 1_000 }, () => pauseMs(error, attempt))

  test('is at least Retry-After, and at least a second after 429', () => {
    expect(Math.min(...many(limited(12), 0))).toBeGreaterThanOrEqual(12_000)
    expect(Math.min(...many(limited(0), 0), ...many(limited(null), 0))).toBeGreaterThanOrEqual(1_000)
  })

  test.each([0, 1, 2, 3, 4, 5, 20])('has full jitter over a doubling backoff (attempt %i)', (attempt) => {
    const span = Math.min(1_000 * 2 ** attempt, 30_000)
    const pauses = many(new NetworkError('reset'), attempt)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(span)
    expect(Math.max(...pauses)).toBeGreaterThan(span * 0.9)
    expect(Math.min(...pauses)).toBeLessThan(span * 0.1)
  })

  test('accepts a date in Retry-After', async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString()
    const { berth, pauses } = await against([html(503, { 'retry-after': inAMinute }), data([])])
    await berth.regions.list()
    expect(pauses[0]).toBeGreaterThan(55_000)
    expect(pauses[0]).toBeLessThan(62_000)
  })
})
