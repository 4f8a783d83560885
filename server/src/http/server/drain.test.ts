import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, readAll, throwawayApi } from '../../../test/throwaway-api.ts'
import { Type } from '../api/schema.ts'

describe('a stopping server', async () => {
  const app = await testApp()
  const { token } = await app.given.customer()

  test('finishes open requests, keeps no connection alive and accepts no new one', async () => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const api = await throwawayApi(app, (routes) => {
      routes.get('/slow', { operationId: 'slow', summary: '', tag: '', scope: null, data: Type.String() }, async () => {
        reached.resolve()
        await released.promise
        return 'done'
      })
    })
    const [busy, idle] = [await api.dial(), await api.dial()]
    const [busyEnd, idleEnd] = [readAll(busy), readAll(idle)]
    busy.write(`GET ${PREFIX}/slow HTTP/1.1\r\nhost: x\r\nx-api-key: ${token}\r\n\r\n`)
    await reached.promise
    const closed = api.server.close()
    await expect(idleEnd).resolves.toBe('')
    await expect(fetch(`http://127.0.0.1:${await api.listen()}/`)).rejects.toThrow('fetch failed')
    released.resolve()
    const answer = await busyEnd
    expect(answer).toContain('200 OK')
    expect(answer).toContain('{"success":true,"data":"done"}')
    await closed
  })

  test('serves /readyz and /healthz without rate limit', async () => {
    const ready = await app.app.inject('/readyz')
    expect([ready.statusCode, ready.headers['x-ratelimit-remaining']]).toEqual([200, '100'])
    const alive = await app.app.inject('/healthz')
    expect([alive.statusCode, alive.body, alive.headers['x-ratelimit-remaining']]).toEqual([200, '{"status":"ok"}', '100'])
  })
})
