// Records a request and its response for every operation in openapi/examples.json, which the reference at /docs shows. `npm run openapi`
// updates it.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '../src/kernel/database/db.ts'
import { ENDPOINTS, fixtureOf } from './endpoint-table.ts'
import { shorten, steadyText } from './example-text.ts'
import { testApp } from './harness.ts'

const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' } })
await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 100000000, disk_total_gib = 1000000`)
await app.db.run(sql`update simulated.hosts set disk_total_bytes = ${10n ** 15n}`)

test('every operation has an example that matches the current response', { timeout: 240_000 }, async () => {
  const examples: object[] = []
  for (const { operationId, summary, tag, method, path } of app.operations) {
    const customer = await app.given.customer({ credit: '1000.00' })
    const { params = {}, body, query } = await ENDPOINTS[operationId]!(fixtureOf(app, customer))
    const filled = path.replace(/[:{](\w+)}?/g, (_, name: string) => params[name]!) + (query ?? '')
    const answer = await app.request(String(method), filled, { token: customer.token, body })
    expect(answer.status, operationId).toBeLessThan(300)
    const example = { operationId, summary, tag, method, path: filled, body, status: answer.status, answer: shorten(answer.body) }
    examples.push(JSON.parse(steadyText(JSON.stringify(example))) as object)
  }
  await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot(join(import.meta.dirname, '../../openapi/examples.json'))
})
