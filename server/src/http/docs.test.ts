import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/harness.ts'
import { CATALOGUE } from '../kernel/errors.ts'

describe('/docs', async () => {
  const { app } = await testApp()
  const get = (url: string, headers = {}) => app.inject({ url, headers })

  test.each(['/docs', '/docs/', '/docs/errors'])('%s may load nothing from anywhere else', async (url) => {
    const { statusCode, headers, body } = await get(url)
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = String(headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/)
    for (const [, address] of body.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^\/docs(\/|$)/)
  })

  test('pages are charged to the address, their files are not', async () => {
    const left = async (url: string): Promise<number> => Number((await get(url)).headers['x-ratelimit-remaining'])
    const before = await left('/docs')
    expect([await left('/docs/start.js'), await left('/docs/viewer.js'), await left('/docs/errors')]).toEqual([before, before, before - 1])
  })

  test('the viewer comes from this server, knows where the document is, and calls nobody else', async () => {
    const start = (await get('/docs/start.js')).body
    expect(start).toContain('"url":"/api/public/v1/openapi.json"')
    for (const off of ['"withDefaultFonts":false', '"telemetry":false', '"agent":{"disabled":true}']) expect(start).toContain(off)
    const [plain, packed] = [await get('/docs/viewer.js'), await get('/docs/viewer.js', { 'accept-encoding': 'gzip, br' })]
    expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, 'gzip'])
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
    expect(plain.body).toContain('createApiReference')
  })

  test('every error of the catalogue is explained, where a problem document points to', async () => {
    const { body } = await get('/docs/errors')
    for (const [code, { title }] of Object.entries(CATALOGUE)) expect(body).toMatch(new RegExp(`<tr id="${code}">.*${title}`))
  })
})
