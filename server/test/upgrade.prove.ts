// The product is upgraded while VMs run and one is being built: the schema changes under the old version, the processes are replaced one by
// one, nothing stops and nothing is lost.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDatabase } from './harness.ts'
import { nextRelease } from './next-release.ts'
import { berthd, berthdAt, berthdJson, service, type Settings } from './processes.ts'
import { anyPort, caller, ended, lifeOf, upgradeFolder } from './upgrade-fixture.ts'

const folder = upgradeFolder()
const settings: Settings = { ...anyPort, BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: join(folder, 'data') }

/** Each is read by statements that the old processes have prepared. */
const CHANGED = ['workflow_runs', 'hosts', 'vms']

/** The same product with one more migration. */
function withOneMore() {
  const release = nextRelease(join(folder, 'next'))
  const text = CHANGED.map((table) => `alter table ${table} add column of_next_release text not null default 'new';\n`).join('')
  release.write('migrations/9999_next.sql', text)
  return release
}

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
