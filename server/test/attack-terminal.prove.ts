// Nothing a customer can name or write reaches the operator's terminal as an escape sequence, a line of its own or reversed text.
import { beforeAll, describe, expect, test } from 'vitest'
import { createProgram, forEach } from '../src/commands/program.ts'
import { sql } from '../src/kernel/database/db.ts'
import { testApp, type TestApp } from './harness.ts'
import { generateKey } from './openssh-keys.ts'
import { berthd, type Settings } from './processes.ts'

/** Sets the title, clears the screen, draws a row, turns the text around; C1 forms of the same. */
const EVIL = 'x\u001b]0;pwned\u0007\u001b[2J\u009b31m\r\nc0ffee  fake-row  RUNNING\u202etxt\u2066'
const FORBIDDEN = /[^\P{Cc}\n\t]|[\p{Bidi_Control}]/u

let app: TestApp
let settings: Settings
let customer: Awaited<ReturnType<TestApp['given']['customer']>>
let vmId: string
let ticketId: string
let actionId: string

beforeAll(async () => {
  app = await testApp()
  settings = { BERTH_DATABASE_URL: app.deps.db.url, BERTH_DATA_DIR: app.deps.config.dataDir }
  customer = await app.given.customer({ credit: '100.00' })
  vmId = (await app.given.vm(customer)).id
  ticketId = (await customer.post('/tickets', { subject: 'Help', body: 'Please' })).body.data.id
  actionId = (await customer.get('/actions')).body.data[0].id
})

describe('names with control characters', () => {
  test('are refused by the API', async () => {
    const [firewall, key] = [await customer.post('/firewalls', { name: 'fw' }), generateKey().line]
    const refused = [
      await customer.patch(`/vms/${vmId}`, { name: EVIL }),
      await customer.post('/firewalls', { name: EVIL }),
      await customer.patch(`/firewalls/${firewall.body.data.id}`, { name: EVIL }),
      await customer.post('/networks', { name: EVIL, nodeId: (await customer.get('/regions')).body.data[0].id, cidr: '10.0.0.0/24' }),
      await customer.post('/ssh-keys', { name: EVIL, publicKey: key }),
      await customer.post(`/vms/${vmId}/snapshots`, { name: EVIL }),
      await customer.post(`/vms/${vmId}/backups`, { name: EVIL }),
      await customer.post('/webhooks', { url: 'https://example.com', events: ['vm.created'], description: EVIL }),
      await customer.post('/tickets', { subject: EVIL, body: 'x' }),
    ]
    for (const { status, body } of refused) expect([status, body.error]).toEqual([400, expect.stringMatching(/on one line/)])
  })

  test.each(['\u0000', '\t', '\n', '\u001b', '\u007f', '\u009b', '\u2028', '\u202e', '\u2066'])(
    'are refused with %j',
    async (character) => {
      expect((await customer.post('/firewalls', { name: `a${character}b` })).status).toBe(400)
    },
  )

  test('but letters of every script and emoji are taken', async () => {
    const name = 'Ähre שלום 日本語 👩‍💻 e\u0301'
    expect((await customer.post('/firewalls', { name })).body.data).toMatchObject({ name })
  })
})

test('rows that older versions accepted are cleaned wherever berthd prints them', { timeout: 180_000 }, async () => {
  const { db } = app.deps
  await db.run(sql`update vms set name = ${EVIL}, status_reason = ${EVIL}`)
  await db.run(sql`update accounts set name = ${EVIL}, email = ${`${EVIL}@example.com`}`)
  await db.run(sql`update api_tokens set name = ${EVIL}`)
  await db.run(sql`update tickets set subject = ${EVIL}, body = ${EVIL.replaceAll('\n', '')}`)
  await db.run(sql`update workflow_runs set error = ${EVIL}`)
  const reading: string[][] = [
    ['ticket', 'show', ticketId],
    ['action', 'show', actionId],
  ]
  forEach(createProgram(false), (command) => {
    if (command.name() === 'list') reading.push([command.parent!.name(), 'list'])
  })
  expect(reading.length).toBeGreaterThan(10)
  for (const args of [...reading, ['vm', 'suspend', EVIL], ['vm', 'suspend', EVIL, '--yes'], ['ticket', 'show', EVIL]]) {
    const { stdout, stderr } = await berthd(settings, ...args)
    expect([args, `${stdout}${stderr}`]).toEqual([args, expect.not.stringMatching(FORBIDDEN)])
    expect([args, `${stdout}${stderr}`]).toEqual([args, expect.not.stringMatching(/^c0ffee/m)])
    const json = await berthd(settings, ...args, '--json')
    expect(json.stdout).not.toMatch(FORBIDDEN)
    if (json.code === 0) JSON.parse(json.stdout)
  }
  const shown = await berthd(settings, 'vm', 'list')
  expect(shown.stdout).toContain('x\ufffd]0;pwned')
  const listed = JSON.parse((await berthd(settings, 'vm', 'list', '--json')).stdout) as { name: string }[]
  expect(listed[0]!.name).toBe(EVIL)
})
