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

test('OpenMetrics shows what is now, under the names of the other format', async () => {
  const metrics = createMetrics()
  const server = await serveMetrics(metrics, '127.0.0.1', 0)
  const scrape = async (accept: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { accept } })).text()
  metrics.storageUp.set({ storage: 'old' }, 1)
  metrics.emails.inc({ outcome: 'SENT' })
  expect(await scrape('application/openmetrics-text')).toContain('berth_storage_up{storage="old"} 1')
  metrics.storageUp.reset()
  metrics.storageUp.set({ storage: 'new' }, 1)
  for (const accept of ['application/openmetrics-text', 'text/plain']) {
    const text = await scrape(accept)
    expect(text).toContain('berth_storage_up{storage="new"} 1')
    expect(text).not.toContain('storage="old"')
    expect(text).toContain('berth_emails_total{outcome="SENT"} 1')
  }
  await server.close()
})
