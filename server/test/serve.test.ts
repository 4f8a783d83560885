import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyDatabase } from './harness.ts'
import { berthd, berthdJson, get, service, type Settings } from './processes.ts'

let settings: Settings

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-serve-'))
  settings = { BERTH_DATABASE_URL: await emptyDatabase(), BERTH_DATA_DIR: dataDir, BERTH_PORT: '0' }
})
afterAll(() => rm(settings['BERTH_DATA_DIR']!, { recursive: true }))

describe('processes on an external database', { timeout: 120_000 }, () => {
  test('leave migrations to the operator', async () => {
    const refused = await Promise.all([berthd(settings, 'api'), berthd(settings, 'worker'), berthd(settings, 'account', 'list')])
    for (const { code, stderr } of refused) {
      expect([code, stderr.trim()]).toEqual([1, 'The database is not up to date: every migration is missing. Run: npx berthd migrate'])
    }
    const first = await berthdJson<{ version: string; applied: string[] }>(settings, 'migrate')
    expect(first.applied.at(-1)).toBe(first.version)
    expect(await berthdJson(settings, 'migrate')).toEqual({ version: first.version, applied: [], waiting: [], unknown: [] })
  })

  test('share state between several APIs and a worker immediately', async () => {
    const [one, two, worker] = await Promise.all([service(settings, 'api'), service(settings, 'api'), service(settings, 'worker')])
    await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
    const made = await berthdJson(settings, 'token', 'create', '--account', 'ada@example.com', '--name', 'test', '--scopes', '*')
    const ask = async () => Promise.all([one, two].map(async ({ url }) => (await get(`${url}/regions`, made['token']!)).status))
    expect(await ask()).toEqual([200, 200])
    await berthdJson(settings, 'token', 'revoke', made['id']!, '--yes')
    await expect.poll(ask).toEqual([401, 401])
    expect(await Promise.all([one, two, worker].map((each) => each.kill('SIGTERM')))).toEqual([0, 0, 0])
  })

  test('do not start when the master key is missing or does not match', async () => {
    const elsewhere = { ...settings, BERTH_DATA_DIR: join(settings['BERTH_DATA_DIR']!, 'elsewhere') }
    const key = join(elsewhere.BERTH_DATA_DIR, 'master.key')
    for (const role of ['api', 'worker'])
      expect(await berthd(elsewhere, role)).toMatchObject({ code: 1, stderr: expect.stringContaining(`The master key ${key} is missing`) })
    expect(existsSync(key)).toBe(false)
    expect(await berthd(elsewhere, 'doctor', 'key')).toMatchObject({ code: 1, stdout: expect.stringContaining('is missing') })
    await writeFile(key, 'ab'.repeat(32), { mode: 0o600 })
    expect(await berthd(elsewhere, 'api')).toMatchObject({ code: 1, stderr: expect.stringContaining('is another one') })
    expect(await berthd(elsewhere, 'doctor', 'key')).toMatchObject({ code: 1, stdout: expect.stringContaining('does not match the key') })
    expect(await berthd(settings, 'doctor', 'key')).toMatchObject({ code: 0 })
  })

  test('report a missing database', async () => {
    const { BERTH_DATABASE_URL: _, ...alone } = settings
    const { code, stderr } = await berthd(alone, 'api')
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no database: set BERTH_DATABASE_URL, or start `berthd up`')])
  })
})
