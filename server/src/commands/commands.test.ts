import { execFileSync } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../test/harness.ts'
import {
  quickBerthd as berthd,
  quickBerthdJson as berthdJson,
  cleanEnvironment,
  type Outcome,
  type Settings,
} from '../../test/processes.ts'
import { openDb, sql } from '../kernel/database/db.ts'
import { createProgram, forEach } from './program.ts'

let settings: Settings
let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-commands-'))
  settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: dataDir, BERTH_PORT: '0' }
})
afterAll(() => rm(dataDir, { recursive: true }))

const run = (...args: string[]): Promise<Outcome> => berthd(settings, ...args)
const json = <T = Record<string, string>>(...args: string[]): Promise<T> => berthdJson<T>(settings, ...args)

/** A new account, named after the test that uses it. */
async function account(name: string): Promise<{ id: string; email: string }> {
  const { id, email } = await json('account', 'create', '--email', `${name}@example.com`)
  return { id: id!, email: email! }
}

describe('berthd account', { timeout: 120_000 }, () => {
  test('creates an account once', async () => {
    const made = await json('account', 'create', '--email', 'once@example.com', '--name', 'Ada')
    expect(made).toMatchObject({ id: expect.stringMatching(/^c/), email: 'once@example.com', name: 'Ada' })
    const again = await run('account', 'create', '--email', 'ONCE@example.com', '--json')
    expect(again).toEqual({ code: 1, stdout: '', stderr: '{"error":"There is already an account for ONCE@example.com"}\n' })
    const bad = await run('account', 'create', '--email', 'nobody')
    expect(bad).toEqual({ code: 1, stdout: '', stderr: '"nobody" is not an e-mail address\n' })
  })

  test('credits by id or email and rejects an invalid amount', async () => {
    const { id, email } = await account('money')
    expect(await json('account', 'credit', '--account', email, '--amount', '100.00')).toMatchObject({ account: id, balance: '100.00' })
    expect(await json('account', 'credit', '--account', id, '--amount', '0.5', '--reason', 'gift')).toMatchObject({ balance: '100.50' })
    const refused = await Promise.all(
      ['-5', '0', '1.234', 'abc', ''].map((amount) => run('account', 'credit', '--account', id, '--amount', amount)),
    )
    for (const { code, stdout, stderr } of refused) {
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^(Amount must be more than 0.00|".*" is not an amount of money such as 12 or 12.50)\n$/)
    }
    const accounts = await json<{ email: string; balance: string }[]>('account', 'list')
    expect(accounts.find((each) => each.email === email)).toMatchObject({ balance: '100.50', currency: 'USD' })
  })

  test('reports an unknown account', async () => {
    const { code, stderr } = await run('account', 'credit', '--account', 'nobody@example.com', '--amount', '1')
    expect([code, stderr]).toEqual([1, 'Account nobody@example.com not found\n'])
  })

  test.each(['vm', 'payment', 'token', 'action', 'ticket'])(
    'an unknown --account is an error, not an empty list: %s list',
    async (resource) => {
      const { code, stdout, stderr } = await run(resource, 'list', '--account', 'typo@example.com')
      expect([code, stdout, stderr]).toEqual([1, '', 'Account typo@example.com not found\n'])
    },
  )

  test('changes a limit and resets it', async () => {
    const { email } = await account('limits')
    const limit = (name: string, value: string) => ['account', 'limit', '--account', email, '--name', name, '--value', value]
    expect(await json(...limit('vms', '50'))).toMatchObject({ name: 'vms', limit: 50, used: 0 })
    expect(await json(...limit('vms', 'default'))).toMatchObject({ limit: 10 })
    expect(await json(...limit('snapshots_per_vm', '6'))).toMatchObject({ limit: 6, used: null })
    const [unknown, negative] = await Promise.all([run(...limit('ships', '1')), run(...limit('vms', '-1'))])
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/^There is no limit named "ships". The limits are: .*\bvms\b/),
    ])
    expect([negative.code, negative.stderr]).toEqual([1, expect.stringContaining('must be a whole number')])
  })
})

describe('berthd token', { timeout: 120_000 }, () => {
  test('shows the secret at creation and never again', async () => {
    const { email } = await account('token')
    const options = ['--expires-at', '2999-12-31', '--rate-limit', '1200', '--allow-ip', '127.0.0.1', '10.0.0.0/8']
    const made = await json('token', 'create', '--account', email, '--name', 'ci', '--scopes', 'vms:read, wallet:read', ...options)
    expect(made['token']).toMatch(/^vmk_[0-9A-Za-z]{46}$/)
    const listed = await run('token', 'list', '--account', email, '--json')
    expect(listed.stdout).not.toContain(made['token'])
    expect(JSON.parse(listed.stdout)).toEqual([
      {
        id: made['id'],
        account: email,
        name: 'ci',
        prefix: made['token']!.slice(0, 12),
        status: 'active',
        scopes: ['vms:read', 'wallet:read'],
        rateLimit: 1200,
        allowedIps: ['127.0.0.1', '10.0.0.0/8'],
        expiresAt: '2999-12-31T00:00:00.000Z',
        lastUsedAt: null,
        lastUsedIp: null,
        createdAt: expect.any(String),
      },
    ])
  })

  test('gets a higher ceiling and address ranges, and keeps its secret', async () => {
    const { email } = await account('ceiling')
    const { id } = await json('token', 'create', '--account', email, '--name', 'n', '--scopes', '*')
    const limits = async () => ((await json('token', 'list', '--account', email)) as unknown as object[])[0]
    expect(await json('token', 'set', id!, '--rate-limit', '5000')).toEqual({ id, name: 'n', rateLimit: 5000, allowedIps: [] })
    await json('token', 'set', id!, '--allow-ip', '10.0.0.0/8', '2001:db8::/32')
    expect(await limits()).toMatchObject({ rateLimit: 5000, allowedIps: ['10.0.0.0/8', '2001:db8::/32'], status: 'active' })
    await json('token', 'set', id!, '--allow-any-ip', '--rate-limit', '600')
    expect(await limits()).toMatchObject({ rateLimit: 600, allowedIps: [] })
    const refused = await Promise.all([
      run('token', 'set', id!),
      run('token', 'set', id!, '--rate-limit', '0'),
      run('token', 'set', id!, '--allow-ip', '10.0.0.0/99'),
      run('token', 'set', id!, '--allow-ip', '10.0.0.1', '--allow-any-ip'),
      run('token', 'set', 'cnobody', '--rate-limit', '5'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([2, 1, 1, 2, 1])
    expect(refused.at(-1)!.stderr).toBe('Token not found\n')
  })

  test('is revoked, then deleted', async () => {
    const { email } = await account('revoke')
    const { id } = await json('token', 'create', '--account', email, '--name', 'n', '--scopes', '*')
    expect(await json('token', 'revoke', id!, '--yes')).toEqual({ id, name: 'n', status: 'revoked' })
    expect(await json('token', 'list', '--account', email)).toMatchObject([{ status: 'revoked' }])
    expect(await json('token', 'delete', id!, '--yes')).toEqual({ id, name: 'n', status: 'deleted' })
    expect(await json('token', 'list', '--account', email)).toEqual([])
    expect(await run('token', 'delete', id!, '--yes')).toMatchObject({ code: 1, stderr: 'Token not found\n' })
  })

  test('rejects invalid options', async () => {
    const { email } = await account('nonsense')
    const create = (...options: string[]) => run('token', 'create', '--account', email, '--name', 'n', ...options)
    const refused = await Promise.all([
      create('--scopes', 'ships:sink'),
      create('--scopes', '*', '--expires-at', '2030-02-30'),
      create('--scopes', '*', '--expires-at', '2001-01-01'),
      create('--scopes', '*', '--rate-limit', 'many'),
      create('--scopes', '*', '--allow-ip', '300.1.1.1'),
      create('--scopes', '*', '--allow-ip', '10/8'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([1, 1, 1, 1, 1, 1])
    expect(refused.map(({ stderr }) => stderr.split(/[.:]/)[0])).toEqual([
      '"ships',
      '"2030-02-30" is not a time such as 2030-01-31 or 2030-01-31T12',
      'The expiry lies in the past\n',
      'The rate limit must be 1-1000000 requests a minute\n',
      '"300',
      '"10/8" is neither an IP address nor a range such as 10',
    ])
    expect(await json('token', 'list', '--account', email)).toEqual([])
  })
})

describe('berthd host and plan', { timeout: 120_000 }, () => {
  test('lists hosts and plans', async () => {
    const [hosts, plans] = await Promise.all([json('host', 'list'), run('plan', 'list')])
    expect(hosts).toMatchObject([{ name: 'local', region: 'fra1', driver: 'simulated' }])
    expect(
      plans.stdout
        .split('\n')
        .slice(0, 3)
        .map((line) => line.split(/\s+/)[0]),
    ).toEqual(['SLUG', 'nano', 'small'])
  })

  test('adds, lists and changes regions', async () => {
    const place = ['--name', 'Amsterdam 1', '--country', 'NL', '--city', 'Amsterdam']
    const added = await json<Record<string, unknown>>('region', 'add', 'ams1', ...place, '--available', 'false')
    expect(added).toMatchObject({ slug: 'ams1', name: 'Amsterdam 1', country: 'NL', flag: '🇳🇱', city: 'Amsterdam', available: false })
    expect(await json('region', 'set', 'ams1', '--name', 'Amsterdam')).toEqual({ ...added, name: 'Amsterdam' })
    expect((await json<{ slug: string }[]>('region', 'list')).map(({ slug }) => slug)).toEqual(['fra1', 'ams1'])
    const db = openDb({ url: settings['BERTH_DATABASE_URL']!, maxConnections: 1, onError: () => {} })
    await db.run(sql`update regions set network_controller = 'ssl:10.0.1.1' where slug = 'ams1'`).finally(() => db.close())
    const recovering = await json('region', 'set', 'ams1', '--lost-after', '30', '--auto-recovery', 'true')
    expect(recovering).toMatchObject({ lostAfter: 30, autoRecovery: true })
    expect((await run('region', 'list')).stdout).toMatch(
      /NETWORK CONTROLLER +LOST AFTER +AUTO RECOVERY\n.* true +- +60 +false\n.* false +ssl:10\.0\.1\.1 +30 +true\n$/,
    )
    const { stdout } = await run('region', 'add', 'ams3', ...place, '--available', 'false')
    expect(stdout).toMatch(/Next: npx berthd region set ams3 --network-controller .* npx berthd host add <uri> --region ams3\n$/)
    const refused = await Promise.all([
      run('region', 'add', 'ams1', ...place),
      run('region', 'add', 'Bad', ...place),
      run('region', 'add', 'ams2', '--name', 'x'),
      run('region', 'set', 'ams1'),
      run('region', 'set', 'ams1', '--available', 'perhaps'),
      run('region', 'set', 'nowhere', '--name', 'x'),
      run('region', 'set', 'ams1', '--lost-after', '5'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([1, 1, 2, 2, 2, 1, 1])
  })

  test('sets link speed, overcommit, traits and dedicated CPUs of a host', async () => {
    expect(await json('host', 'set', 'local', '--uplink-mbps', '1000')).toMatchObject({ uplinkMbps: 1000 })
    expect((await run('host', 'set', 'local', '--uplink-mbps', 'fast')).code).toBe(1)
    expect(await json('host', 'set', 'local', '--uplink-mbps', '10000')).toMatchObject({ uplinkMbps: 10_000 })
    const ratios = await json('host', 'set', 'local', '--cpu-overcommit', '3', '--ram-overcommit', '1.5')
    expect(ratios).toMatchObject({ overcommit: 3, ramOvercommit: 1.5 })
    expect(await json('host', 'set', 'local', '--overcommit', '4', '--ram-overcommit', '1')).toMatchObject({
      overcommit: 4,
      ramOvercommit: 1,
    })
    expect(await json('host', 'set', 'local', '--trait', 'gpu', '--trait', 'nvme')).toMatchObject({ traits: ['gpu', 'nvme', '10g'] })
    expect(await json('host', 'set', 'local', '--no-trait', 'nvme', '--dedicated-cpus', '1')).toMatchObject({
      traits: ['gpu', '10g', 'dedicated-cpu'],
      dedicatedCpus: '1',
    })
    const hosts = await run('host', 'list')
    expect(hosts.stdout).toMatch(/DEDICATED CPUS.*TRAITS/)
    expect(hosts.stdout).toContain('gpu 10g dedicated-cpu')
    expect(await json('host', 'set', 'local', '--no-trait', 'gpu', '--dedicated-cpus', 'none')).toMatchObject({ traits: ['10g'] })
    for (const wrong of [
      ['--no-trait', 'gpu'],
      ['--trait', '10g'],
      ['--dedicated-cpus', '9999'],
      ['--dedicated-cpus', 'all'],
    ])
      expect((await run('host', 'set', 'local', ...wrong)).code, wrong.join(' ')).not.toBe(0)
  })

  test('sets and lifts the disk limits of a plan', async () => {
    const limited = await json('plan', 'set', 'large', '--disk-iops', '500', '--disk-mib-per-second', '50')
    expect(limited).toMatchObject({ diskIops: 500, diskMiBPerSecond: 50 })
    const special = await json('plan', 'set', 'large', '--dedicated-cpu', 'true', '--trait', 'gpu')
    expect(special).toMatchObject({ dedicatedCpu: true, traits: ['gpu'] })
    expect(await json('plan', 'set', 'large', '--dedicated-cpu', 'false', '--no-trait', 'gpu')).toMatchObject({
      dedicatedCpu: false,
      traits: [],
    })
    const lifted = await json('plan', 'set', 'large', '--disk-iops', 'none', '--disk-mib-per-second', 'none')
    expect(lifted).toMatchObject({ diskIops: null, diskMiBPerSecond: null })
  })

  test('adds a plan, which customers can buy', async () => {
    const size = ['--vcpu', '2', '--ram', '2048', '--disk', '20', '--price', '9.50']
    const added = await json<{ id: string }>(
      'plan',
      'add',
      'd2',
      ...size,
      '--name',
      'Dedicated 2',
      '--dedicated-cpu',
      'true',
      '--trait',
      'gpu',
    )
    expect(added).toMatchObject({
      slug: 'd2',
      name: 'Dedicated 2',
      vcpu: 2,
      ram: 2048,
      disk: 20,
      storage: 'LOCAL',
      bandwidth: 0,
      networkSpeed: 1000,
      priceMonthly: '9.50',
      dedicatedCpu: true,
      traits: ['gpu'],
      diskIops: null,
      available: true,
      regions: expect.arrayContaining(['fra1']),
    })
    const local = await json('plan', 'add', 'plain', ...size, '--region', 'fra1', '--storage', 'REPLICATED', '--disk-iops', '500')
    expect(local).toMatchObject({ name: 'plain', storage: 'REPLICATED', diskIops: 500, dedicatedCpu: false, regions: ['fra1'] })
    expect((await run('plan', 'list')).stdout).toContain('Dedicated 2')
    const refused = await Promise.all([
      run('plan', 'add', 'd2', ...size),
      run('plan', 'add', 'custom', ...size),
      run('plan', 'add', 'No Slug', ...size),
      run('plan', 'add', 'x', ...size.slice(0, 6)),
      run('plan', 'add', 'x', ...size.slice(0, 6), '--price', '-1'),
      run('plan', 'add', 'x', '--vcpu', '65', ...size.slice(2)),
      run('plan', 'add', 'x', ...size, '--region', 'atlantis'),
      run('plan', 'add', 'x', ...size, '--storage', 'TAPE'),
      run('plan', 'add', 'x', ...size, '--trait', 'Not One'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([1, 1, 1, 2, 1, 1, 1, 2, 1])
    expect(refused[5]!.stderr).toContain('must be 1-64')
    expect(await json<{ slug: string }[]>('plan', 'list')).not.toContainEqual(expect.objectContaining({ slug: 'x' }))
  })

  test('changes only the given fields of a plan', async () => {
    const before = (await json<Record<string, unknown>[]>('plan', 'list')).find(({ slug }) => slug === 'large')!
    const after = await json('plan', 'set', 'large', '--price', '30.00', '--available', 'false')
    expect(after).toEqual({ ...before, priceMonthly: '30.00', available: false })
    const refused = await Promise.all([
      run('plan', 'set', 'large', '--price', '-1'),
      run('plan', 'set', 'large', '--available', 'perhaps'),
      run('plan', 'set', 'large'),
      run('plan', 'set', 'yacht', '--price', '1'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([1, 2, 2, 1])
    expect((await json<Record<string, unknown>[]>('plan', 'list')).find(({ slug }) => slug === 'large')).toEqual(after)
  })
})

describe('berthd doctor', { timeout: 120_000 }, () => {
  test('passes, then reports a key that other users can read', async () => {
    const first = await json<{ ok: boolean; checks: { check: string; status: string }[] }>('doctor')
    expect(first.ok).toBe(true)
    const statusOf = (name: string) => first.checks.find(({ check }) => check === name)?.status
    expect(['node', 'data', 'database', 'migrations', 'clock', 'port'].map(statusOf)).toEqual(Array(6).fill('ok'))
    expect(statusOf('key')).toBe('warning')
    const key = join(dataDir, 'master.key')
    await writeFile(key, 'ab'.repeat(32))
    await chmod(key, 0o644)
    const second = await run('doctor', 'key')
    expect(second).toEqual({ code: 1, stdout: ` ✗ other users can read the master key ${key}\n     chmod 600 ${key}\n`, stderr: '' })
    await chmod(key, 0o600)
    expect(await run('doctor', 'key')).toMatchObject({ code: 0, stdout: ` ✓ master key ${key}\n` })
  })

  test('reports an unreachable database without its password', async () => {
    const away = { ...settings, BERTH_DATABASE_URL: 'postgres://berth:hunter2@127.0.0.1:1/berth' }
    const { code, stdout } = await berthd(away, 'doctor', 'database')
    expect(code).toBe(1)
    expect(stdout).toContain('✗ The database cannot be reached')
    expect(stdout).not.toContain('hunter2')
  })
})

describe('berthd', { timeout: 120_000 }, () => {
  test('reports wrong usage and exits with 2', async () => {
    const wrong = await Promise.all([
      run('sail'),
      run('account', 'sail', '--json'),
      run('account', 'credit'),
      run('doctor', 'sails'),
      berthd({ BERTH_SAILS: '3' }, 'doctor'),
    ])
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2])
    expect(wrong.map(({ stderr }) => stderr.split('\n')[0])).toEqual([
      "unknown command 'sail'",
      `{"error":"unknown command 'sail'"}`,
      "required option '--account <id or email>' not specified",
      expect.stringMatching(/^There is no check named "sails". The checks are: node, /),
      expect.stringMatching(/^Unknown setting BERTH_SAILS. /),
    ])
  })

  test('shows an example with every command', async () => {
    const lacking: string[] = []
    forEach(createProgram(false), (command) => {
      const { listenerCount } = command as unknown as EventEmitter // addHelpText adds a listener
      if (command.commands.length === 0 && listenerCount.call(command, 'afterHelp') === 0) lacking.push(command.name())
    })
    expect(lacking).toEqual([])
    const { code, stdout } = await run('account', 'credit', '--help')
    expect([code, stdout]).toEqual([0, expect.stringContaining('Example:\n  $ npx berthd account credit --account you@example.com')])
  })

  test('names itself as the wrapper of a package says: there npx would run a package of somebody else', async () => {
    const installed = { ...settings, BERTHD_COMMAND: 'sudo berthd' }
    const help = await berthd(installed, 'host', 'prepare', '--help')
    const error = await berthd(installed, 'vm', 'migrate', 'nonesuch')
    const json = await berthd(installed, 'vm', 'migrate', 'nonesuch', '--json')
    expect([help.stdout, error.stderr, json.stderr]).toEqual([
      expect.stringContaining('  $ sudo berthd host prepare'),
      expect.stringContaining('sudo berthd vm list shows them'),
      expect.stringContaining('sudo berthd vm list shows them'),
    ])
    expect(help.stdout + error.stderr + json.stderr).not.toContain('npx')
  })

  test('does not load the libraries of the API, nor the features of VMs', () => {
    const program = `
      const loaded = new Set()
      module.registerHooks({ load: (url, context, next) => (loaded.add(/(?:node_modules|src.features).([^/]+)/.exec(url)?.[1]), next(url, context)) })
      await import(${JSON.stringify(new URL('./program.ts', import.meta.url).href)})
      console.log(JSON.stringify([...loaded]))`
    const loaded = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '--eval', `import * as module from 'node:module';${program}`], {
        encoding: 'utf8',
      }),
    )
    for (const light of ['commander', 'hosts']) expect(loaded).toContain(light)
    for (const heavy of ['fastify', 'typebox', 'pg-boss', 'pino', 'redis', 'undici', 'vms']) expect(loaded).not.toContain(heavy)
  })
})

describe('destructive commands', { timeout: 120_000 }, () => {
  const DESTRUCTIVE = [
    ['token', 'revoke', 'x'],
    ['token', 'delete', 'x'],
    ['host', 'remove', 'x'],
    ['certificate', 'revoke', 'x'],
    ['certificate', 'replace-authority', 'chassis'],
    ['host', 'recover', 'x', '--destroyed'],
    ['host', 'fence', 'x'],
    ['ip-pool', 'remove', 'x'],
    ['storage', 'remove', 'x'],
    ['template', 'remove', 'x'],
    ['backup-target', 'remove'],
    ['host', 'drain', 'x', '--stop-others'],
    ['vm', 'suspend', 'x'],
    ['vm', 'unmanage', 'x'],
    ['vm', 'unrescue', 'x'],
    ['user', 'set', 'x', '--without-totp'],
    ['identity-provider', 'remove', 'x'],
  ]

  test('are those that take --yes', () => {
    const found: string[] = []
    forEach(createProgram(false), (command) => {
      if (command.options.some(({ long }) => long === '--yes')) found.push(`${command.parent!.name()} ${command.name()}`)
    })
    expect(found.toSorted()).toEqual(DESTRUCTIVE.map(([group, name]) => `${group} ${name}`).toSorted())
  })

  test('change nothing without a terminal and without --yes', async () => {
    const { id } = await json('token', 'create', '--account', (await account('keeps')).email, '--name', 'n', '--scopes', '*')
    for (const args of [...DESTRUCTIVE, ['token', 'delete', id!]])
      expect([args, await run(...args)]).toEqual([
        args,
        {
          code: 2,
          stdout: '',
          stderr: expect.stringMatching(/Nothing was changed: without a terminal, add --yes to confirm\. What that would mean: .+\n$/),
        },
      ])
    expect((await json<{ id: string }[]>('token', 'list')).map((token) => token.id)).toContain(id)
  })

  test('ask on a terminal', async () => {
    const { id } = await json('token', 'create', '--account', (await account('asked')).email, '--name', 'n', '--scopes', '*')
    const command = `${process.execPath} ${join(import.meta.dirname, '../../bin/berthd.mjs')} token delete ${id}`
    const onTerminal = (answer: string): string =>
      execFileSync('sh', ['-c', `(sleep 2; echo ${answer}) | script -qec '${command}' /dev/null || true`], {
        env: { ...cleanEnvironment(), ...settings },
        encoding: 'utf8',
      })
    expect(onTerminal('n')).toMatch(/stops working, and the token is forgotten\. Continue\? \[y\/N\].*Cancelled\. Nothing was changed/s)
    expect(onTerminal('y')).toContain('is deleted')
  })
})

test('-o json is --json, in errors too', async () => {
  const [long, short] = [await run('plan', 'list', '--json'), await run('plan', 'list', '-o', 'json')]
  expect(short).toEqual(long)
  expect(await run('vm', 'list', '--account', 'nobody@example.com', '-o', 'json')).toMatchObject({
    code: 1,
    stderr: '{"error":"Account nobody@example.com not found"}\n',
  })
  expect(await run('plan', 'list', '-o', 'xml')).toMatchObject({ code: 2 })
})
