import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { Id, nullable, object, oneOf, pageOf, text, Timestamp, Type } from '../api/schema.ts'

const about = { summary: 'A test', tag: 'Test', scope: null }

const Thing = object({
  name: text(1, 100),
  hostname: Type.Optional(Type.String({ pattern: '^[a-z]+$', rule: 'must be lower-case letters' })),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  flag: Type.Optional(Type.Boolean({ default: true })),
  color: Type.Optional(oneOf(['RED', 'BLUE'])),
  ids: Type.Optional(Type.Array(Id, { maxItems: 2, minItems: 1 })),
  limits: Type.Optional(nullable(object({ amount: Type.Optional(text(1, 3)) }))),
  inner: Type.Optional(object({ note: nullable(text(0, 10)), at: Type.Optional(Timestamp) })),
})

describe('request validation', async () => {
  const app = await testApp()
  const { token } = await app.given.customer()
  const api = await throwawayApi(app, (routes) => {
    routes.post('/things', { ...about, operationId: 'createThing', body: Thing, data: Type.Unknown() }, async (_, { body }) => body)
    routes.post('/nudges', { ...about, operationId: 'nudge', data: Type.Unknown() }, async (_, { body }) => body)
    routes.post(
      '/restarts',
      {
        ...about,
        operationId: 'restart',
        body: object({ force: Type.Optional(Type.Boolean()) }),
        optionalBody: true,
        data: Type.Unknown(),
      },
      async (_, { body }) => body,
    )
    const query = { status: Type.Optional(oneOf(['UP', 'DOWN'])), all: Type.Optional(Type.Boolean()), q: Type.Optional(Type.String()) }
    routes.page('/things', { ...about, operationId: 'listThings', query, data: Type.Unknown() }, async ({ query }, page) =>
      pageOf(
        page,
        async () => 3,
        async ({ limit, offset }) => [1, 2, 3].slice(offset, offset + limit).map((thing) => ({ thing, query })),
      ),
    )
    routes.get('/plain', { ...about, operationId: 'getPlain', data: Type.Unknown() }, async () => 'ok')
  })

  const post = async (path: string, payload: string | undefined, contentType: string | null = 'application/json') => {
    const headers = contentType === null ? {} : { 'content-type': contentType }
    const {
      status,
      headers: answered,
      text,
    } = await api.send('POST', `${PREFIX}${path}`, { token, headers, ...(payload !== undefined && { payload }) })
    return { status, code: answered['x-error-code'], body: JSON.parse(text) as { error: string; data: unknown } }
  }
  const refusedBody = async (payload: string) => (await post('/things', payload)).body.error
  const list = async (query: string) => {
    const { status, text } = await api.send('GET', `${PREFIX}/things${query}`, { token })
    return { status, ...(JSON.parse(text) as { error: string; data: unknown[]; pagination: object }) }
  }

  describe('of a body', () => {
    test('passes the body unchanged, with defaults', async () => {
      const sent = { name: 'a', count: 3, color: 'RED', ids: ['c12345678'], inner: { note: null, at: '2026-01-02T03:04:05Z' } }
      expect(await post('/things', JSON.stringify(sent))).toMatchObject({ status: 200, body: { data: { ...sent, flag: true } } })
    })

    test.each([
      ['nmae is not a known field', '{"name":"a","nmae":"b"}'],
      ['inner.extra is not a known field', '{"name":"a","inner":{"note":"x","extra":1}}'],
      ['name is required', '{}'],
      ['name must be a string', '{"name":5}'],
      ['name must be a string', '{"name":null}'],
      ['name must be 1-100 characters', '{"name":""}'],
      ['name must be 1-100 characters', `{"name":"${'x'.repeat(101)}"}`],
      ['count must be a whole number', '{"name":"a","count":"3"}'],
      ['count must be a whole number', '{"name":"a","count":1.5}'],
      ['count must be at most 10', '{"name":"a","count":1e400}'],
      ['count must be at most 10', '{"name":"a","count":11}'],
      ['count must be at least 1', '{"name":"a","count":0}'],
      ['flag must be true or false', '{"name":"a","flag":"true"}'],
      ['flag must be true or false', '{"name":"a","flag":1}'],
      ['color must be one of RED, BLUE', '{"name":"a","color":"red"}'],
      ['hostname must be lower-case letters', '{"name":"a","hostname":"A"}'],
      ['ids must be a list', '{"name":"a","ids":"c12345678"}'],
      ['ids must hold at least 1 item', '{"name":"a","ids":[]}'],
      ['ids must hold at most 2 items', '{"name":"a","ids":["c12345678","c12345678","c12345678"]}'],
      ['ids.0 must be an id: c and at least 8 more characters', '{"name":"a","ids":["c123-5678"]}'],
      ['inner.note must be a string or null', '{"name":"a","inner":{"note":5}}'],
      ['limits.amount must be 1-3 characters', '{"name":"a","limits":{"amount":"12.50"}}'],
      ['limits.most is not a known field', '{"name":"a","limits":{"most":1}}'],
      ['inner.at must be a valid date-time', '{"name":"a","inner":{"note":null,"at":"yesterday"}}'],
      ['name must not hold NUL or broken Unicode characters', '{"name":"a\\u0000b"}'],
      ['name must not hold NUL or broken Unicode characters', '{"name":"\\ud800"}'],
      ['inner.note must not hold NUL or broken Unicode characters', '{"name":"a","inner":{"note":"\\udc00x"}}'],
      ['body must be an object', '[]'],
      ['body must be an object', '"text"'],
      ['body is required: send a JSON object', 'null'],
      ['body is required: send a JSON object', ''],
      ['constructor is not a known field', '{"name":"a","constructor":1}'],
      ['toString is not a known field', '{"name":"a","toString":1}'],
      ['body must be an object', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
      ['name must be a string', `{"name":${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}}`],
    ])('rejects: %s', async (reason, payload) => {
      expect(await post('/things', payload)).toMatchObject({ status: 400, code: 'validation_failed' })
      expect(await refusedBody(payload)).toBe(`Validation failed: ${reason}`)
    })

    test('names every invalid field', async () => {
      expect(await refusedBody('{"count":0,"color":"x"}')).toBe(
        'Validation failed: name is required; count must be at least 1; color must be one of RED, BLUE',
      )
    })

    test('keeps the message short for a thousand errors or an endless name', async () => {
      const names = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`x${i}`, i]))
      expect((await refusedBody(JSON.stringify(names))).length).toBeLessThan(300)
      expect((await refusedBody(JSON.stringify({ name: 'a', ids: Array(100_000).fill(1) }))).length).toBeLessThan(300)
      expect((await refusedBody(JSON.stringify({ name: 'a', ['y'.repeat(200_000)]: 1 }))).length).toBeLessThan(300)
    })

    test.each([
      '{',
      '{"name":"a",}',
      "{'name':'a'}",
      'NaN',
      '{"__proto__":{"admin":true},"name":"a"}',
      '{"name":"a","inner":{"__proto__":{}}}',
      '{"constructor":{"prototype":{}},"name":"a"}',
    ])('rejects invalid JSON: %s', async (payload) => {
      expect(await post('/things', payload)).toMatchObject({
        status: 400,
        code: 'invalid_json',
        body: { error: 'The body is not valid JSON' },
      })
    })

    test('rejects invalid UTF-8', async () => {
      const payload = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
      const answer = await api.send('POST', `${PREFIX}/things`, { token, payload, headers: { 'content-type': 'application/json' } })
      expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'invalid_json'])
    })

    test.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'text/json',
      ';',
      null,
    ])('returns 415 for content type %s', async (type) => {
      expect(await post('/things', '{"name":"a"}', type)).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    })

    test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])(
      'accepts content type %s',
      async (type) => {
        expect((await post('/things', '{"name":"a"}', type)).status).toBe(200)
      },
    )

    test.each([undefined, '', '{}', 'null'])('accepts %j where no body is expected', async (payload) => {
      for (const path of ['/nudges', '/restarts']) expect(await post(path, payload)).toMatchObject({ status: 200, body: { data: {} } })
    })

    test('needs no content type without a body', async () => {
      expect((await post('/nudges', undefined, null)).status).toBe(200)
    })

    test('rejects fields where no body is expected', async () => {
      expect((await post('/nudges', '{"a":1}')).body.error).toBe('Validation failed: a is not a known field')
      expect((await post('/restarts', '{"froce":true}')).body.error).toBe('Validation failed: froce is not a known field')
      expect((await post('/restarts', '{"force":true}')).body.data).toEqual({ force: true })
    })
  })

  describe('of a query', () => {
    test('parses integers and booleans', async () => {
      const query = { page: 2, limit: 2, all: true, q: '5' }
      expect((await list('?page=2&limit=2&all=true&q=5')).data).toEqual([{ thing: 3, query }])
    })

    test('applies defaults and ignores unknown names', async () => {
      const { data, pagination } = await list('?nothing=%00&__proto__=1&page[]=4&sort=x')
      expect(data).toMatchObject([{ thing: 1 }, { thing: 2 }, { thing: 3 }])
      expect(pagination).toEqual({ page: 1, limit: 20, total: 3, totalPages: 1 })
    })

    test.each([
      [1, [1], 3],
      [2, [1, 2], 2],
      [3, [1, 2, 3], 1],
    ])('counts a list of three for pages of %i', async (limit, things, totalPages) => {
      const { data, pagination } = await list(`?limit=${limit}`)
      expect(data).toMatchObject(things.map((thing) => ({ thing })))
      expect(pagination).toEqual({ page: 1, limit, total: 3, totalPages })
    })

    test.each([
      ['limit=101', 'limit must be at most 100'],
      ['limit=0', 'limit must be at least 1'],
      ['page=0', 'page must be at least 1'],
      ['page=-1', 'page must be at least 1'],
      ['page=', 'page must be a whole number'],
      ['page=1.5', 'page must be a whole number'],
      ['page=1e3', 'page must be a whole number'],
      ['page=0x10', 'page must be a whole number'],
      ['page=%201', 'page must be a whole number'],
      ['page=one', 'page must be a whole number'],
      ['page=1&page=2', 'page must be a whole number'],
      ['all=1', 'all must be true or false'],
      ['all=TRUE', 'all must be true or false'],
      ['status=up', 'status must be one of UP, DOWN'],
      ['q=a&q=b', 'q must be a string'],
      ['q=%00', 'q must not hold NUL or broken Unicode characters'],
    ])('rejects %s: %s', async (query, reason) => {
      expect(await list(`?${query}`)).toMatchObject({ status: 400, error: `Validation failed: ${reason}` })
    })

    test.each(['2', '9007199254740993', '99999999999999999999999', '9'.repeat(400)])(
      'returns an empty page past the end: %.30s',
      async (page) => {
        const { status, data, pagination } = await list(`?page=${page}`)
        expect([status, data]).toEqual([200, []])
        expect(pagination).toMatchObject({ limit: 20, total: 3, totalPages: 1 })
      },
    )

    test('ignores a query where none is declared', async () => {
      expect((await api.send('GET', `${PREFIX}/plain?page=x&limit=1000&a=%00`, { token })).status).toBe(200)
    })
  })
})
