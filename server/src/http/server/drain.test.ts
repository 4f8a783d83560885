import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, readAll, throwawayApi } from '../../../test/throwaway-api.ts'
import { openApi } from '../../compose.ts'
import { openEventFeed } from '../../features/events/feed.ts'
import { createRunWatcher } from '../../workflow/run-watcher.ts'
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

  test('serves as ever until load balancers know, asks to keep no connection, and then answers those who wait', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id, actionId } = await app.given.vm(customer, {}, { settled: false })
    const own = { config: { ...app.config, drainDelaySeconds: 600 }, feed: openEventFeed(app.db), watch: await createRunWatcher(app.db) }
    const api = await openApi({ ...app.core, deps: { ...app.deps, ...own } }, { isOnlyProcess: false })
    const ask = (url: string) => api.app.inject({ url: `${PREFIX}${url}`, headers: { 'x-api-key': customer.token } })
    expect((await ask('/wallet')).headers['connection']).not.toBe('close')
    const noLonger = new AbortController()
    const closed = api.close(noLonger.signal)
    expect((await api.app.inject('/readyz')).statusCode).toBe(503)
    const waiting = ask(`/vms/${id}/actions/${actionId}?wait=60`)
    const served = await ask('/wallet')
    expect([served.statusCode, served.headers['connection']]).toEqual([200, 'close'])
    noLonger.abort()
    expect((await waiting).json()).toMatchObject({ data: { id: actionId, status: 'PENDING' } })
    await closed
    await own.watch.close()
  })

  test('serves /readyz and /healthz without rate limit', async () => {
    const ready = await app.app.inject('/readyz')
    expect([ready.statusCode, ready.headers['x-ratelimit-remaining']]).toEqual([200, '100'])
    const alive = await app.app.inject('/healthz')
    expect([alive.statusCode, alive.body, alive.headers['x-ratelimit-remaining']]).toEqual([200, '{"status":"ok"}', '100'])
  })
})
