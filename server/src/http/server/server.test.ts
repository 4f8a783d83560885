import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'

describe('the HTTP server', async () => {
  const app = await testApp()

  test('returns 401 for an unknown path without a token', async () => {
    const { status, headers, body } = await app.request('GET', '/nothing-here')
    expect(status).toBe(401)
    expect(body).toEqual({ success: false, error: 'Missing API token' })
    expect(headers['x-error-code']).toBe('unauthorized')
    expect(headers['x-request-id']).toMatch(/^c/)
    expect(headers['x-ratelimit-limit']).toBe('100')
  })

  test('returns 404 for an unknown path with a token', async () => {
    const customer = await app.given.customer({ requestsPerMinute: 600 })
    const { status, headers, body } = await customer.get('/nothing-here')
    expect(status).toBe(404)
    expect(body.error).toBe('There is nothing at GET /api/public/v1/nothing-here: see /docs')
    expect(headers['x-ratelimit-remaining']).toBe('599')
  })

  test('is ready', async () => {
    const response = await app.app.inject('/readyz')
    expect(response.json()).toMatchObject({ status: 'ready', checks: { database: 'ok', migrations: 'ok', process: 'ok' } })
  })
})
