import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createMetrics, serveMetrics } from './metrics.ts'

test('an idle connection does not delay the shutdown', { timeout: 10_000 }, async () => {
  const server = await serveMetrics(createMetrics(), '127.0.0.1', 0)
  const silent = connect(server.port, '127.0.0.1')
  await once(silent, 'connect')
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`)
  expect(await answer.text()).toContain('berth_http_request_seconds')
  const ended = once(silent, 'close')
  await server.close()
  await ended
})

test('failed emails are counted from zero, so that the first one raises the alert', async () => {
  expect(await createMetrics().registry.metrics()).toContain('berth_emails_total{outcome="FAILED"} 0')
})
