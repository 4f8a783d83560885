// Real API and worker processes, killed during requests and restarted.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../server/test/free-port.ts'
import { testDatabase } from '../../server/test/harness.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { berthdJson, eventually, service, type Settings } from '../../server/test/processes.ts'
import { Berth } from '../src/index.ts'
import { recordAttempts } from './fixture.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'berth-sdk-'))
afterAll(() => rm(dataDir, { recursive: true }))
const settings: Settings = {
  BERTH_DATABASE_URL: await testDatabase(),
  BERTH_DATA_DIR: dataDir,
  BERTH_PORT: await freePort(),
  BERTH_METRICS_PORT: '0',
}

async function customer(): Promise<string> {
  await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
  await berthdJson(settings, 'account', 'credit', '--account', 'ada@example.com', '--amount', '100.00')
  return (await berthdJson(settings, 'token', 'create', '--account', 'ada@example.com', '--name', 'test', '--scopes', '*'))['token']!
}

test('a client survives a restart of the server, and every write takes effect once', { timeout: 180_000 }, async () => {
  const [api, worker, token] = await Promise.all([service(settings, 'api'), service(settings, 'worker'), customer()])
  const { attempts, handlers } = recordAttempts()
  const berth = new Berth({ baseUrl: api.url, token, maxRetries: 30, handlers })

  const [region] = await berth.regions.list()
  const { id: osTemplateId } = await berth.osTemplates.get('debian-12')
  const names = Array.from({ length: 40 }, (_, i) => `key ${i}`)
  const keys = names.map((name) => ({ name, publicKey: generateKey().line }))
  attempts.length = 0
  const creating = berth.vms.create({ regionId: region!.id, osTemplateId, hostname: 'web-1' })
  const adding = Promise.all(keys.map((key) => berth.sshKeys.create(key)))
  await eventually(async () => attempts.some(({ status }) => status !== null))
  expect(await api.kill('SIGKILL')).toBe('SIGKILL')
  const interrupted = attempts.filter(({ status }) => status === null).length
  const [again] = await Promise.all([service(settings, 'api'), adding])

  const created = await creating
  expect(await berth.waitForAction(created)).toMatchObject({ status: 'COMPLETED' })
  expect(interrupted).toBeGreaterThan(0)
  expect((await berth.sshKeys.list().all()).map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  expect((await berth.vms.list().all()).map(({ id }) => id)).toEqual([created.vm.id])
  expect(await berth.wallet.transactions({ type: 'VM_CHARGE' }).all()).toHaveLength(1)
  await Promise.all([again.kill('SIGTERM'), worker.kill('SIGTERM')])
})
