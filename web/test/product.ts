// The server as `npm start` runs it, with its own database and simulated hosts in real time.
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { testDatabase } from '../../server/test/harness.ts'
import { berthdJson, eventually, service, type Service, type Settings } from '../../server/test/processes.ts'
import { scratchFolder } from '../../server/test/scratch-folder.ts'
import { Berth } from '../../sdk/src/index.ts'

export const OWNER = { email: 'owner@example.com', password: 'a long enough sentence' }

export interface Product {
  origin: string
  databaseUrl: string
  /** The setup link of the first account. */
  welcome: string
  up: Service
  run: (...args: string[]) => Promise<Record<string, string>>
  /** An API client of the account. */
  client: (email: string) => Promise<{ berth: Berth; token: string }>
}

export async function startProduct(more: Settings = {}): Promise<Product> {
  const folder = await scratchFolder()
  afterAll(() => folder.remove())
  const databaseUrl = await testDatabase()
  const settings: Settings = {
    BERTH_DATA_DIR: join(folder.path, 'data'),
    BERTH_DATABASE_URL: databaseUrl,
    BERTH_PORT: '0',
    BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
    BERTH_PDNS_URL: 'http://127.0.0.1:1',
    BERTH_LOG_LEVEL: 'error',
    ...more,
  }
  const up = await service(settings, 'up')
  afterAll(() => up.kill('SIGTERM'))
  const welcome = await eventually(async () => /http:\S+\/welcome#\S+/.exec(up.output())?.[0])
  const origin = new URL(up.url).origin
  const run = (...args: string[]): Promise<Record<string, string>> => berthdJson(settings, ...args)
  const client = async (email: string) => {
    const { token } = await run('token', 'create', '--account', email, '--name', 'beside', '--scopes', '*')
    return { token: token!, berth: new Berth({ baseUrl: origin, token: token! }) }
  }
  return { origin, databaseUrl, welcome, up, run, client }
}
