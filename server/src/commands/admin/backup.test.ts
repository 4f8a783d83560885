// A backup of a running installation, restored on an empty machine, serves the same data, tokens, secrets and open actions.
import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../../../test/openssh-keys.ts'
import { testDatabase } from '../../../test/harness.ts'
import {
  quickBerthd as berthd,
  quickBerthdJson as berthdJson,
  eventually,
  service,
  type Service,
  type Settings,
} from '../../../test/processes.ts'
import { receiver, verified } from '../../../test/receiver.ts'

const folder = await mkdtemp(join(tmpdir(), 'berth-archive-'))
afterAll(() => rm(folder, { recursive: true }))
const file = join(folder, 'backup.gz')
const common = { BERTH_PORT: '0', BERTH_METRICS_PORT: '0', BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' }
const before: Settings = { ...common, BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: join(folder, 'before') }
const after: Settings = { ...common, BERTH_DATA_DIR: join(folder, 'after') }

interface Answer {
  data: Record<string, string> & { id: string; vm: { id: string }; actionId: string }
}

const client = (url: string, token: string) => async (method: string, path: string, body?: object) => {
  const headers = { 'x-api-key': token, ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }) }
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return ((await response.json()) as Answer).data
}

const READS = ['/account', '/vms', '/wallet/transactions', '/ssh-keys', '/networks', '/firewalls', '/webhooks', '/events', '/actions']
const readAll = (call: ReturnType<typeof client>) => Promise.all(READS.map((path) => call('GET', path)))

let token: string
let target: Awaited<ReturnType<typeof receiver>>
let webhook: Record<string, string> & { id: string }
let seen: unknown[]
let vmId: string
let joinToken: string

/** The authority by which the hosts of an installation know it. */
async function authorityOf(settings: Settings): Promise<string> {
  const out = join(folder, `bundle-${randomUUID()}`)
  await berthdJson(settings, 'host', 'certificate', '--address', '10.0.0.5', '--out', out)
  return (JSON.parse(await readFile(out, 'utf8')) as { ca: string }).ca
}
let authority: string

/** Creates a customer with one resource of each kind. */
async function populate(up: Service): Promise<void> {
  await berthdJson(before, 'account', 'create', '--email', 'ada@example.com')
  await berthdJson(before, 'account', 'credit', '--account', 'ada@example.com', '--amount', '100.00')
  token = (await berthdJson(before, 'token', 'create', '--account', 'ada@example.com', '--name', 't', '--scopes', '*'))['token']!
  const call = client(up.url, token)
  const [[region], template] = [
    (await call('GET', '/regions')) as unknown as { id: string }[],
    await call('GET', '/os-templates/debian-12'),
  ]
  target = await receiver()
  webhook = await call('POST', '/webhooks', { url: target.url, events: ['vm.created'] })
  const key = await call('POST', '/ssh-keys', { name: 'laptop', publicKey: generateKey().line })
  const network = await call('POST', '/networks', { name: 'net', nodeId: region!.id, cidr: '10.0.0.0/24' })
  const firewall = await call('POST', '/firewalls', { name: 'fw', description: 'a\ttab, a \\ and a\nline' })
  await call('POST', `/firewalls/${firewall.id}/rules`, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22' })
  const { vm, actionId } = await call('POST', '/vms', {
    regionId: region!.id,
    osTemplateId: template.id,
    hostname: 'web-1',
    sshKeyIds: [key.id],
    firewallIds: [firewall.id],
    privateNetworkIds: [network.id],
    dailyBackupEnabled: true,
  })
  vmId = vm.id
  await eventually(async () => (await call('GET', `/vms/${vmId}/actions/${actionId}?wait=10`))['status'] === 'COMPLETED', 60_000)
  await call('PATCH', `/vms/${vmId}`, { backupPolicy: { hour: 3 } })
  await eventually(async () => (await call('GET', `/webhooks/${webhook.id}`))['lastSuccessAt'] !== null) // its events are delivered beside
}

beforeAll(async () => {
  const up = await service(before, 'up')
  await populate(up)
  seen = await readAll(client(up.url, token))
  authority = await authorityOf(before)
  joinToken = (await berthdJson(before, 'join-token'))['token']!
  await berthdJson(before, 'backup', file)
  await up.kill('SIGTERM')
}, 180_000)

test('a backup has mode 0600, names the key to keep and overwrites nothing', async () => {
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await berthd(before, 'backup', file)).toMatchObject({ code: 2 })
  expect(await berthd(before, 'backup', `${file}.both`, '--target')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('either a file or --target'),
  })
  expect(await berthd(before, 'restore')).toMatchObject({ code: 2, stderr: expect.stringContaining('either a file or --from') })
  const { stdout } = await berthd(before, 'backup', `${file}.second`)
  expect(stdout).toContain(join(folder, 'before/master.key'))
})

describe('restore', () => {
  test('rejects a truncated file and a foreign file before it writes anything', async () => {
    const bytes = await readFile(file)
    await writeFile(`${file}.cut`, bytes.subarray(0, bytes.length - 100))
    await writeFile(`${file}.other`, 'hello')
    const here = { ...after, BERTH_MASTER_KEY_FILE: join(folder, 'before/master.key') }
    for (const path of [`${file}.cut`, `${file}.other`])
      expect(await berthd(here, 'restore', path)).toMatchObject({ code: 1, stderr: expect.stringMatching(/is damaged or cut off/) })
    await expect(readdir(after['BERTH_DATA_DIR']!)).rejects.toThrow('ENOENT')
  })

  test('fails without the key that encrypts the secrets', async () => {
    expect(await berthd(after, 'restore', file)).toMatchObject({ code: 1, stderr: expect.stringMatching(/master\.key is missing/) })
    const elsewhere = { ...before, BERTH_DATA_DIR: join(folder, 'elsewhere') }
    expect(await berthdJson(elsewhere, 'backup', `${file}.elsewhere`)).toMatchObject({ authenticated: false }) // it does not have the key
    expect(await berthd(after, 'restore', `${file}.elsewhere`)).toMatchObject({ code: 1, stderr: expect.stringMatching(/is missing/) })
    const here = { ...after, BERTH_MASTER_KEY_FILE: join(folder, 'before/master.key') }
    expect(await berthd(here, 'restore', `${file}.elsewhere`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/without the master key: nothing authenticates it/),
    })
    const target = ['restore', '--from', 'http://127.0.0.1:9/bucket', '--access-key', 'AK', '--secret-file', file]
    const missing = await berthd(after, ...target)
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/master\.key is missing. Put it there first: (?!.*--without-key)/),
    ])
    expect(await berthd(here, ...target, '--without-key')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs the master key'),
    })
  })

  test('fails on a database that is not empty', async () => {
    expect(await berthd(before, 'restore', file)).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not empty/) })
  })

  test('restores everything on an empty machine, where Berth continues to run', { timeout: 180_000 }, async () => {
    await mkdir(after['BERTH_DATA_DIR']!, { recursive: true })
    await copyFile(join(folder, 'before/master.key'), join(folder, 'after/master.key'))
    expect(await berthdJson(after, 'restore', file)).toMatchObject({ rows: expect.any(Number) })
    const up = await service(after, 'up')
    const call = client(up.url, token)
    expect(await readAll(call)).toEqual(seen)
    expect(await authorityOf(after)).toBe(authority)
    await call('POST', `/webhooks/${webhook.id}/test`)
    expect(verified(webhook['secret']!, target.received.at(-1)!)).toMatchObject({ type: 'webhook.test' })
    const { actionId } = await call('POST', `/vms/${vmId}/stop`, { force: true })
    await eventually(async () => (await call('GET', `/vms/${vmId}/actions/${actionId}?wait=10`))['status'] === 'COMPLETED', 60_000)
    expect(await up.kill('SIGTERM')).toBe(0)
  })

  test('restores no token that gives away the master key', async () => {
    const text = gunzipSync(await readFile(file), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1')
    expect([text.includes('pki_files'), text.includes('join_tokens')]).toEqual([true, false])
    expect(text).not.toContain(joinToken)
  })

  test('restores without the key on request and then uses a new key', { timeout: 180_000 }, async () => {
    const without = { ...common, BERTH_DATA_DIR: join(folder, 'without') }
    await berthdJson(without, 'restore', file, '--without-key')
    const up = await service(without, 'up')
    expect(await client(up.url, token)('GET', '/account')).toMatchObject({ email: 'ada@example.com' })
    expect(await berthd(without, 'doctor', 'key')).toMatchObject({ code: 0 })
    expect(await authorityOf(without)).not.toBe(authority)
    await up.kill('SIGTERM')
  })
})
