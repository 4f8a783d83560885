// Consoles with several processes on one database, where the API processes run no actions.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connectTo, TIMEOUT } from './console-client.ts'
import { testDatabase } from './harness.ts'
import { berthdJson, eventually, get, service, type Service, type Settings } from './processes.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'berth-consoles-'))
afterAll(() => rm(dataDir, { recursive: true }))

interface Made {
  vm: { id: string; status: string }
  url: string
}

async function send(url: string, token: string, body: object): Promise<Made> {
  const headers = { 'x-api-key': token, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as { data: Made; error: string }
  if (!response.ok) throw new Error(answer.error)
  return answer.data
}

describe('consoles of several processes', async () => {
  const settings: Settings = {
    BERTH_DATABASE_URL: await testDatabase(),
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    BERTH_HYPERVISOR: 'simulated',
    BERTH_LOG_LEVEL: 'trace',
    BERTH_DRAIN_SECONDS: '5',
  }
  const read = async <T>(url: string, token: string): Promise<T> => ((await (await get(url, token)).json()) as { data: T }).data
  const runningVm = async (url: string, token: string): Promise<string> => {
    const [region] = await read<{ id: string }[]>(`${url}/regions`, token)
    const template = await read<{ id: string }>(`${url}/os-templates/debian-12`, token)
    const { vm } = await send(`${url}/vms`, token, { regionId: region!.id, osTemplateId: template.id, hostname: 'web-1' })
    await eventually(async () => (await read<Made['vm']>(`${url}/vms/${vm.id}`, token)).status === 'RUNNING', 60_000)
    return vm.id
  }

  test('a URL works at another process, a newer session replaces an older one anywhere, and sessions end with their process', async () => {
    await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
    await berthdJson(settings, 'account', 'credit', '--account', 'ada@example.com', '--amount', '100.00')
    const { token } = (await berthdJson(
      settings,
      'token',
      'create',
      '--account',
      'ada@example.com',
      '--name',
      'test',
      '--scopes',
      '*',
    )) as {
      token: string
    }
    const [one, two, worker] = await Promise.all([service(settings, 'api'), service(settings, 'api'), service(settings, 'worker')])
    const vmId = await runningVm(one.url, token)
    const secrets: string[] = []
    const connect = async (at: Service) => {
      const { url } = await send(`${one.url}/vms/${vmId}/console`, token, { type: 'serial' })
      expect(new URL(url).host).toBe(new URL(one.url).host)
      secrets.push(url.split('/').at(-1)!)
      const client = connectTo(`ws://${new URL(at.url).host}${new URL(url).pathname}`)
      expect(await client.opened).toBe(true)
      await expect.poll(client.text, TIMEOUT).toContain('login:')
      return client
    }
    const older = await connect(two)
    const newer = await connect(one)
    expect(await older.closed).toMatchObject({ code: 4002 })
    await one.kill('SIGTERM')
    expect(await newer.closed).toEqual({ code: 1001, reason: 'The server is stopping: ask for a new URL and connect again' })
    expect(await connectTo(`ws://${new URL(two.url).host}/consoles/${secrets[1]}`).refused).toMatchObject({ status: 401 })

    await Promise.all([two.kill('SIGTERM'), worker.kill('SIGTERM')])
    const output = [one, two, worker].map((each) => each.output()).join('')
    expect(output).toContain('console session opened')
    for (const secret of secrets) expect(output).not.toContain(secret.slice(4, 30))
  })
})
