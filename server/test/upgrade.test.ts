// The product is upgraded while VMs run and one is being built: the schema changes under the old version, the processes are replaced one by
// one, nothing stops and nothing is lost. And what a real older release left behind is taken over by this one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { openCore } from '../src/compose.ts'
import { readConfig } from '../src/config.ts'
import { checkInvariants, formatFailures } from '../src/invariants/check.ts'
import { createLog } from '../src/kernel/log.ts'
import { testDatabase } from './harness.ts'
import { nextRelease } from './next-release.ts'
import { BALANCE, olderRelease, TOKEN, VM_ID } from './older-release/older-release.ts'
import { receiver } from './receiver.ts'
import { berthd, berthdAt, berthdJson, eventually, service, type Settings } from './processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-upgrade-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings: Settings = {
  BERTH_DATABASE_URL: await testDatabase(),
  BERTH_DATA_DIR: join(folder, 'data'),
  BERTH_PORT: '0',
  BERTH_METRICS_PORT: '0',
}

/** Each is read by statements that the old processes have prepared. */
const CHANGED = ['workflow_runs', 'hosts', 'vms']

/** The same product with one more migration. */
function withOneMore() {
  const release = nextRelease(join(folder, 'next'))
  const text = CHANGED.map((table) => `alter table ${table} add column of_next_release text not null default 'new';\n`).join('')
  release.write('migrations/9999_next.sql', text)
  return release
}

async function ask<Row extends object>({ BERTH_DATABASE_URL }: Settings, question: string, given: string[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: BERTH_DATABASE_URL })
  await client.connect()
  const { rows } = await client.query<Row>(question, given)
  await client.end()
  return rows
}

/** The power state of the machine and its number of starts, from its host. */
const lifeOf = (vmId: string, where: Settings) => ask(where, 'select power, epoch from simulated.machines where vm_id = $1', [vmId])

interface Data {
  id: string
  status: string
  vm: { id: string }
  actionId: string
}

const caller =
  (url: string, token: string) =>
  async <T = Data>(path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<T> => {
    const headers = { 'x-api-key': token, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${url}${path}`, { headers, method, ...(body && { body: JSON.stringify(body) }) })
    if (response.status >= 500) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: T }).data
  }
type Call = ReturnType<typeof caller>

const ended = (call: Call, vmId: string, actionId: string) =>
  eventually(async () => (await call(`/vms/${vmId}/actions/${actionId}?wait=5`)).status === 'COMPLETED', 90_000)

test('VMs keep running during an upgrade, and the new version finishes open actions', { timeout: 240_000 }, async () => {
  const [oldApi, oldWorker] = [await service(settings, 'api'), await service(settings, 'worker')]
  await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
  await berthdJson(settings, 'account', 'credit', '--account', 'ada@example.com', '--amount', '100.00')
  const { token } = await berthdJson(settings, 'token', 'create', '--account', 'ada@example.com', '--name', 't', '--scopes', '*')
  const before = caller(oldApi.url, token!)
  const [region] = await before<{ id: string }[]>('/regions')
  const { id: osTemplateId } = await before('/os-templates/debian-12')
  const create = (hostname: string) => before('/vms', { regionId: region!.id, osTemplateId, hostname })
  const running = await create('web-1')
  await ended(before, running.vm.id, running.actionId)
  const asStarted = await lifeOf(running.vm.id, settings)

  const next = withOneMore()
  const inProgress = await create('web-2')
  expect((await berthdAt(next.program, settings, 'migrate')).stdout).toContain('applied 9999_next')
  // The old processes go on with the statements that their connections have prepared for the tables as they were.
  expect((await before(`/vms/${running.vm.id}`)).status).toBe('RUNNING')
  const beside = await create('web-3')
  await ended(before, beside.vm.id, beside.actionId)
  for (const process of [oldApi, oldWorker]) expect(process.output()).not.toContain('cached plan')
  expect((await fetch(new URL('/readyz', oldApi.url))).status).toBe(200)

  expect(await oldWorker.kill('SIGTERM')).toBe(0)
  const newWorker = await service(settings, 'worker', next.program)
  const newApi = await service(settings, 'api', next.program)
  expect(await oldApi.kill('SIGTERM')).toBe(0)
  const after = caller(newApi.url, token!)
  await ended(after, inProgress.vm.id, inProgress.actionId)

  for (const { vm } of [running, inProgress, beside]) expect((await after(`/vms/${vm.id}`)).status).toBe('RUNNING')
  expect(await lifeOf(running.vm.id, settings)).toEqual(asStarted)
  const { code, stdout } = await berthd(settings, 'migrate')
  expect([code, stdout]).toEqual([0, expect.stringContaining('A newer version has added 9999_next, with which this version works')])
  await Promise.all([newApi.kill('SIGTERM'), newWorker.kill('SIGTERM')])
})

interface Listed {
  id: string
  name: string
  status: string
}

/** Invariant violations, when everything has come to rest. */
async function brokenAfter(older: Settings): Promise<string> {
  const core = await openCore(readConfig(older), older['BERTH_DATABASE_URL']!, createLog({ level: 'silent', pretty: false }), {
    worker: false,
  })
  let broken = ''
  const whole = async (): Promise<boolean> => (broken = formatFailures(await checkInvariants(core.deps))) === ''
  await eventually(whole, 60_000).catch(() => undefined)
  await core.close()
  return broken
}

test('this release takes over the data of an older one: VMs keep running, actions end, balances match', { timeout: 300_000 }, async () => {
  const dataDir = join(folder, 'older')
  const older = {
    ...settings,
    BERTH_DATA_DIR: dataDir,
    BERTH_DATABASE_URL: await olderRelease(dataDir),
    BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
  }
  const asStarted = await lifeOf(VM_ID, older)
  expect(asStarted).toMatchObject([{ power: 'running' }])
  const inProgress = await ask<{ id: string; vm_id: string; label: string }>(
    older,
    'select id, subject_id as vm_id, label from workflow_runs where completed_at is null order by label',
  )
  expect(inProgress.map(({ label }) => label)).toEqual(['CREATE', 'STOP'])
  const up = await service(older, 'up')
  const call = caller(up.url, TOKEN)
  for (const { id, vm_id } of inProgress) await ended(call, vm_id, id)
  const vms = await call<Listed[]>('/vms')
  expect(Object.fromEntries(vms.map(({ name, status }) => [name, status]))).toEqual({
    'web-1': 'RUNNING',
    'web-2': 'STOPPED',
    'web-3': 'RUNNING',
  })
  expect(await lifeOf(VM_ID, older)).toEqual(asStarted)
  expect(await call('/wallet')).toMatchObject({ balance: BALANCE })

  const target = await receiver()
  const [webhook] = await call<Listed[]>('/webhooks')
  await call(`/webhooks/${webhook!.id}`, { url: target.url }, 'PATCH')
  await call(`/webhooks/${webhook!.id}/test`, {})
  expect(target.received.at(-1)?.headers).toMatchObject({ 'webhook-signature': expect.stringMatching(/^v1,/) })

  const [region] = await call<Listed[]>('/regions')
  const { id: osTemplateId } = await call('/os-templates/debian-12')
  const made = await call('/vms', { regionId: region!.id, osTemplateId, hostname: 'web-4' })
  await ended(call, made.vm.id, made.actionId)
  for (const id of [made.vm.id, vms.find(({ name }) => name === 'web-3')!.id]) {
    await call(`/vms/${id}`, undefined, 'DELETE')
    await eventually(async () => (await call(`/vms/${id}`)) === undefined, 60_000)
  }
  expect(await brokenAfter(older)).toBe('')
  expect(await up.kill('SIGTERM')).toBe(0)
})
