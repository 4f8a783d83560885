// Executes the `sh` examples of the documentation, page by page, against its own server. Each command must succeed, and each `curl` must get
// a 2xx response: curl exits 0 on HTTP errors, so a wrapper prints the status.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount, createToken } from '../../server/src/features/accounts/service.ts'
import { hooks } from '../../server/src/features/index.ts'
import { creditByOperator } from '../../server/src/features/wallet/adjustments.ts'
import { systemClock } from '../../server/src/kernel/clock.ts'
import { openDb } from '../../server/src/kernel/database/db.ts'
import { freePort } from '../../server/test/free-port.ts'
import { testDatabase } from '../../server/test/harness.ts'
import { givenHost } from '../../server/test/hosts.ts'
import { service, type Service, type Settings } from '../../server/test/processes.ts'
import { examplesOf, pages } from './doc-examples.ts'
import { start as startBerth } from './fixture.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'berth-docs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Error responses that a page shows on purpose. */
const EXPECTED_ERRORS: Record<string, number[]> = { 'docs/guide/errors.md': [404, 400] }
/** Takes hosts out of service, so it gets its own server. */
const ISOLATED = 'docs/operate/runbooks.md'

/** Wrappers for `berth`, `berthd` and `npx` of this repository; `npm start` does nothing; `curl` prints the response status. */
function createWrappers(): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const write = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  write('berth', `exec ${process.execPath} ${join(root, 'cli/bin/berth.mjs')} "$@"`)
  write('berthd', `exec ${process.execPath} ${join(root, 'server/bin/berthd.mjs')} "$@"`)
  write('npx', 'exec "$@"')
  write('npm', '[ "$*" = start ]')
  write('curl', `exec /usr/bin/curl -w '%{stderr}\\ncurl status %{http_code}\\n' "$@"`)
  return `${bin}:${process.env['PATH']}`
}
const path = createWrappers()

interface TestServer {
  settings: Settings
  up: Service
}

async function start(name: string): Promise<TestServer> {
  const settings = {
    BERTH_DATA_DIR: join(folder, name),
    BERTH_DATABASE_URL: await testDatabase(),
    BERTH_PORT: await freePort(),
    BERTH_METRICS_PORT: await freePort(),
  }
  return { settings, up: await service(settings, 'up') }
}

interface Reader {
  env: Record<string, string>
  cwd: string
}

/** Answers the token of a new account. */
async function customer(url: string, email: string): Promise<string> {
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  try {
    return await db.tx(async (tx) => {
      const { id: accountId } = await createAccount(tx, systemClock.now(), { email })
      const entry = { accountId, amount: 200_00n, reason: 'Credit', currency: 'USD' }
      await creditByOperator(tx, { clock: systemClock, hooks }, entry)
      return (await createToken(tx, systemClock.now(), accountId, { name: 'docs', scopes: ['*'] })).token
    })
  } finally {
    await db.close()
  }
}

/** A customer with credit and a working directory; most pages also assume a VM. */
async function reader(page: string, email: string, { settings, up }: TestServer): Promise<Reader> {
  const address = new URL(up.url).origin
  const cwd = join(folder, page.replaceAll('/', '-'))
  mkdirSync(cwd)
  const token = await customer(settings['BERTH_DATABASE_URL']!, email)
  const env = { PATH: path, HOME: cwd, BERTH_URL: address, BERTH_TOKEN: token, BERTH_HYPERVISOR: 'simulated', ...settings }
  writeFileSync(join(cwd, 'token.txt'), token)
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(cwd, 'id_ed25519')])
  if (!/vm create web-1/.test(examplesOf(page, 'sh').join()) && page.startsWith('docs/guide/')) {
    const { code, stdout } = await startBerth(env, ['vm', 'create', 'web-1', '--os', 'debian-12', '-o', 'json']).ended
    if (code !== 0) throw new Error(stdout)
    Object.assign(env, { vm: (JSON.parse(stdout) as { id: string }).id })
  }
  if (/ssh-keygen/.test(examplesOf(page, 'sh').join())) for (const name of ['id_ed25519', 'id_ed25519.pub']) rmSync(join(cwd, name))
  return { cwd, env: { ...env, TOKEN: token, KEY: token, BERTH: address, api: `${address}/api/public/v1` } }
}

/** What is read first: `npm test` executes these pages, and `npm run prove` all others. */
const FIRST = ['README.md', 'docs/guide/tutorial.md', 'docs/guide/errors.md', 'docs/guide/idempotency.md', 'docs/operate/plans.md']

export function describePages(which: 'first' | 'others'): void {
  const executed = pages.filter((page) => examplesOf(page, 'sh').length > 0 && FIRST.includes(page) === (which === 'first'))

  const servers: TestServer[] = []
  const serverOf = async (name: string): Promise<TestServer> => {
    const server = await start(name)
    servers.push(server)
    return server
  }
  let shared: TestServer
  let isolated: TestServer
  beforeAll(async () => {
    shared = await serverOf('shared')
    if (!executed.includes(ISOLATED)) return
    isolated = await serverOf('isolated')
    const db = openDb({ url: isolated.settings['BERTH_DATABASE_URL']!, maxConnections: 1, onError: () => {} })
    await givenHost({ db, clock: systemClock }, 'rack1')
    await db.close()
  }, 120_000)
  afterAll(() => Promise.all(servers.map(({ up }) => up.kill('SIGTERM'))))

  describe.concurrent.each(executed)('%s', (page) => {
    test('examples succeed', { timeout: 300_000 }, async () => {
      const email = /ada@example.com/.test(examplesOf(page, 'sh').join()) ? 'ada@example.com' : `${page.replace(/\W/g, '')}@example.com`
      const server = page === ISOLATED ? isolated : shared
      const { env, cwd } = await reader(page, email, server)
      const script = examplesOf(page, 'sh')
        .join('\n')
        .replaceAll('http://127.0.0.1:8080', env['BERTH_URL']!)
        .replace(/127\.0\.0\.1:808[12]/g, `127.0.0.1:${server.settings['BERTH_METRICS_PORT']}`)
      const child = spawn('bash', ['-euxo', 'pipefail', '-c', script], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
      const output = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text))
      const [code] = (await once(child, 'close')) as [number]
      expect(code, output.stdout.slice(-1_000) + output.stderr.slice(-2_000)).toBe(0)
      const statuses = [...output.stderr.matchAll(/^curl status (\d+)$/gm)].map(([, status]) => Number(status))
      expect(statuses).toHaveLength(script.match(/\bcurl /g)?.length ?? 0)
      expect(statuses.filter((status) => status < 200 || status > 299)).toEqual(EXPECTED_ERRORS[page] ?? [])
    })
  })
}
