// Destructive commands ask for confirmation on a terminal and refuse without one; what costs money or reboots asks on a terminal.
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ENDPOINTS, fixtureOf } from '../../server/test/endpoint-table.ts'
import { sql } from '../../server/src/kernel/database/db.ts'
import type { CommandNode, CommandSpec } from '../src/command.ts'
import { COMMAND_TREE } from '../src/commands/index.ts'
import { COMMANDS } from './commands.ts'
import { berth, createCliFixture, onTerminal } from './fixture.ts'
import { screen } from './screen.ts'

const app = await createCliFixture({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' } })

const flatten = (nodes: CommandNode[]): CommandSpec[] => nodes.flatMap((node) => ('commands' in node ? flatten(node.commands) : [node]))

test('destructive commands and those that cost money or reboot take --yes', () => {
  const DESTRUCTIVE = ['delete', 'rebuild', 'release', 'restore', 'replace', 'bulk', 'revoke']
  const ASKING = [
    'vm create',
    'vm restart',
    'vm upgrade',
    'vm resize',
    'vm shelve',
    'vm unshelve',
    'vm rescue',
    'vm iso attach',
    'vm update',
    'bandwidth buy',
    'snapshot create',
    'backup create',
    'image create',
    'address reserve',
    'volume create',
    'volume grow',
    'volume snapshot create',
  ]
  for (const { name, confirms = false, asks = false, example } of flatten(COMMAND_TREE)) {
    const isAsking = ASKING.some((words) => example.startsWith(`${words} `))
    expect([example, confirms, asks]).toEqual([example, DESTRUCTIVE.includes(name), isAsking])
  }
})

const writes: string[] = []
app.app.server.on('request', ({ method, url }: IncomingMessage) => void (method === 'GET' || writes.push(`${method} ${url}`)))

const DELETES = [
  'Vm',
  'SshKey',
  'Member',
  'Invitation',
  'Network',
  'Firewall',
  'FirewallRule',
  'Snapshot',
  'Backup',
  'Image',
  'Volume',
  'VolumeSnapshot',
  'Webhook',
].map((resource) => `delete${resource}`)
const OTHERS = [
  'releaseAddress',
  'revokeToken',
  'rebuildVm',
  'restoreSnapshot',
  'restoreVolumeSnapshot',
  'restoreBackup',
  'replaceFirewallRules',
]

describe.each([...DELETES, ...OTHERS])('%s', (operation) => {
  test('changes nothing without confirmation', async () => {
    const customer = await app.given.customer({ credit: '1000.00' })
    const { params = {}, body = {} } = await ENDPOINTS[operation]!(fixtureOf(app, customer))
    const { args } = COMMANDS[operation]!(params, body)
    writes.length = 0
    const refused = await berth(app.envOf(customer), args, 'no\n', { isTTY: true })
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/ Type \S+ to confirm: .*Nothing was changed/s) })
    const piped = await berth(app.envOf(customer), args)
    expect(piped).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/Nothing was changed\. Without a terminal, add --yes to confirm\n$/),
    })
    expect(writes).toEqual([])
    const confirmed = await berth(app.envOf(customer), [...args, '--yes'], '', { isTTY: true })
    expect(confirmed.code, confirmed.stderr).toBe(0)
    expect(writes).toHaveLength(1)
  })
})

const setCopyPrice = (cents: bigint) => app.db.run(sql`update catalog_values set value = ${cents} where name = 'price.copies_gib'`)

/** The question, and the operations called: a dry run for the price, then the change itself. */
const ASKED: Record<string, { question: RegExp; calls: number }> = {
  createVm: {
    question: /^Creating web-1 charges \d+\.\d\d USD now, then \d+\.\d\d USD a month; the balance is \d+\.\d\d USD afterwards\. /,
    calls: 2,
  },
  resizeVm: { question: /^Resizing \S+ keeps it running, and charges \d+\.\d\d USD now/, calls: 2 },
  upgradeVm: { question: /^Upgrading \S+ to large shuts it down and starts it again, and charges \d+\.\d\d USD now/, calls: 2 },
  shelveVm: {
    question: /^Shelving \S+ shuts it down until it is unshelved, and refunds \d+\.\d\d USD, then \d+\.\d\d USD a month/,
    calls: 2,
  },
  unshelveVm: { question: /^Unshelving \S+ charges \d+\.\d\d USD now, then \d+\.\d\d USD a month/, calls: 2 },
  rescueVm: { question: /^Rescuing \S+ ends its programs and connections\. /, calls: 1 },
  unrescueVm: { question: /^Ending the rescue of \S+ restarts it from its own disk\. /, calls: 1 },
  restartVm: { question: /^Restarting \S+ ends its programs and connections\. /, calls: 1 },
  createSnapshot: { question: /^Creating snapshot before of \S+ charges \d+\.\d\d USD now, then \d+\.\d\d USD a month/, calls: 2 },
  createVolumeSnapshot: { question: /^Creating snapshot before of \S+ charges \d+\.\d\d USD now, then \d+\.\d\d USD a month/, calls: 2 },
  createBackup: { question: /^Creating backup before of \S+ charges \d+\.\d\d USD now, then \d+\.\d\d USD a month/, calls: 2 },
  buyBandwidthPack: { question: /^Buying \d+ GB of traffic for \S+ charges \d+\.\d\d USD now/, calls: 2 },
}

describe.each(Object.entries(ASKED))('%s', (operation, { question, calls }) => {
  test('asks first on a terminal, with the price and what happens', async () => {
    await setCopyPrice(10n)
    const customer = await app.given.customer({ credit: '1000.00' })
    const { params = {}, body = {} } = await ENDPOINTS[operation]!(fixtureOf(app, customer))
    const { args } = COMMANDS[operation]!(params, body)
    writes.length = 0
    const refused = await berth(app.envOf(customer), args, '\n', { isTTY: true })
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Cancelled. Nothing was changed') })
    expect(screen(refused.stderr)).toMatch(question)
    expect(writes.every((call) => call.includes('dryRun=true'))).toBe(true)
    writes.length = 0
    const agreed = await berth(app.envOf(customer), args, 'y\n', { isTTY: true })
    expect(agreed.code, agreed.stderr).toBe(0)
    expect(writes).toHaveLength(calls)
  })
})

test.each(['snapshot', 'backup'])('a %s without a price is created without a question', async (kind) => {
  await setCopyPrice(0n)
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  expect(await berth(app.envOf(customer), [kind, 'create', id, 'before', '--no-wait'], '', { isTTY: true })).toMatchObject({
    code: 0,
    stderr: '',
  })
})

test('a script buys without a terminal', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  expect(await berth(app.envOf(customer), ['vm', 'create', 'web-1', '--os', 'debian-12', '--no-wait'])).toMatchObject({ code: 0 })
})

test('context delete keeps the token without confirmation', async () => {
  const { token } = await app.given.customer()
  const env = { HOME: app.home }
  await berth(env, ['login', app.baseUrl, '--name', 'staging'], token)
  expect(await berth(env, ['context', 'delete', 'staging'], 'no\n', { isTTY: true })).toMatchObject({ code: 1 })
  expect(await berth(env, ['context', 'delete', 'staging'], 'staging\n', { isTTY: true })).toMatchObject({ code: 0 })
})

describe('with stderr redirected', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const stillThere = async (): Promise<boolean> => (await customer.get(`/vms/${id}`)).status === 200

  test('the prompt uses the terminal', async () => {
    const session = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'], { redirect: '2>/dev/null' })
    await expect.poll(session.text).toContain('Type web-1 to confirm: ')
    session.type('no\r')
    expect(await session.ended).toMatchObject({ code: 1 })
    expect(await stillThere()).toBe(true)
  })

  test('nothing is changed without a terminal to prompt on', async () => {
    const log = join(app.home, 'errors.txt')
    const session = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'], { by: 'setsid -w', redirect: `2>${log}` })
    expect(await session.ended).toMatchObject({ code: 2 })
    expect(readFileSync(log, 'utf8')).toBe(
      'Error: Cannot prompt: no terminal is available. Use --yes to confirm, or pass secrets on stdin\n',
    )
    expect(await stillThere()).toBe(true)
  })
})

test('nothing is changed after Ctrl-C at the prompt', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const session = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'])
  await expect.poll(session.text).toContain('Type web-1 to confirm: ')
  session.type('\x03')
  expect(await session.ended).toMatchObject({ code: 1 })
  expect((await customer.get(`/vms/${id}`)).status).toBe(200)
})
