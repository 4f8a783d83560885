import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { openApiDocument } from '../docs/openapi.ts'
import { Type } from './schema.ts'

const app = await testApp()
const about = { summary: 'A test', tag: 'Test', data: Type.Unknown() }
const deprecated = { since: '2026-11-01', sunset: '2027-05-01T12:00:00Z', link: 'https://cloud.example.com/docs/changes' }
const api = await throwawayApi(app, (routes) => {
  routes.get('/old', { ...about, operationId: 'old', scope: 'vms:read', deprecated }, async () => 'ok')
  routes.post('/older', { ...about, operationId: 'older', scope: null, deprecated: { since: '2026-01-01' } }, async () => 'ok')
  routes.get('/new', { ...about, operationId: 'new', scope: null }, async () => 'ok')
})
const { token } = await app.given.customer()

test('a deprecated operation says so with every response, refusals too', async () => {
  for (const given of [{ token }, {}]) {
    const { headers } = await api.send('GET', `${PREFIX}/old`, given)
    expect(headers).toMatchObject({
      deprecation: '@1793491200',
      sunset: 'Sat, 01 May 2027 12:00:00 GMT',
      link: '<https://cloud.example.com/docs/changes>; rel="deprecation"',
    })
  }
  const { status, headers } = await api.send('POST', `${PREFIX}/older`, { token })
  expect([status, headers['deprecation'], headers['sunset'], headers['link']]).toEqual([200, '@1767225600', undefined, undefined])
  expect((await api.send('GET', `${PREFIX}/new`, { token })).headers).not.toHaveProperty('deprecation')
})

test('the OpenAPI document marks it', () => {
  const { paths } = openApiDocument(PREFIX, api.operations) as { paths: Record<string, Record<string, object>> }
  expect(paths['/old']!['get']).toMatchObject({ deprecated: true, 'x-deprecated-since': '2026-11-01', 'x-sunset': '2027-05-01T12:00:00Z' })
  expect(paths['/new']!['get']).not.toHaveProperty('deprecated')
})
