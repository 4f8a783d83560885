// An installation that is upgraded: its API, its database and the machines of its simulated hosts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll } from 'vitest'
import { eventually, type Settings } from './processes.ts'

export function upgradeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'berth-upgrade-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const anyPort: Settings = { BERTH_PORT: '0', BERTH_METRICS_PORT: '0' }

export async function ask<Row extends object>({ BERTH_DATABASE_URL }: Settings, question: string, given: string[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: BERTH_DATABASE_URL })
  await client.connect()
  const { rows } = await client.query<Row>(question, given)
  await client.end()
  return rows
}

/** The power state of the machine and its number of starts, from its host. */
export const lifeOf = (vmId: string, where: Settings) => ask(where, 'select power, epoch from simulated.machines where vm_id = $1', [vmId])

interface Data {
  id: string
  status: string
  vm: { id: string }
  actionId: string
}

export const caller =
  (url: string, token: string) =>
  async <T = Data>(path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<T> => {
    const headers = { 'x-api-key': token, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${url}${path}`, { headers, method, ...(body && { body: JSON.stringify(body) }) })
    if (response.status >= 500) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: T }).data
  }
type Call = ReturnType<typeof caller>

export const ended = (call: Call, vmId: string, actionId: string) =>
  eventually(async () => (await call(`/vms/${vmId}/actions/${actionId}?wait=5`)).status === 'COMPLETED', 90_000)
