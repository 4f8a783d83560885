import { describe, expect, test } from 'vitest'
import { ApiError, Berth, BerthError, NetworkError, TimeoutError, type ClientOptions, type Sleep } from '../src/index.ts'
import { pauseMs } from '../src/pipeline/retry.ts'
import { data, halfAnswer, hang, html, json, reset, scripted, type Behaviour } from './scripted.ts'

/** A client of a server that behaves like this, request by request; its pauses are written down and not waited for. */
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

const refusal = (status: number, code: string, headers: Record<string, string> = {}): Behaviour =>
  json(status, { success: false, error: `Refused: ${code}` }, { 'x-error-code': code, ...headers })

const keysOf = (requests: { headers: Record<string, unknown> }[]): unknown[] => requests.map(({ headers }) => headers['idempotency-key'])

describe('a request that can be repeated', () => {
  test.each<[string, Behaviour]>([
    ['a connection that is reset', reset],
    ['an answer that is cut off', halfAnswer],
    ['a 502 of a proxy', html(502)],
    ['a 503 of the server', refusal(503, 'service_unavailable')],
    ['a 504 of a proxy', html(504)],
    ['a 429', refusal(429, 'rate_limited', { 'retry-after': '3' })],
    ['an earlier attempt that is still under way', refusal(409, 'idempotency_in_progress')],
  ])('is sent again after %s, under the same key', async (_, trouble) => {
    const { berth, requests, pauses, causes } = await against([trouble, trouble, data({ id: 'c1' })])
    expect(await berth.sshKeys.create({ name: 'key', publicKey: 'ssh-ed25519 …' })).toEqual({ id: 'c1' })
    expect(pauses).toHaveLength(2)
    expect(causes).toEqual([expect.any(BerthError), expect.any(BerthError)])
    expect(new Set(keysOf(requests))).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]))
  })

  test('is sent again when it takes too long', async () => {
    const { berth, requests } = await against([hang, data([])], { timeoutMs: 100 })
    expect(await berth.regions.list()).toEqual([])
    expect(requests).toHaveLength(2)
  })

  test('is given up after the retries it has, with what went wrong last', async () => {
    const { berth, requests } = await against([html(502), html(502), refusal(503, 'service_unavailable')], { maxRetries: 2 })
    await expect(berth.regions.list()).rejects.toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(requests).toHaveLength(3)
  })

  test('has a key of its own, or the one it is given', async () => {
    const { berth, requests } = await against([data({}), data({}), data({})])
    await berth.networks.delete('c12345678')
    await berth.networks.delete('c12345678')
    await berth.networks.delete('c12345678', { idempotencyKey: 'mine' })
    const [first, second, third] = keysOf(requests)
    expect(first).not.toBe(second)
    expect(third).toBe('mine')
  })
})

describe('a request that must not be repeated', () => {
  test.each<[string, Behaviour]>([
    ['a validation error', refusal(400, 'validation_failed')],
    ['a conflict', refusal(409, 'busy')],
    ['an internal error', refusal(500, 'internal_error')],
    ['a full fleet', refusal(503, 'no_capacity')],
  ])('ends with %s', async (_, trouble) => {
    const { berth, requests } = await against([trouble, data({})])
    await expect(berth.vms.restart('c12345678')).rejects.toBeInstanceOf(ApiError)
    expect(requests).toHaveLength(1)
  })

  test.each<[string, Behaviour, new (...args: never[]) => Error]>([
    ['a cut', halfAnswer, NetworkError],
    ['a proxy that has no answer', html(502), ApiError],
  ])('is a write without a key after %s', async (_, trouble, kind) => {
    const { berth, requests } = await against([trouble, data({})])
    await expect(berth.vms.restart('c12345678', {}, { idempotencyKey: null })).rejects.toBeInstanceOf(kind)
    expect(requests).toHaveLength(1)
    expect(keysOf(requests)).toEqual([undefined])
  })

  test('is not a write without a key that was over a limit: it was not looked at', async () => {
    const { berth, requests } = await against([refusal(429, 'rate_limited', { 'retry-after': '1' }), data({ actionId: 'c1' })])
    expect(await berth.vms.restart('c12345678', {}, { idempotencyKey: null })).toEqual({ actionId: 'c1', vmId: 'c12345678' })
    expect(requests).toHaveLength(2)
  })
})

describe('giving up', () => {
  test('can be left out', async () => {
    const { berth, requests } = await against([hang, data([])])
    const call = berth.regions.list({ timeoutMs: Infinity, maxRetries: 0 })
    await expect.poll(() => requests.length).toBe(1)
    const other = berth.regions.list()
    expect(await Promise.race([call, other])).toEqual([])
    expect(requests).toHaveLength(2)
    void call.catch(() => {}) // ends with its server
  })

  test('by time-out says what took too long', async () => {
    const { berth } = await against([hang], { maxRetries: 0 })
    const refused = berth.regions.list({ timeoutMs: 50 })
    await expect(refused).rejects.toBeInstanceOf(TimeoutError)
    await expect(refused).rejects.toThrow(/GET http.*\/regions took longer than 50 ms/)
  })

  test('by signal ends the attempt under way, and there is no other', async () => {
    const { berth, requests } = await against([hang, data([])])
    const controller = new AbortController()
    const call = berth.regions.list({ signal: controller.signal })
    await expect.poll(() => requests.length).toBe(1)
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    expect(requests).toHaveLength(1)
  })

  test('by signal ends a pause', async () => {
    const { baseUrl } = await scripted(refusal(429, 'rate_limited', { 'retry-after': '1000' }))
    const berth = new Berth({ baseUrl, token: 'vmk_test' })
    await expect(berth.regions.list({ signal: AbortSignal.timeout(200) })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('before it began sends nothing', async () => {
    const { berth, requests } = await against([data([])])
    await expect(berth.regions.list({ signal: AbortSignal.abort(new Error('never mind')) })).rejects.toThrow('never mind')
    expect(requests).toEqual([])
  })
})

describe('the pause before the next attempt', () => {
  const limited = (retryAfterSeconds: number | null): ApiError =>
    new ApiError('', { status: 429, code: 'rate_limited', requestId: null, fields: [], retryAfterSeconds })
  const many = (error: unknown, attempt: number): number[] => Array.from({ length: 1_000 }, () => pauseMs(error, attempt))

  test('is at least what the server says, at least a second when it is over a limit', () => {
    expect(Math.min(...many(limited(12), 0))).toBeGreaterThanOrEqual(12_000)
    expect(Math.min(...many(limited(0), 0), ...many(limited(null), 0))).toBeGreaterThanOrEqual(1_000)
  })

  test.each([0, 1, 2, 3, 4, 5, 20])('doubles its span and uses all of it (attempt %i)', (attempt) => {
    const span = Math.min(1_000 * 2 ** attempt, 30_000)
    const pauses = many(new NetworkError('cut'), attempt)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(span)
    expect(Math.max(...pauses)).toBeGreaterThan(span * 0.9)
    expect(Math.min(...pauses)).toBeLessThan(span * 0.1)
  })

  test('understands a date in Retry-After', async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString()
    const { berth, pauses } = await against([html(503, { 'retry-after': inAMinute }), data([])])
    await berth.regions.list()
    expect(pauses[0]).toBeGreaterThan(55_000)
    expect(pauses[0]).toBeLessThan(62_000)
  })
})
