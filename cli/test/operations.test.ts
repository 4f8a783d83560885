// Every operation of the OpenAPI document has a command.
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sql } from '../../server/src/kernel/database/db.ts'
import { ENDPOINTS, fixtureOf } from '../../server/test/endpoint-table.ts'
import { COMMANDS } from './commands.ts'
import { berth, createCliFixture } from './fixture.ts'
import { ESCAPE } from './screen.ts'

const app = await createCliFixture({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' } })
await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 100000000, disk_total_gib = 1000000`)
await app.db.run(sql`update simulated.hosts set disk_total_bytes = ${10n ** 15n}`)

type Document = { paths: Record<string, Record<string, { operationId: string }>> }
const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi/v1.json'), 'utf8')) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({ id: operationId, method: method.toUpperCase(), path })),
)

const calls: string[] = []
app.app.server.on('request', ({ method, url }: IncomingMessage) => calls.push(`${method} ${url?.replace(/\?.*$/, '')}`))

test('every operation has a command', () => {
  expect(Object.keys(COMMANDS).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
})

describe.each(operations.filter(({ id }) => id in COMMANDS))('$id', ({ id, method, path }) => {
  test('is called by its command and printed in every format', async () => {
    const customer = await app.given.customer({ credit: '10000.00' })
    const { params = {}, body = {} } = await ENDPOINTS[id]!(fixtureOf(app, customer))
    const { args, stdin } = COMMANDS[id]!(params, body)
    expect(args[0]).not.toBe('api')
    const confirmed = /^(delete|rebuild|release|restore|replace|revoke)/.test(id) ? ['--yes'] : []
    calls.length = 0
    const outcome = await berth(app.envOf(customer), [...args, ...confirmed, '-o', 'json'], stdin)
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    expect(calls).toContain(`${method} /api/public/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => params[name]!)}`)
    const data = JSON.parse(outcome.stdout) as unknown
    expect(data).toBeTypeOf('object')
    if (method !== 'GET') return
    for (const format of ['table', 'name']) {
      const { code, stdout, stderr } = await berth(app.envOf(customer), [...args, '-o', format])
      expect([code, stdout || stderr || (format === 'name' && id === 'getVmMetrics' && 'no times\n')]).toEqual([
        0,
        expect.stringMatching(/\S\n$/),
      ])
      for (const forbidden of ['undefined', '[object', 'NaN', ESCAPE]) expect(stdout).not.toContain(forbidden)
    }
  })
})
