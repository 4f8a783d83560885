// Commands that hold a connection or a terminal: ssh, console, event streams.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addPool } from '../../server/src/features/hosts/service.ts'
import { announceMaintenance } from '../../server/src/features/maintenances/service.ts'
import { addDuration } from '../../server/src/kernel/clock.ts'
import { sql } from '../../server/src/kernel/database/db.ts'
import { receiver, verified } from '../../server/test/receiver.ts'
import { berth, createCliFixture, onTerminal, start } from './fixture.ts'

const app = await createCliFixture()
const customer = await app.given.customer({ credit: '100.00' })
const env = app.envOf(customer)
const { id } = await app.given.vm(customer)
const { ipAddress } = (await customer.get(`/vms/${id}`)).body.data as { ipAddress: string }

const SSH_OPTIONS = ['-o', `HostKeyAlias=berth-${id}`, '-o', 'StrictHostKeyChecking=accept-new']

test('vm ssh runs ssh and passes on its exit code', async () => {
  const bin = join(app.home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\nprintf "%s\\n" "$@"\nexit 42\n')
  chmodSync(join(bin, 'ssh'), 0o755)
  const path = `${bin}:${process.env['PATH']}`
  const { code, stdout } = await start({ ...env, PATH: path }, ['vm', 'ssh', 'web-1', '-i', 'key', '--', 'ls', '-l /tmp']).ended
  expect(stdout.trim().split('\n')).toEqual([...SSH_OPTIONS, '-i', 'key', '--', `root@${ipAddress}`, 'ls', '-l /tmp'])
  expect(code).toBe(42)
})

test('vm ssh --print prints the ssh command, and fails for a stopped VM', async () => {
  expect(await berth(env, ['vm', 'ssh', 'web-1', '-l', 'ada', '--print'])).toMatchObject({
    code: 0,
    stdout: `ssh ${SSH_OPTIONS.join(' ')} -- ada@${ipAddress}\n`,
  })
  const other = await app.given.vm(customer, { hostname: 'off-1' })
  await customer.post(`/vms/${other.id}/stop`)
  await app.settle()
  expect(await berth(env, ['vm', 'ssh', 'off-1'])).toMatchObject({ code: 5, stderr: expect.stringContaining('berth vm start off-1') })
  await app.db.run(sql`update vms set status = 'ERROR', provisioned = false where id = ${other.id}`)
  const failed = await berth(env, ['vm', 'ssh', 'off-1'])
  expect(failed).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/off-1 is ERROR\. To rebuild it: berth vm rebuild off-1 --os \S+\n/),
  })
  await app.db.run(sql`update vms set status = 'STOPPED', provisioned = true where id = ${other.id}`)
})

test('vm ssh logs in to the rescue system as its user, with a host key for each rescue', async () => {
  const printed = async (): Promise<string> => (await berth(env, ['vm', 'ssh', 'web-1', '--print'])).stdout
  const alias = (text: string): string => /HostKeyAlias=(\S+)/.exec(text)![1]!
  const rescue = async (): Promise<string> => {
    const started = await app.whileWorking(berth(env, ['vm', 'rescue', 'web-1', '--password', 'rescue me 1', '--yes']))
    expect(started, started.stderr).toMatchObject({ code: 0 })
    expect(started.stderr).toContain(
      `To log in: berth vm ssh web-1, or ssh rescue@${ipAddress}. Its SSH host keys differ from those of the VM`,
    )
    const text = await printed()
    expect(text).toContain(` rescue@${ipAddress}\n`)
    return alias(text)
  }
  await app.db.run(sql`update os_templates set default_user = 'rescue' where slug = ${app.deps.config.rescueTemplate}`)
  const first = await rescue()
  expect(first).toMatch(new RegExp(`^berth-${id}-rescue-\\d+$`))
  expect((await app.whileWorking(berth(env, ['vm', 'rescue', 'web-1', '--end', '--yes']))).code).toBe(0)
  expect(await printed()).toBe(`ssh ${SSH_OPTIONS.join(' ')} -- root@${ipAddress}\n`)
  app.clock.advance('1m')
  expect(await rescue()).not.toBe(first)
  expect((await app.whileWorking(berth(env, ['vm', 'rescue', 'web-1', '--end', '--yes']))).code).toBe(0)
})

test('vm rescue of a VM without keys asks for one, or for a password, before anything is sent', async () => {
  const { code, stderr } = await berth(env, ['vm', 'rescue', 'web-1'])
  expect([code, stderr]).toEqual([2, 'Error: Nobody could log in to the rescue system of web-1: give --key or --password\n'])
})

test('vm create --from-backup takes a VM and the name of its backup, or an id', async () => {
  await berth(env, ['backup', 'create', 'web-1', 'monday', '--no-wait', '--yes'])
  await app.settle()
  const made = await berth(env, ['vm', 'create', 'copy-1', '--from-backup', 'web-1/monday', '--no-wait', '--yes'])
  expect(made, made.stderr).toMatchObject({ code: 0 })
  await app.settle()
  expect((await berth(env, ['vm', 'get', 'copy-1'])).stdout).toContain('RUNNING')
  const { id } = JSON.parse((await berth(env, ['backup', 'get', 'web-1', 'monday', '--json'])).stdout) as { id: string }
  expect(await berth(env, ['vm', 'create', 'copy-2', '--from-backup', id, '--dry-run'])).toMatchObject({ code: 0 })
  const refused = (...args: string[]) => berth(env, ['vm', 'create', 'copy-2', ...args])
  expect(await refused('--from-backup', 'monday')).toMatchObject({ code: 2, stderr: expect.stringContaining('<vm>/<backup>') })
  expect(await refused('--from-backup', id, '--os', 'debian-12')).toMatchObject({ code: 2, stderr: expect.stringContaining('not both') })
  expect(await refused()).toMatchObject({ code: 2, stderr: expect.stringContaining('--os is required') })
})

test('vm create --ipv6-only and vm ssh do without IPv4', async () => {
  const pool = { regionId: app.host.region_id, hostId: null, cidr: '2001:db8:9::/63', gateway: '2001:db8:9::1' }
  await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
  await berth(env, ['vm', 'create', 'six-1', '--os', 'debian-12', '--ipv6-only', '--no-wait', '--yes'])
  await app.settle()
  const { stdout } = await berth(env, ['vm', 'ssh', 'six-1', '--print'])
  expect(stdout).toContain('root@2001:db8:9:1::1\n')
  expect((await berth(env, ['vm', 'list'])).stdout).toMatch(/six-1 .* 2001:db8:9:1::1 /)
  expect((await berth(env, ['vm', 'get', 'six-1'])).stdout).toContain('2001:db8:9:1::1 of 2001:db8:9:1::/64')

  const named = await berth(env, ['vm', 'update', 'six-1', '--ipv6-reverse-name', 'six.example.com'])
  expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('This service has no reverse DNS') })
  await app.db.run(sql`insert into reverse_names (address, account_id, name, state, error, updated_at)
    values ('2001:db8:9:1::1', ${customer.accountId}, 'six.example.com', 'FAILED', 'no zone', ${app.clock.now()})`)
  expect((await berth(env, ['vm', 'get', 'six-1'])).stdout).toMatch(
    /^IPv6 reverse name +six\.example\.com\nIPv6 reverse name state +FAILED \(no zone\)$/m,
  )
})

test('vm console connects the terminal to the VM until Ctrl-]', async () => {
  const session = onTerminal(env, ['vm', 'console', 'web-1'])
  await expect.poll(session.text).toContain('web-1 login: ')
  session.type('root\r')
  await expect.poll(session.text).toContain('there is no shell behind this console')
  session.type('\x1d')
  expect(await session.ended).toMatchObject({ code: 0 })
})

test('webhook listen forwards events with a valid signature', async () => {
  const target = await receiver()
  const { child, output, ended } = start(env, ['webhook', 'listen', '--forward', target.url, '--event', 'vm.stopped,vm.restarted'])
  await expect.poll(() => output.stderr).toContain('Signing secret: whsec_')
  const [secret] = /whsec_\S+/.exec(output.stderr)!
  await expect.poll(() => app.app.server.listening).toBe(true)
  await expect
    .poll(async () => {
      await customer.post(`/vms/${id}/restart`)
      await app.settle()
      return target.received.length
    })
    .toBeGreaterThan(0)
  expect(verified(secret, target.received[0]!)).toMatchObject({ type: 'vm.restarted', data: { vm: { id } } })
  await expect.poll(() => output.stdout).toMatch(/vm\.restarted +200 /)
  child.kill('SIGINT')
  await ended
})

test('webhook listen refuses an unknown event type', async () => {
  const refused = await berth(env, ['webhook', 'listen', '--forward', 'http://127.0.0.1:9/', '--event', 'vm.stopped,vm.exploded'])
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no event type "vm.exploded". Event types: vm.created'),
  })
})

test('webhook listen -o json prints one JSON object per event with the response', async () => {
  const target = await receiver()
  const { child, output, ended } = start(env, [
    'webhook',
    'listen',
    '--forward',
    target.url,
    '--after',
    '0',
    '--event',
    'vm.created',
    '-o',
    'json',
  ])
  await expect.poll(() => output.stdout).toContain('\n')
  const [line] = output.stdout.split('\n')
  expect(JSON.parse(line!)).toMatchObject({ type: 'vm.created', cursor: expect.any(String), responseStatus: 200, error: null })
  child.kill('SIGINT')
  await ended
})

test('event tail --after prints past and new events as lines of JSON', async () => {
  const { child, output, ended } = start(env, ['event', 'tail', '--after', '0', '-o', 'json'])
  await expect.poll(() => output.stdout).toMatch(/"vm\.created".*\n.*"vm\.started"/)
  expect(JSON.parse(output.stdout.split('\n')[0]!)).toMatchObject({ cursor: '1' })
  child.kill('SIGTERM')
  await ended
})

test('event list --limit prints one page, and names the cursor of the next', async () => {
  const [all, page] = [await berth(env, ['event', 'list', '-o', 'name']), await berth(env, ['event', 'list', '--limit', '2', '-o', 'name'])]
  const names = all.stdout.trim().split('\n')
  expect([page.code, page.stdout.trim().split('\n')]).toEqual([0, names.slice(0, 2)])
  expect(page.stderr).toContain('There may be more: --after 2')
  const next = await berth(env, ['event', 'list', '--after', '2', '--limit', '1', '-o', 'name'])
  expect(next.stdout.trim()).toBe(names[2])
  expect((await berth(env, ['event', 'list', '--limit', 'many'])).code).toBe(2)
  expect(await berth(env, ['event', 'list', '--limit', '101'])).toMatchObject({ code: 2, stderr: expect.stringContaining('at most 100') })
})

test('maintenance list shows the names of VMs to people, and their ids to programs', async () => {
  const [startsAt, endsAt] = ['1h', '2h'].map((later) => addDuration(app.clock.now(), later))
  await app.db.tx((tx) =>
    announceMaintenance(tx, app.deps, { host: app.host.name, startsAt: startsAt!, endsAt: endsAt!, text: 'New power supply' }),
  )
  const [shown, data] = [await berth(env, ['maintenance', 'list']), await berth(env, ['maintenance', 'list', '--json'])]
  expect([shown.stdout, shown.stdout]).toEqual([
    expect.stringMatching(/SCHEDULED.*web-1.*New power supply/),
    expect.not.stringContaining(id),
  ])
  expect(JSON.parse(data.stdout)).toMatchObject([{ vmIds: expect.arrayContaining([id]) }])
  expect((await berth(env, ['event', 'list', '--limit', '100'])).stdout).toMatch(
    /maintenance\.announced +\d{4}-\d\d-\d\d \d\d:\d\d: New power supply/,
  )
})

test('api calls any operation and reports errors', async () => {
  const created = await berth(env, ['api', 'post', 'firewalls', '-d', '{"name":"web"}'])
  expect([created.code, JSON.parse(created.stdout)]).toMatchObject([0, { name: 'web' }])
  expect(await berth(env, ['api', 'POST', '/firewalls', '-d', 'name=web'])).toMatchObject({ code: 2 })
  expect(await berth(env, ['api', 'GET', '/firewalls/nothing'])).toMatchObject({ code: 4 })
})
