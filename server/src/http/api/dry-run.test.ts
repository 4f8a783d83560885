import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { DryRunResult } from './api.ts'
import { Type } from './schema.ts'

const about = { summary: 'A test', tag: 'Test', scope: null, data: Type.Unknown() }

describe('a dry run', async () => {
  const app = await testApp()
  const { token } = await app.given.customer()
  let done = 0
  const api = await throwawayApi(app, (routes) => {
    const params = { id: Type.String() }
    for (const write of ['post', 'put', 'patch', 'delete'] as const)
      routes[write]('/things/:id', { ...about, operationId: `${write}Thing`, params }, async () => ++done)
    routes.post('/prepared', { ...about, operationId: 'prepared', prepare: async () => ++done }, async () => 'done')
    const query = { dryRun: Type.Optional(Type.Boolean()) }
    routes.post('/priced', { ...about, operationId: 'priced', query }, async (_, context) => {
      if (context.query.dryRun) return new DryRunResult('previewed')
      return ++done
    })
    routes.get('/things', { ...about, operationId: 'listThings' }, async () => 'read')
  })
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const { status, text } = await api.send(method, `${PREFIX}${path}`, { token, headers })
    return { status, ...(JSON.parse(text) as { error?: string; data?: unknown }) }
  }

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('of a %s that does not support it is rejected without effect', async (method) => {
    for (const query of [
      'dryRun=true',
      'dryRun=false',
      'dryRun',
      'dryRun=1',
      'dryRun[]=true',
      'dry_run=yes',
      'a=b&dry-run',
      'DRYRUN=true',
    ]) {
      const { status, error } = await ask(method, `/things/x?${query}`)
      expect([status, error]).toEqual([400, `Validation failed: ${method} /things/{id} has no dry run; nothing was done`])
    }
    expect(done).toBe(0)
  })

  test('is rejected before `prepare` runs, and names its field', async () => {
    const { status, headers, text } = await api.send('POST', `${PREFIX}/prepared?dryRun=true`, {
      token,
      headers: { accept: 'application/problem+json', 'idempotency-key': 'k1' },
    })
    expect([status, headers['x-error-code'], done]).toEqual([400, 'validation_failed', 0])
    expect(JSON.parse(text)).toMatchObject({ errors: [{ field: 'dryRun' }] })
  })

  test('never runs for real because of its spelling', async () => {
    expect(await ask('POST', '/priced?dryRun=true')).toMatchObject({ status: 200, data: 'previewed' })
    for (const query of ['dryrun=true', 'dry_run=true', 'dry-run=1', 'dryRun[]=true', 'dryRun=false&dryrun=true'])
      expect(await ask('POST', `/priced?${query}`)).toMatchObject({
        status: 400,
        error: 'Validation failed: a dry run is asked for with dryRun=true; nothing was done',
      })
    for (const query of ['dryRun', 'dryRun=', 'dryRun=1', 'dryRun=True', 'dryRun=true&dryRun=true'])
      expect(await ask('POST', `/priced?${query}`)).toMatchObject({ status: 400, error: 'Validation failed: dryRun must be true or false' })
    expect(done).toBe(0)
  })

  test('is ignored for reads, as are other unknown parameters', async () => {
    expect(await ask('GET', '/things?dryRun=true')).toMatchObject({ status: 200, data: 'read' })
    expect(await ask('POST', '/priced?dryRun=false')).toMatchObject({ status: 200, data: 1 })
    expect(await ask('POST', '/things/x?dryer=true&run=1')).toMatchObject({ status: 200, data: 2 })
  })

  test('of an unknown path is 404, and without a token 401', async () => {
    expect((await ask('POST', '/nothing?dryRun=true')).status).toBe(404)
    expect((await ask('POST', '/things/x?dryRun=true', { 'x-api-key': '' })).status).toBe(401)
  })
})
