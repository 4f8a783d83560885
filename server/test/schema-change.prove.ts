// Columns come and go while two API processes and a worker serve load, as in an upgrade: no request fails, and no work does.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { MIGRATIONS } from '../src/database.ts'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { knownMigrations, migrate } from '../src/kernel/database/migrate.ts'
import { testDatabase } from './harness.ts'
import { berthdJson, service, type Settings } from './processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-schema-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const TABLES = ['workflow_runs', 'hosts', 'vms']
const ROUNDS = 10
const CLIENTS = 4

interface Answer {
  status: number
  data: { id: string; status: string; vm: { id: string }; actionId: string }
}

test('columns added to and dropped from busy tables fail no request', { timeout: 280_000 }, async () => {
  const url = await testDatabase()
  const settings: Settings = {
    BERTH_DATABASE_URL: url,
    BERTH_DATA_DIR: join(folder, 'data'),
    BERTH_PORT: '0',
    BERTH_METRICS_PORT: '0',
  }
  const apis = await Promise.all([service(settings, 'api'), service(settings, 'api')])
  const worker = await service(settings, 'worker')
  await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
  await berthdJson(settings, 'account', 'credit', '--account', 'ada@example.com', '--amount', '9000.00')
  const limit = ['--rate-limit', '1000000']
  const { token } = await berthdJson(settings, 'token', 'create', '--account', 'ada@example.com', '--name', 't', '--scopes', '*', ...limit)

  let requests = 0
  const failed: string[] = []
  const ask = async (method: string, path: string, body?: object): Promise<Answer> => {
    requests++
    const headers = { 'x-api-key': token!, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${apis[requests % 2]!.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    if (response.status >= 500) failed.push(`${method} ${path}: ${response.status} ${text}`)
    return { status: response.status, data: (JSON.parse(text) as { data: Answer['data'] }).data }
  }
  const [region] = (await ask('GET', '/regions')).data as unknown as { id: string }[]
  const osTemplateId = (await ask('GET', '/os-templates/debian-12')).data.id

  let over = false
  const unfinished: string[] = []
  /** One customer's VM from its creation to its deletion, read all the while. */
  const life = async (client: number, round: number): Promise<void> => {
    const created = await ask('POST', '/vms', { regionId: region!.id, osTemplateId, hostname: `web-${client}-${round}` })
    if (created.status !== 202) return
    const { vm, actionId } = created.data
    const read = () => Promise.all([ask('GET', '/vms'), ask('GET', `/vms/${vm.id}`), ask('GET', `/vms/${vm.id}/actions`)])
    const ended = async (id: string): Promise<void> => {
      for (const elapsed = stopwatch(); elapsed() < 60_000; await read()) {
        const { data } = await ask('GET', `/vms/${vm.id}/actions/${id}?wait=1`)
        if (data === undefined || data.status === 'COMPLETED') return
        if (data.status === 'FAILED') break
      }
      unfinished.push(`${vm.id} ${id}`)
    }
    await ended(actionId)
    for (const verb of ['stop', 'start']) await ended((await ask('POST', `/vms/${vm.id}/${verb}`)).data.actionId)
    await ask('DELETE', `/vms/${vm.id}`)
  }
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let round = 0; !over; round++) await life(client, round)
  })
  const readers = Array.from({ length: CLIENTS }, async () => {
    while (!over) await Promise.all(['/vms', '/wallet', '/events', '/networks'].map((path) => ask('GET', path)))
  })

  const migrations = join(folder, 'migrations')
  cpSync(MIGRATIONS, migrations, { recursive: true })
  let number = Number(knownMigrations(MIGRATIONS).at(-1)!.number)
  const change = async (name: string, clause: string): Promise<void> => {
    const file = `${String(++number).padStart(4, '0')}_${name}.sql`
    writeFileSync(join(migrations, file), TABLES.map((table) => `alter table ${table} ${clause};\n`).join(''))
    await migrate(url, migrations)
  }
  await sleep(3_000) // every connection has prepared its statements
  for (let round = 0; round < ROUNDS; round++) {
    await change('add_a_column', `add column of_next_release text not null default 'new'`)
    await sleep(500)
    await change('drop_a_column', 'drop column of_next_release')
    await sleep(500)
  }
  over = true
  await Promise.all([...clients, ...readers])

  expect(failed).toEqual([])
  expect(unfinished).toEqual([])
  expect(requests).toBeGreaterThan(1_000)
  console.log(`${requests} requests beside ${2 * ROUNDS} migrations of ${TABLES.length} tables, ${failed.length} failed`)
  for (const process of [...apis, worker]) {
    expect(process.output()).not.toContain('cached plan')
    expect(await process.kill('SIGTERM')).toBe(0)
  }
})
