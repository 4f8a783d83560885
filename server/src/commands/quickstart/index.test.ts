import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../../test/free-port.ts'
import { testDatabase } from '../../../test/harness.ts'
import { berthd, berthdJson, service, type Settings } from '../../../test/processes.ts'
import { faultControl, type FaultOrder } from '../../hypervisor/simulated/faults.ts'
import { openDb, sql } from '../../kernel/database/db.ts'

const home = await mkdtemp(join(tmpdir(), 'berth-quickstart-'))
afterAll(() => rm(home, { recursive: true }))
const settings: Settings = {
  HOME: home,
  BERTH_DATABASE_URL: await testDatabase(),
  BERTH_DATA_DIR: join(home, 'data'),
  BERTH_PORT: await freePort(),
  BERTH_METRICS_PORT: '0',
}
const quickstart = (...options: string[]) => berthd(settings, 'quickstart', ...options)

async function plant(...faults: FaultOrder[]): Promise<void> {
  const db = openDb({ url: settings['BERTH_DATABASE_URL']!, maxConnections: 1, onError: () => {} })
  const { id } = await db.one<{ id: string }>(sql`select id from hosts`)
  for (const fault of faults) await faultControl(db, id).plant(fault)
  await db.close()
}

test('reports that Berth must be started first', async () => {
  const { code, stderr } = await quickstart()
  expect([code, stderr]).toEqual([1, expect.stringContaining('npm start')])
})

test("creates everything once, prints the next command, and its account becomes the owner's", { timeout: 180_000 }, async () => {
  const up = await service(settings, 'up')
  const first = await quickstart()
  expect(first).toMatchObject({ code: 0, stderr: '' })
  for (const line of ['✓ SSH key', '✓ account you@example.com', '✓ VM first', '✓   networks', '✓   boot', '✓   ready'])
    expect(first.stdout).toContain(line)
  expect(first.stdout).toContain('created: account, 100.00 USD of test credit, API key')
  const nextCommand =
    / first is RUNNING\. It is simulated, so there is nothing to log in to\. See it with:\n\n {3}npx berth vm get first\n\n$/
  expect(first.stdout).toMatch(nextCommand)
  expect(await readFile(join(home, '.ssh/id_ed25519.pub'), 'utf8')).toMatch(/^ssh-ed25519 /)
  expect((await stat(join(home, 'data/quickstart.token'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(home, '.config/berth/config.json'), 'utf8')).toContain('"current": "local"')

  const second = await quickstart()
  expect(second).toMatchObject({ code: 0, stderr: '' })
  expect(second.stdout).toContain('exists')
  expect(second.stdout).toMatch(nextCommand)
  expect(await berthdJson<object[]>(settings, 'vm', 'list')).toHaveLength(1)
  expect(await berthdJson<object[]>(settings, 'token', 'list')).toHaveLength(1)
  expect(await berthdJson<object[]>(settings, 'account', 'list')).toMatchObject([{ email: 'you@example.com', balance: '94.00' }])

  const { url } = await berthdJson<{ url: string }>(settings, 'owner', 'invite')
  const response = await fetch(`${new URL(up.url).origin}/api/dashboard/welcome`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(up.url).origin },
    body: JSON.stringify({ token: url.split('#')[1], email: 'owner@example.com', password: 'correct horse battery' }),
  })
  expect(response.status).toBe(201)
  await rm(join(home, 'data/quickstart.token'))
  const third = await quickstart()
  expect(third).toMatchObject({ code: 0, stderr: '' })
  expect(third.stdout).toContain('account owner@example.com')
  expect(await berthdJson<object[]>(settings, 'vm', 'list')).toHaveLength(1)
  expect(await berthdJson<object[]>(settings, 'account', 'list')).toMatchObject([{ email: 'owner@example.com', balance: '94.00' }])

  await plant({ verb: 'ensureDisk', kind: 'permanent' })
  const failed = await quickstart('--hostname', 'next')
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/npx berthd doctor.*run npx berthd quickstart again/) })
  const repeated = await quickstart('--hostname', 'next')
  expect(repeated).toMatchObject({ code: 0, stderr: '' })
  expect(repeated.stdout).toMatch(/! next of an earlier run was never up +deleted; it had been refunded\n/)
  expect(repeated.stdout).toContain(' next is RUNNING.')
  expect((await berthdJson<{ name: string }[]>(settings, 'vm', 'list')).map(({ name }) => name).toSorted()).toEqual(['first', 'next'])
  expect(await berthdJson<object[]>(settings, 'account', 'list')).toMatchObject([{ balance: '88.00' }])

  expect(await up.kill('SIGTERM')).toBe(0)
  expect(up.output()).toContain('Berth has stopped; VMs keep running')
})
