import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createMetrics, serveMetrics } from './metrics.ts'

test('a connection on which nothing was asked does not keep the process from stopping', { timeout: 10_000 }, async () => {
  const server = await serveMetrics(createMetrics(), '127.0.0.1', 0)
  const silent = connect(server.port, '127.0.0.1')
  await once(silent, 'connect')
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`)
  expect(await answer.text()).toContain('berth_http_request_seconds')
  const ended = once(silent, 'close')
  await server.close()
  await ended
})

test('mails that are given up are counted from none on, so that the first one is noticed', async () => {
  expect(await createMetrics().registry.metrics()).toContain('berth_mails_total{outcome="FAILED"} 0')
})
