// A person is asked before something is lost; a script is not.
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ENDPOINTS, worldOf } from '../../server/test/endpoint-table.ts'
import type { CommandNode, CommandSpec } from '../src/command.ts'
import { COMMAND_TREE } from '../src/commands/index.ts'
import { COMMANDS } from './commands.ts'
import { berth, createCliFixture, onTerminal } from './fixture.ts'

const app = await createCliFixture({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' } })

const flatten = (nodes: CommandNode[]): CommandSpec[] => nodes.flatMap((node) => ('commands' in node ? flatten(node.commands) : [node]))

test('every verb that loses something takes --yes, and no other', () => {
  const LOSE = ['delete', 'rebuild', 'restore', 'replace']
  for (const { name, confirms = false, example } of flatten(COMMAND_TREE))
    expect([example, confirms]).toEqual([example, LOSE.includes(name)])
})

const writes: string[] = []
app.app.server.on('request', ({ method, url }: IncomingMessage) => void (method === 'GET' || writes.push(`${method} ${url}`)))

const DELETES = ['Vm', 'SshKey', 'Network', 'Firewall', 'FirewallRule', 'Snapshot', 'Backup', 'Webhook'].map((thing) => `delete${thing}`)
const OTHERS = ['rebuildVm', 'restoreSnapshot', 'restoreBackup', 'replaceFirewallRules']

describe.each([...DELETES, ...OTHERS])('%s', (operation) => {
  test('is not done before a person has said yes', async () => {
    const customer = await app.given.customer({ credit: '1000.00' })
    const { params = {}, body = {} } = await ENDPOINTS[operation]!(worldOf(app, customer))
    const { args } = COMMANDS[operation]!(params, body)
    writes.length = 0
    const refused = await berth(app.envOf(customer), args, 'no\n', { isTTY: true })
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/ Type \S+ to go on: .*Nothing was done/s) })
    expect(writes).toEqual([])
    const meant = await berth(app.envOf(customer), [...args, '--yes'], '', { isTTY: true })
    expect(meant.code, meant.stderr).toBe(0)
    expect(writes).toHaveLength(1)
  })
})

test('a token is not forgotten before a person has said yes', async () => {
  const { token } = await app.given.customer()
  const env = { HOME: app.home }
  await berth(env, ['login', app.baseUrl, '--name', 'staging'], token)
  expect(await berth(env, ['context', 'delete', 'staging'], 'no\n', { isTTY: true })).toMatchObject({ code: 1 })
  expect(await berth(env, ['context', 'delete', 'staging'], 'staging\n', { isTTY: true })).toMatchObject({ code: 0 })
})

describe('where stderr goes elsewhere', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const stillThere = async (): Promise<boolean> => (await customer.get(`/vms/${id}`)).status === 200

  test('the terminal is asked', async () => {
    const session = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'], { redirect: '2>/dev/null' })
    await expect.poll(session.text).toContain('Type web-1 to go on: ')
    session.type('no\r')
    expect(await session.ended).toMatchObject({ code: 1 })
    expect(await stillThere()).toBe(true)
  })

  test('nothing is done when there is no terminal to ask on', async () => {
    const log = join(app.home, 'errors.txt')
    const session = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'], { by: 'setsid -w', redirect: `2>${log}` })
    expect(await session.ended).toMatchObject({ code: 2 })
    expect(readFileSync(log, 'utf8')).toBe(
      'Error: Nobody can be asked, because stderr is no terminal. Answer beforehand: with --yes, or a secret by stdin\n',
    )
    expect(await stillThere()).toBe(true)
  })
})

test('nothing is done after Ctrl-C at a question', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const session = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'])
  await expect.poll(session.text).toContain('Type web-1 to go on: ')
  session.type('\x03')
  expect(await session.ended).toMatchObject({ code: 1 })
  expect((await customer.get(`/vms/${id}`)).status).toBe(200)
})
