import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PLAIN } from '../server/skin.ts'
import { ERROR_CATALOG } from '../../kernel/errors.ts'
import { namesOf } from './contents.ts'
import { anchorOf } from './markdown.ts'
import { openReference } from './reference.ts'

const PAGES = [
  '/docs',
  '/docs/',
  '/docs/errors',
  '/docs/guides',
  '/docs/handbook',
  '/docs/search?q=snapshot',
  '/docs/reference/virtual-machines',
  '/docs/guide/tutorial',
]

describe('/docs', async () => {
  const { app, operations } = await testApp()
  const get = (url: string) => app.inject({ url })
  const read = new Map<string, Promise<string>>()
  /** Fetched once per URL, because of the rate limit per address. */
  const pageOf = (url: string): Promise<string> => {
    if (!read.has(url))
      read.set(
        url,
        get(url).then(({ body }) => body),
      )
    return read.get(url)!
  }

  test.each(PAGES)('%s loads nothing from other origins and has nothing inline', async (url) => {
    const { statusCode, headers, body } = await get(url)
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = String(headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).not.toMatch(/https?:|\*|unsafe/)
    expect(body).not.toMatch(/<style|<script>|\son\w+=|style="/)
    for (const [, address] of body.matchAll(/(?:src|<link[^>]* href)="([^"]*)"/g)) expect(address).toMatch(/^\/(docs\/|favicon\.svg$)/)
  })

  test('lists decisions by number', async () => {
    const numbers = [...(await pageOf('/docs/handbook')).matchAll(/<a href="\/docs\/decisions\/(\d+)-[^"]*">/g)].map(([, number]) =>
      Number(number),
    )
    const listed = numbers.slice(0, new Set(numbers).size) // the navigation repeats them
    expect(listed.length).toBeGreaterThan(9)
    expect(listed).toEqual(listed.toSorted((a, b) => a - b))
  })

  test('pages are rate limited per address, their files are not', async () => {
    const left = async (url: string): Promise<number> => Number((await get(url)).headers['x-ratelimit-remaining'])
    const before = await left('/docs')
    expect(await left('/docs/files/style.css')).toBe(before)
    expect(await left('/docs/errors')).toBe(before - 1)
    expect((await get('/docs/files/try.js')).headers['content-type']).toBe('text/javascript; charset=utf-8')
    for (const name of ['nothing.js', '..%2Fdocs.ts']) expect((await get(`/docs/files/${name}`)).statusCode).toBe(404)
    expect((await get('/docs/reference/nothing')).statusCode).toBe(404)
  })

  test.each(operations)('$operationId is documented with an example and a form', async ({ operationId, method, path, tag }) => {
    const section = (await pageOf(`/docs/reference/${anchorOf(tag)}`))
      .split(`<section class="operation" id="${operationId}">`)[1]!
      .split('</section>')[0]!
    expect(section).toContain(`curl -X ${method} `)
    expect(section).toMatch(/HTTP 20\d\n/)
    expect(section).toContain(`data-method="${method}" data-path="${path.replace(/:(\w+)/g, '{$1}')}"`)
    for (const [, name] of path.matchAll(/:(\w+)/g)) expect(section).toContain(`name="path:${name}" required`)
    expect(await pageOf('/docs')).toContain(`/docs/reference/${anchorOf(tag)}#${operationId}"`)
  })

  test('every error of the catalog is documented at the URL of its problem document', async () => {
    const { body } = await get('/docs/errors')
    for (const [code, { title }] of Object.entries(ERROR_CATALOG)) expect(body).toMatch(new RegExp(`<tr id="${code}">.*${title}`))
  })
})

describe('guides', async () => {
  const { app } = await testApp()
  const read = async (url: string): Promise<string> => (await app.inject({ url })).body
  const found = async (query: string): Promise<string[]> =>
    [...(await read(`/docs/search?q=${encodeURIComponent(query)}`)).matchAll(/<li><a href="([^"]+)">/g)]
      .map(([, address]) => address!)
      .filter((address) => !/^\/docs(\/(guides|handbook|errors))?$/.test(address))

  test('are found by their words, the best first', async () => {
    expect((await found('snapshot'))[0]).toBe('/docs/guide/backups')
    expect((await found('placement groups'))[0]).toBe('/docs/guide/placement-groups')
    expect(await found('host maintenance drain')).toContainEqual(expect.stringMatching(/^\/docs\/operate\//))
    expect((await found('insufficient_funds'))[0]).toBe('/docs/errors/insufficient_funds')
    expect(await found('xyzzy')).toEqual([])
    expect(await found('')).toEqual([])
  })

  test('a search is shown as text', async () => {
    const body = await read(`/docs/search?q=${encodeURIComponent('"><img src=x onerror=alert(1)>')}`)
    expect(body).not.toContain('<img')
    expect(body).toContain('value="&quot;&gt;&lt;img')
    expect((await app.inject({ url: '/docs/search?q=a&q=b' })).statusCode).toBe(200)
  })

  test('lead from one to the next, of customers and of operators apart', async () => {
    const seen: string[] = []
    for (let path: string | undefined = '/docs/guide/tutorial'; path && seen.length < 100;) {
      seen.push(path)
      path = /rel="next" href="([^"]+)"/.exec(await read(path))?.[1]
    }
    expect(seen.every((path) => path.startsWith('/docs/guide/'))).toBe(true)
    expect(new Set(seen).size).toBe(namesOf('guide').length)
    const page = await read('/docs/guide/volumes')
    expect(page).toMatch(/rel="prev" href="\/docs\/guide\//)
    expect(page).not.toContain('/docs/operate/install"')
    expect(await read('/docs/operate/install')).not.toContain('/docs/guide/volumes"')
  })

  test('have a table of contents', async () => {
    const page = await read('/docs/guide/firewalls')
    const anchors = [
      ...page
        .split('aria-label="On this page"')[1]!
        .split('</nav>')[0]!
        .matchAll(/href="#([^"]+)"/g),
    ].map(([, id]) => id!)
    expect(anchors.length).toBeGreaterThan(1)
    for (const anchor of anchors) expect(page).toContain(`<h2 id="${anchor}"`)
  })
})

test('a hostile document is escaped', () => {
  const hostile = '"><img src=x onerror=alert(1)>'
  const schema = { type: 'object', properties: { [hostile]: { type: 'string', description: hostile, enum: [hostile] } } }
  const operation = {
    operationId: 'tryIt',
    summary: hostile,
    description: hostile,
    tags: ['Tag'],
    parameters: [{ name: hostile, in: 'query', description: hostile, schema: { enum: [hostile] } }],
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 200: { content: { 'application/json': { schema } } } },
  }
  const hostileDocument = {
    info: { description: hostile },
    paths: { [`/${hostile}`]: { post: operation } },
    components: { schemas: {}, parameters: {} },
  }
  const reference = openReference('/api', hostileDocument)
  for (const document of [reference.index(), reference.group('tag')!]) {
    const html = document(PLAIN)
    expect(html).toContain('&quot;&gt;&lt;img src=x')
    expect(html).not.toContain('<img')
  }
})
