// Golden output of a customer's first session, on a terminal and through a pipe.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addPool } from '../../server/src/features/hosts/service.ts'
import { sql } from '../../server/src/kernel/database/db.ts'
import { fixtureOf } from '../../server/test/endpoint-table.ts'
import { json, scripted } from '../../sdk/test/scripted.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { berth, createCliFixture, onTerminal, start } from './fixture.ts'
import { ESCAPE, maskVolatile, screen } from './screen.ts'

const app = await createCliFixture()

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

const SESSION = [
  ['region', 'list'],
  ['vm', 'list'],
  ['vm', 'create', 'web-1', '--os', 'debian-12', '--dry-run'],
  ['vm', 'create', 'web-1', '--os', 'debian-12', '--plan', 'small', '--yes'],
  ['vm', 'list'],
  ['vm', 'stop', 'web-1'],
  ['vm', 'restart', 'web-1', '--yes'],
  ['vm', 'rebuild', 'web-1', '--os', 'debian-12', '--dry-run'],
  ['vm', 'delete', 'web-1', '--dry-run'],
  ['vm', 'get', 'web-2'],
  ['vm', 'list', '-o', 'name'],
]

const transcript = (turns: { args: string[]; code: number; output: string }[]): string =>
  turns.map(({ args, code, output }) => `$ berth ${args.join(' ')}\n${maskVolatile(output).trimEnd()}\n[exit ${code}]\n`).join('\n')

test('matches the golden output on a terminal', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const turns = []
  let spinnerFrames = 0
  for (const args of SESSION) {
    const { code, raw, screen: output } = await app.whileWorking(onTerminal(app.envOf(customer), args).ended)
    spinnerFrames += raw.match(new RegExp(SPINNER, 'g'))?.length ?? 0
    turns.push({ args, code, output })
  }
  await expect(transcript(turns)).toMatchFileSnapshot('golden/terminal.txt')
  expect(spinnerFrames).toBeGreaterThan(0)
  expect(transcript(turns)).not.toMatch(SPINNER)
  expect(transcript(turns)).not.toContain(ESCAPE)
})

test('matches the golden output through a pipe: data on stdout, progress on stderr, no ANSI sequences', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const turns = []
  for (const args of SESSION) {
    const { code, stdout, stderr } = await app.whileWorking(start(app.envOf(customer), args).ended)
    for (const forbidden of [ESCAPE, '\r', SPINNER]) expect(stdout + stderr).not.toMatch(forbidden)
    const marked = (text: string, mark: string): string => text.replace(/^(?=.)/gm, `${mark} `)
    turns.push({ args, code, output: `${marked(stderr, 'err|')}${marked(stdout, 'out|')}` })
  }
  await expect(transcript(turns)).toMatchFileSnapshot('golden/pipe.txt')
})

test('a new VM with an SSH key is logged in to with ssh', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  expect((await berth(env, ['key', 'add', 'laptop', generateKey().line])).code).toBe(0)
  const args = ['vm', 'create', 'web-1', '--os', 'tiny', '--key', 'laptop', '--yes']
  const { code, screen: output } = await app.whileWorking(onTerminal(env, args).ended)
  expect([code, output]).toEqual([0, expect.stringContaining('To log in: berth vm ssh web-1')])
  expect(output).not.toContain('nobody can log in')
})

test('a VM that could not be built is refunded, and no renewal is shown', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
  await app.given.vm(customer)
  expect((await berth(env, ['vm', 'list'])).stdout).toMatch(/^web-1 +ERROR .* -$/m)
  expect((await berth(env, ['vm', 'get', 'web-1'])).stdout).toMatch(/^Renews +-$/m)
})

test("a backup on its VM's host is shown with the warning", async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  const { id } = await app.given.vm(customer)
  await customer.post(`/vms/${id}/backups`, { name: 'monday' })
  await app.settle()
  const warning = 'It is kept on the host of its VM: if that host is lost, so is this backup'
  expect((await berth(env, ['backup', 'list', 'web-1'])).stderr).toBe(`Warning for monday: ${warning}\n`)
  expect((await berth(env, ['backup', 'get', 'web-1', 'monday'])).stdout).toMatch(new RegExp(`^Warning +${warning}$`, 'm'))
})

test('an unknown name is answered with the nearest one and the command that lists them', async () => {
  const env = app.envOf(await app.given.customer())
  const { code, stderr } = await berth(env, ['vm', 'create', 'web-1', '--os', 'debain-12', '--dry-run'])
  expect([code, stderr]).toEqual([4, 'Error: No OS template named "debain-12". Did you mean "debian-12"? To list them: berth os list\n'])
  expect((await berth(env, ['vm', 'get', 'db'])).stderr).toBe('Error: No VM named "db". To list them: berth vm list\n')
  await berth(env, ['network', 'create', 'my net', '--cidr', '10.9.0.0/24'])
  expect((await berth(env, ['network', 'route', 'get', 'my net', '10.0.0.0/8'])).stderr).toBe(
    `Error: No route named "10.0.0.0/8". To list them: berth network route list 'my net'\n`,
  )
  await berth(env, ['firewall', 'create', 'fw'])
  expect((await berth(env, ['firewall', 'rule', 'delete', 'fw', '7', '--yes'])).stderr).toMatch(/berth firewall rule list fw\n$/)
})

test('a destructive command asks for confirmation on a terminal', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const refused = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'])
  await expect.poll(() => screen(refused.text())).toBe('web-1 and all its data will be permanently deleted. Type web-1 to confirm: ')
  refused.type('no\r')
  expect(await refused.ended).toMatchObject({ code: 1, screen: expect.stringContaining('Cancelled. Nothing was changed') })
  expect((await customer.get(`/vms/${id}`)).status).toBe(200)

  const confirmed = onTerminal(app.envOf(customer), ['vm', 'delete', 'web-1'])
  await expect.poll(confirmed.text).toContain('Type web-1 to confirm: ')
  confirmed.type('web-1\r')
  expect(await app.whileWorking(confirmed.ended)).toMatchObject({ code: 0, screen: expect.stringContaining('web-1 deleted') })
  expect((await customer.get(`/vms/${id}`)).status).toBe(404)
})

/** The API takes no such name any more. */
async function firewallOfOlderVersion(customer: Awaited<ReturnType<typeof app.given.customer>>, name: string): Promise<void> {
  const { id } = (await customer.post('/firewalls', { name: 'fw' })).body.data as { id: string }
  await app.db.run(sql`update firewalls set name = ${name} where id = ${id}`)
}

test('JSON output escapes control characters without losing data', async () => {
  const customer = await app.given.customer()
  const name = 'a\u009b31mb\u202ec'
  await firewallOfOlderVersion(customer, name)
  for (const args of [
    ['firewall', 'list', '-o', 'json'],
    ['api', 'GET', '/firewalls'],
  ]) {
    const { stdout } = await berth(app.envOf(customer), args)
    expect(stdout).toContain('"a\\u009b31mb\\u202ec"')
    expect(JSON.parse(stdout)).toMatchObject([{ name }])
  }
})

test('table output replaces control characters in names', async () => {
  const customer = await app.given.customer()
  await firewallOfOlderVersion(customer, 'a\u009b31mb\u202ec')
  const { code, raw } = await onTerminal(app.envOf(customer), ['firewall', 'list']).ended
  expect([code, raw]).toEqual([0, expect.stringContaining('a\ufffd31mb\ufffdc')])
})

test('vm metrics prints the times of which something is known', async () => {
  const unknown = [null, null, null]
  const series = {
    cpuPercent: [null, 12.5, null],
    ramUsed: unknown,
    diskReadBytesPerSecond: unknown,
    diskWriteBytesPerSecond: unknown,
    networkInBytesPerSecond: [null, null, 0],
    networkOutBytesPerSecond: unknown,
    cpuStealPercent: unknown,
    diskRequestsPerSecond: unknown,
    diskWaitMs: unknown,
  }
  const timestamps = ['2027-01-31T12:00:00.000Z', '2027-01-31T12:01:00.000Z', '2027-01-31T12:02:00.000Z']
  const { baseUrl } = await scripted(json(200, { success: true, data: { timestamps, step: 60, series } }))
  const env = { BERTH_URL: baseUrl, BERTH_TOKEN: 'vmk_x', TZ: 'UTC' }
  const { stdout } = await berth(env, ['vm', 'metrics', 'cmwitwjb80z3pavvjtzi8bhqq'])
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/)[0]!.slice(-5))).toEqual(['TIME', '12:01', '12:02', ''])
})

test('vm get shows the private addresses, and --json is -o json', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const nodeId = (await customer.get('/regions')).body.data[0].id as string
  const network = (await customer.post('/networks', { name: 'backend', nodeId, cidr: '10.0.0.0/24' })).body.data as { id: string }
  await app.given.vm(customer, { privateNetworkIds: [network.id] })
  const { stdout } = await berth(app.envOf(customer), ['vm', 'get', 'web-1'])
  expect(stdout).toMatch(/^Networks +backend 10\.0\.0\.\d+$/m)
  const [long, short] = [
    await berth(app.envOf(customer), ['vm', 'get', 'web-1', '--json']),
    await berth(app.envOf(customer), ['vm', 'get', 'web-1', '-o', 'json']),
  ]
  expect(long).toEqual(short)
  expect(JSON.parse(long.stdout)).toMatchObject({ name: 'web-1' })
})

const pool = { regionId: app.host.region_id, hostId: null, cidr: '10.79.0.0/28', gateway: '10.79.0.1' }
await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))

test('the reverse name of an address is shown with its state, and why it failed', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  const { id } = await app.given.vm(customer)
  const { ipAddress } = (await customer.get(`/vms/${id}`)).body.data as { ipAddress: string }
  const { address } = (await customer.post('/addresses', { regionId: pool.regionId, name: 'www' })).body.data as { address: string }
  for (const [each, state, error] of [
    [ipAddress, 'SET', null],
    [address, 'FAILED', 'REFUSED'],
  ])
    await app.db.run(sql`insert into reverse_names (address, account_id, name, state, error, updated_at)
      values (${each}::inet, ${customer.accountId}, 'mail.example.com', ${state}, ${error}, ${app.clock.now()})`)
  expect((await berth(env, ['vm', 'get', 'web-1'])).stdout).toMatch(/^Reverse name +mail\.example\.com\nReverse name state +SET$/m)
  expect((await berth(env, ['address', 'get', 'www'])).stdout).toMatch(/^Reverse name state +FAILED \(REFUSED\)$/m)
})

test('VMs and firewalls are called by their names', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  for (const hostname of ['web-1', 'web-2']) await app.given.vm(customer, { hostname })
  for (const name of ['www', 'mail', 'mail']) await customer.post('/addresses', { regionId: pool.regionId, name })
  const outputOf = async (...args: string[]): Promise<string> => (await app.whileWorking(berth(env, args))).stdout
  expect(await outputOf('address', 'assign', 'www', 'web-1')).toMatch(/ is assigned to web-1/)
  expect(await outputOf('address', 'list')).toMatch(/ www +fra1 +web-1 /)
  expect(await outputOf('address', 'get', 'www')).toMatch(/^VM +web-1$/m)
  expect((await berth(env, ['address', 'get', 'mail'])).stderr).toContain('2 addresses are named "mail"')

  await outputOf('firewall', 'create', 'fw')
  await outputOf('firewall', 'rule', 'add', 'fw', '--port', '22')
  expect(await outputOf('firewall', 'bind', 'fw', 'web-1')).toBe('Firewall fw bound to web-1\n')
  await outputOf('firewall', 'bind', 'fw', 'web-2')
  expect(await outputOf('firewall', 'bindings', 'fw')).toMatch(/^web-1 .*\nweb-2 /m)
  const check = ['firewall', 'check', 'fw', 'web-1', '--port', '22', '--from', '198.51.100.7']
  expect(await outputOf(...check)).toBe('ACCEPT: rule 1 of firewall fw\n')
  expect(await outputOf('firewall', 'unbind', 'fw', 'web-2')).toBe('Firewall fw unbound from web-2\n')
  expect((await berth(env, ['firewall', 'unbind', 'fw', 'web-2'])).stderr).toBe('Error: The firewall fw is not bound to web-2\n')

  const reader = await app.given.token(customer.accountId, { scopes: ['addresses:read'] })
  expect((await berth(app.envOf(reader), ['address', 'list'])).stdout).toMatch(/ www +fra1 +c[a-z0-9]{24} /)
})

test('vm reach names the steps so that "yes" reads right, and says what is not known', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  await app.given.vm(customer)
  const { stdout } = await berth(env, ['vm', 'reach', 'web-1', '1.1.1.1', '--port', '443'])
  expect(stdout).toMatch(/^public network +yes +The public network carries traffic to 1\.1\.1\.1$/m)
  expect(stdout).toMatch(/^FORWARDED: web-1 \([\d.]+\) to 1\.1\.1\.1\nIt is handed on .* whether it is dropped there is not known\.$/m)
  const { code, stderr } = await berth(env, ['vm', 'reach', 'web-1', 'example.com', '--port', '443'])
  const message = 'No VM named "example.com". To list them: berth vm list. An IP address can be given too, such as 10.0.0.5'
  expect([code, stderr]).toEqual([4, `Error: ${message}\n`])
})

test('vm reach gives the commands, and exits with 0 also where the packet is blocked', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  const blocked = async (...args: string[]): Promise<string> => {
    const { code, stdout } = await berth(env, ['vm', 'reach', 'web-1', ...args, '--protocol', 'icmp'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^BLOCKED: web-1 /m)])
    return stdout.trimEnd().split('\n').at(-1)!
  }
  for (const [name, third] of [
    ['backend', 0],
    ['my databases', 1],
  ] as const) {
    const network = await berth(env, ['network', 'create', name, '--cidr', `10.8.${third}.0/24`, '-o', 'json'])
    const { id } = JSON.parse(network.stdout) as { id: string }
    await app.given.vm(customer, { hostname: `web-${third + 1}`, privateNetworkIds: [id] })
  }
  expect(await blocked('10.8.1.2')).toBe(
    "Connect the networks backend and my databases by a peering: berth network peering add backend 'my databases'",
  )
  expect((await berth(env, ['network', 'peering', 'add', 'backend', 'my databases'])).code).toBe(0)
  expect((await berth(env, ['vm', 'reach', 'web-1', 'web-2', '--protocol', 'icmp'])).stdout).toMatch(
    /^REACHABLE: web-1 \(10\.8\.0\.2\) to web-2 \(10\.8\.1\.2\)$/m,
  )
  expect(await blocked('10.8.0.77')).toBe('Use the address of a VM that is attached: berth vm get <vm> shows them.')
})

test('a VM without a key or a password is said to have none, also when nothing is waited for', async () => {
  const env = app.envOf(await app.given.customer({ credit: '100.00' }))
  const { code, stderr } = await berth(env, ['vm', 'create', 'web-1', '--os', 'debian-12', '--no-wait'])
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^It has no SSH key and no password\. To log in: berth vm password web-1, .*\n$/),
  ])
})

test('budgets are shown in lists by each of their limits', async () => {
  const env = app.envOf(await app.given.customer())
  for (const [name, ...limits] of [
    ['free'],
    ['vms', '--max-vms', '2'],
    ['labels', '--budget-labels', 'env=prod'],
    ['all', '--budget', '50.00', '--max-vms', '3', '--budget-labels', 'env=prod'],
  ])
    expect((await berth(env, ['project', 'create', name!, ...limits])).code).toBe(0)
  const { stdout } = await berth(env, ['project', 'list'])
  const budgets = stdout.split('\n').map((line) => line.split(/ {2,}/))
  expect(Object.fromEntries(budgets.slice(1, -1).map(([name, , , budget]) => [name, budget]))).toEqual({
    free: '-',
    vms: '0 of 2 VMs',
    labels: 'labels env=prod',
    all: '0.00 of 50.00, 0 of 3 VMs, labels env=prod',
  })
})

test('members are called by their addresses, also one without a name', async () => {
  const customer = await app.given.customer()
  const env = app.envOf(customer)
  const at = app.clock.now()
  await app.db.run(sql`insert into users (id, email, password_hash, created_at) values ('cnameless', 'nameless@example.com', 'x', ${at})`)
  await app.db.run(sql`
    insert into members (account_id, user_id, role, scopes, created_at)
    values (${customer.accountId}, 'cnameless', 'custom', array['vms:read'], ${at})`)
  const outputOf = async (...args: string[]): Promise<string> => (await berth(env, ['member', ...args])).stdout
  expect(await outputOf('list', '-o', 'name')).toBe('nameless@example.com\n')
  expect(await outputOf('get', 'nameless@example.com')).toMatch(/^Email +nameless@example\.com\nId +cnameless\nRole +custom\n/)
  expect(await outputOf('get', 'nameless@example.com', '-o', 'name')).toBe('nameless@example.com\n')
  expect(await outputOf('update', 'nameless@example.com', '--max-vms', '5', '-o', 'name')).toBe('nameless@example.com\n')
  const none = `c${'a'.repeat(24)}`
  const { code, stderr } = await berth(env, ['member', 'get', none])
  expect([code, stderr]).toEqual([4, `Error: No member has the id ${none}. To list them: berth member list\n`])
})

test('actions are listed with the names of their VMs', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  const ids = [(await app.given.vm(customer)).id, (await app.given.vm(customer, { hostname: 'web-2' })).id]
  const [all, one] = [await berth(env, ['action', 'list']), await berth(env, ['vm', 'actions', 'web-2'])]
  expect(all.stdout).toMatch(/ web-2 +CREATE [^]* web-1 +CREATE /)
  expect(one.stdout).toMatch(/ web-2 +CREATE /)
  for (const id of ids) expect(all.stdout).not.toContain(id)
  expect((await berth(env, ['action', 'list', '--json'])).stdout).toContain(ids[0])
})

test('a failed image keeps its name from none that can be used, and is told apart by its status', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const env = app.envOf(customer)
  const fixture = fixtureOf(app, customer)
  const [failed, good] = [await fixture.iso(), await fixture.iso()]
  const disks = [await fixture.image(), await fixture.image()]
  await app.settle()
  await app.db.run(sql`update images set name = 'netinst' where id in (${failed}, ${good})`)
  await app.db.run(sql`update images set name = 'golden' where id in (${disks[0]}, ${disks[1]})`)
  await app.db.run(sql`update images set status = 'FAILED', reason = 'gone' where id in (${failed}, ${disks[0]})`)
  await app.given.vm(customer, { hostname: 'iso-1' })
  const attached = await app.whileWorking(berth(env, ['vm', 'iso', 'attach', 'iso-1', 'netinst', '--json']))
  expect(attached, attached.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse((await berth(env, ['vm', 'get', 'iso-1', '--json'])).stdout)).toMatchObject({ iso: { imageId: good } })
  expect(await berth(env, ['vm', 'create', 'copy-1', '--os', 'golden', '--dry-run'])).toMatchObject({ code: 0, stderr: '' })

  const { code, stderr } = await berth(env, ['image', 'delete', 'netinst', '--yes'])
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^Error: 2 images are named "netinst"\. Use an id: /)])
  for (const [id, status] of [
    [failed, 'FAILED'],
    [good, 'AVAILABLE'],
  ])
    expect(stderr).toMatch(new RegExp(`${id} \\(${status}, created \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d\\)`))
  await app.db.run(sql`update images set status = 'AVAILABLE', reason = null where id in (${failed}, ${disks[0]})`)
  expect((await berth(env, ['vm', 'create', 'copy-1', '--os', 'golden', '--dry-run'])).stderr).toMatch(
    /named "golden".*AVAILABLE.*AVAILABLE/,
  )
})

test('the name of a file as user data is answered with how the file is read', async () => {
  const env = app.envOf(await app.given.customer({ credit: '100.00' }))
  const file = join(app.home, 'web.sh')
  writeFileSync(file, '#!/bin/sh\ntrue\n')
  const create = (text: string) => berth(env, ['vm', 'create', 'web-1', '--os', 'debian-12', '--user-data', text, '--dry-run'])
  expect(await create(file)).toMatchObject({ code: 2, stderr: `Error: --user-data ${file}: to read the file, write @${file}\n` })
  expect(await create(`@${file}`)).toMatchObject({ code: 0, stderr: '' })
  expect(await create(`${file}.missing`)).toMatchObject({ code: 2, stderr: expect.stringContaining('userData') })
})
