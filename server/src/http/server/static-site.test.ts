import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { scratchFolder } from '../../../test/scratch-folder.ts'
import { sql } from '../../kernel/database/db.ts'
import { keepAssets, keptAssets } from './kept-assets.ts'

const folder = await scratchFolder()
afterAll(() => folder.remove())
const dist = join(folder.path, 'dist')
const app = await testApp({ environment: { BERTH_WEB_DIR: `${dist}/`, BERTH_PUBLIC_URL: 'https://cloud.example.com' } })
const HTML = { accept: 'text/html,application/xhtml+xml,*/*' }

function build(index = '<!doctype html><title>Berth</title>'): void {
  mkdirSync(join(dist, 'assets'), { recursive: true })
  writeFileSync(join(dist, 'index.html'), index)
  writeFileSync(join(dist, 'assets/app-abc123.js'), 'export const words = "words ".repeat(3)')
  writeFileSync(join(dist, 'favicon.svg'), '<svg/>')
  writeFileSync(join(folder.path, 'secret.txt'), 'not yours')
}
const get = (url: string, headers: Record<string, string> = {}) => app.app.inject({ url, headers })

describe('the dashboard', () => {
  test('returns 503 until it is built', async () => {
    rmSync(dist, { recursive: true, force: true })
    const missing = await get('/', HTML)
    expect(missing.statusCode).toBe(503)
    expect(missing.body).toContain('Its dashboard is not built yet')
    build()
    expect((await get('/', HTML)).body).toBe('<!doctype html><title>Berth</title>')
    build('<!doctype html><title>Berth</title>Newer and longer')
    expect((await get('/')).body).toContain('Newer')
  })

  test.each(['/', '/welcome', '/vms/c123?tab=console', '/operator/hosts', '/webhooks', '/invoices'])(
    'serves its page at %s',
    async (path) => {
      build()
      const { statusCode, headers, body } = await get(path, HTML)
      expect([statusCode, body]).toEqual([200, '<!doctype html><title>Berth</title>'])
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    },
  )

  test('has a content security policy and forbids framing', async () => {
    build()
    const { headers } = await get('/', HTML)
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' wss://cloud.example.com; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    })
  })

  test('serves assets immutable, compressed and without rate limit', async () => {
    build()
    const plain = await get('/assets/app-abc123.js')
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-ratelimit-remaining': '100',
    })
    const zipped = await get('/assets/app-abc123.js', { 'accept-encoding': 'br, gzip' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body)
    const etag = plain.headers['etag']!.toString()
    for (const known of [etag, `W/${etag}`, `"old", W/${etag}`, '*']) {
      const again = await get('/assets/app-abc123.js', { 'if-none-match': known })
      expect([known, again.statusCode, again.body]).toEqual([known, 304, ''])
    }
    expect((await get('/assets/app-abc123.js', { 'if-none-match': '"old", W/"older"' })).statusCode).toBe(200)
    expect((await get('/favicon.svg')).headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' })
    expect((await app.app.inject({ method: 'HEAD', url: '/favicon.svg' })).statusCode).toBe(200)
  })

  test.each([
    ['/api/nothing', HTML],
    ['/docs/nothing', HTML],
    ['/metrics', HTML],
    ['/nothing', {}],
    ['/assets/missing.js', {}],
  ])('does not serve %s', async (path, headers) => {
    build()
    const { statusCode, body } = await get(path, headers as Record<string, string>)
    expect([statusCode, JSON.parse(body)]).toEqual([404, { success: false, error: `There is nothing at GET ${path}: see /docs` }])
  })

  test('serves files of other versions for 30 days after the last process that had them', async () => {
    build()
    writeFileSync(join(dist, 'assets/old-1.js'), 'old')
    await keepAssets(app.deps, dist)
    rmSync(join(dist, 'assets/old-1.js'))
    const { statusCode, headers, body } = await get('/assets/old-1.js')
    expect([statusCode, body]).toEqual([200, 'old'])
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect((await get('/assets/old-1.js', { 'if-none-match': headers['etag']!.toString() })).statusCode).toBe(304)
    for (const path of ['/old-1.js', '/assets/old-1', '/assets/app-abc123.js/', '/assets/'])
      expect([path, (await get(path)).statusCode]).toEqual([path, 404])

    const kept = keptAssets(app.db)
    expect((await kept('/assets/old-1.js'))?.toString()).toBe('old')
    await keepAssets(app.deps, dist) // of the next version
    app.clock.advance('29d')
    await keepAssets(app.deps, dist)
    const paths = async () =>
      (await app.db.many<{ path: string }>(sql`select path from dashboard_assets order by path`)).map(({ path }) => path)
    expect(await paths()).toEqual(['/assets/app-abc123.js', '/assets/old-1.js'])
    app.clock.advance('2d')
    await keepAssets(app.deps, dist)
    expect(await paths()).toEqual(['/assets/app-abc123.js'])
  })

  test('asks the database no more often for names that are made up', async () => {
    let asked = 0
    const kept = keptAssets({ many: () => Promise.resolve(++asked && []) } as unknown as typeof app.db)
    expect(await Promise.all(Array.from({ length: 100 }, (_, i) => kept(`/assets/${i}.js`)))).toEqual(Array(100).fill(null))
    expect(asked).toBe(1)
  })

  test.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/..%5csecret.txt',
    '/%00',
    '/%zz',
  ])('serves nothing outside of its folder: %s', async (path) => {
    build()
    const { statusCode, body } = await get(path)
    expect([statusCode, body.includes('not yours')]).toEqual([404, false])
  })

  test('serves reads only', async () => {
    build()
    expect((await app.app.inject({ method: 'POST', url: '/', headers: HTML })).statusCode).toBe(404)
  })
})
