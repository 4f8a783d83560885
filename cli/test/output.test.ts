// The whole output of a customer's first session: on a terminal, and through a pipe.
import { expect, test } from 'vitest'
import { berth, createCliFixture, onTerminal, start } from './fixture.ts'
import { ESCAPE, maskVolatile, screen } from './screen.ts'

const app = await createCliFixture()

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

const SESSION = [
  ['region', 'list'],
  ['vm', 'list'],
  ['vm', 'create', 'web-1', '--os', 'debian-12', '--dry-run'],
  ['vm', 'create', 'web-1', '--os', 'debian-12', '--plan', 'small'],
  ['vm', 'list'],
  ['vm', 'stop', 'web-1'],
  ['vm', 'restart', 'web-1'],
  ['vm', 'rebuild', 'web-1', '--os', 'debian-12', '--dry-run'],
  ['vm', 'delete', 'web-1', '--dry-run'],
  ['vm', 'get', 'web-2'],
  ['vm', 'list', '-o', 'name'],
]

const transcript = (turns: { args: string[]; code: number; said: string }[]): string =>
  turns.map(({ args, code, said }) => `$ berth ${args.join(' ')}\n${maskVolatile(said).trimEnd()}\n[exit ${code}]\n`).join('\n')

test('reads well on a terminal', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const turns = []
  let spun = 0
  for (const args of SESSION) {
    const { code, raw, screen: said } = await app.whileWorking(onTerminal(app.envOf(customer), args).ended)
    spun += raw.match(new RegExp(SPINNER, 'g'))?.length ?? 0
    turns.push({ args, code, said })
  }
  await expect(transcript(turns)).toMatchFileSnapshot('golden/terminal.txt')
  expect(spun).toBeGreaterThan(0)
  expect(transcript(turns)).not.toMatch(SPINNER)
  expect(transcript(turns)).not.toContain(ESCAPE)
})

test('reads well through a pipe: data on stdout, progress on stderr, and no ANSI anywhere', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const turns = []
  for (const args of SESSION) {
    const { code, stdout, stderr } = await app.whileWorking(start(app.envOf(customer), args).ended)
    for (const never of [ESCAPE, '\r', SPINNER]) expect(stdout + stderr).not.toMatch(never)
    const marked = (text: string, mark: string): string => text.replace(/^(?=.)/gm, `${mark} `)
    turns.push({ args, code, said: `${marked(stderr, 'err|')}${marked(stdout, 'out|')}` })
  }
  await expect(transcript(turns)).toMatchFileSnapshot('golden/pipe.txt')
})

test('asks a person before what cannot be taken back', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const refused = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'])
  await expect.poll(() => screen(refused.text())).toBe('web-1 and everything on it will be gone. Type web-1 to go on: ')
  refused.type('no\r')
  expect(await refused.ended).toMatchObject({ code: 1, screen: expect.stringContaining('Nothing was done') })
  expect((await customer.get(`/vms/${id}`)).status).toBe(200)

  const meant = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'])
  await expect.poll(meant.text).toContain('Type web-1 to go on: ')
  meant.type('web-1\r')
  expect(await app.whileWorking(meant.ended)).toMatchObject({ code: 0, screen: expect.stringContaining('web-1 is gone') })
  expect((await customer.get(`/vms/${id}`)).status).toBe(404)
})

test('escapes in JSON what would touch the terminal, and loses nothing', async () => {
  const customer = await app.given.customer()
  const name = 'a\u009b31mb\u202ec'
  await customer.post('/firewalls', { name })
  for (const args of [
    ['firewall', 'list', '-o', 'json'],
    ['api', 'GET', '/firewalls'],
  ]) {
    const { stdout } = await berth(app.envOf(customer), args)
    expect(stdout).toContain('"a\\u009b31mb\\u202ec"')
    expect(JSON.parse(stdout)).toMatchObject([{ name }])
  }
})

test('lets no name of a thing touch the terminal', async () => {
  const customer = await app.given.customer()
  await customer.post('/firewalls', { name: 'a\u009b31mb\u202ec' })
  const { code, raw } = await onTerminal(app.envOf(customer), ['firewall', 'list']).ended
  expect([code, raw]).toEqual([0, expect.stringContaining('a\ufffd31mb\ufffdc')])
})
