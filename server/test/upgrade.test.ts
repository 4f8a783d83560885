// The product is upgraded while VMs run and one is being built: the schema changes under the old version, the processes are replaced one by
// one, nothing stops and nothing is lost.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { testDatabase } from './harness.ts'
import { berthd, berthdJson, cleanEnvironment, eventually, service, type Settings } from './processes.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'berth-upgrade-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings: Settings = {
  BERTH_DATABASE_URL: await testDatabase(),
  BERTH_DATA_DIR: join(folder, 'data'),
  BERTH_PORT: '0',
  BERTH_METRICS_PORT: '0',
}

/** What the next release would be: the same product with one more migration. */
function nextRelease() {
  const release = join(folder, 'next')
  cpSync(join(root, 'server'), join(release, 'server'), { recursive: true, filter: (path) => !/node_modules|\.test\.ts$/.test(path) })
  for (const name of ['node_modules', 'docs', 'ops']) symlinkSync(join(root, name), join(release, name))
  writeFileSync(
    join(release, 'server/migrations/9999_next.sql'),
    `alter table vms add column of_next_release text not null default 'new';\n`,
  )
  const berth = join(release, 'server/bin/berthd.mjs')
  const program = (role: string): string => {
    const path = join(release, `${role}.mjs`)
    writeFileSync(path, `process.argv.splice(2, Infinity, '${role}')\nawait import('${berth}')\n`)
    return path
  }
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [berth, ...args], { env: { ...cleanEnvironment(), ...settings } })
  return { run, program }
}

/** When each machine was last started, by the word of its host. */
async function lives(): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: settings['BERTH_DATABASE_URL'] })
  await client.connect()
  const { rows } = await client.query('select m.power, m.epoch from simulated.machines m order by m.epoch limit 1')
  await client.end()
  return rows
}

interface Answer {
  data: { id: string; status: string; vm: { id: string }; actionId: string }
}

const caller = (url: string, token: string) => async (path: string, body?: object) => {
  const headers = { 'x-api-key': token, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(`${url}${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  return ((await response.json()) as Answer).data
}

test('VMs run on while the product is upgraded, and work under way is finished by the new version', { timeout: 240_000 }, async () => {
  const [oldApi, oldWorker] = [await service(settings, 'api'), await service(settings, 'worker')]
  await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
  await berthdJson(settings, 'account', 'credit', '--account', 'ada@example.com', '--amount', '100.00')
  const { token } = await berthdJson(settings, 'token', 'create', '--account', 'ada@example.com', '--name', 't', '--scopes', '*')
  const before = caller(oldApi.url, token!)
  const [region] = (await before('/regions')) as unknown as { id: string }[]
  const { id: osTemplateId } = await before('/os-templates/debian-12')
  const create = (hostname: string) => before('/vms', { regionId: region!.id, osTemplateId, hostname })
  const running = await create('web-1')
  const ended = (call: typeof before, { vm, actionId }: typeof running) =>
    eventually(async () => (await call(`/vms/${vm.id}/actions/${actionId}?wait=5`)).status === 'COMPLETED', 90_000)
  await ended(before, running)
  const asStarted = await lives()

  const next = nextRelease()
  const underWay = await create('web-2')
  expect((await next.run('migrate')).stdout).toContain('applied 9999_next')
  expect((await before(`/vms/${running.vm.id}`)).status).toBe('RUNNING')
  expect((await fetch(new URL('/readyz', oldApi.url))).status).toBe(200)

  expect(await oldWorker.kill('SIGTERM')).toBe(0)
  const newWorker = await service(settings, next.program('worker'))
  const newApi = await service(settings, next.program('api'))
  expect(await oldApi.kill('SIGTERM')).toBe(0)
  const after = caller(newApi.url, token!)
  await ended(after, underWay)

  for (const { vm } of [running, underWay]) expect((await after(`/vms/${vm.id}`)).status).toBe('RUNNING')
  expect(await lives()).toEqual(asStarted)
  const { code, stderr } = await berthd(settings, 'migrate')
  expect([code, stderr]).toEqual([1, expect.stringContaining('Start the newer version')])
  await Promise.all([newApi.kill('SIGTERM'), newWorker.kill('SIGTERM')])
})
