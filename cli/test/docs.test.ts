// Every `sh` of the documentation is carried out, page by page, against a product of its own.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../server/test/harness.ts'
import { berthdJson, service, type Service, type Settings } from '../../server/test/processes.ts'
import { fencesOf, pages } from './fences.ts'
import { start } from './world.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'berth-docs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings: Settings = {
  BERTH_DATA_DIR: join(folder, 'data'),
  BERTH_DATABASE_URL: await testDatabase(),
  BERTH_PORT: '0',
  BERTH_METRICS_PORT: '0',
}
let address: string

/** `berth`, `berthd` and `npx` as they are found within the repository. */
function makeCommands(): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const write = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  write('berth', `exec ${process.execPath} ${join(root, 'cli/bin/berth.mjs')} "$@"`)
  write('berthd', `exec ${process.execPath} ${join(root, 'server/bin/berthd.mjs')} "$@"`)
  write('npx', 'exec "$@"')
  return `${bin}:${process.env['PATH']}`
}
const path = makeCommands()

let up: Service
beforeAll(async () => {
  up = await service(settings, 'up')
  address = new URL(up.url).origin
}, 120_000)
afterAll(() => up.kill('SIGTERM'))

interface Reader {
  env: Record<string, string>
  cwd: string
}

/** A customer with money and a folder of their own; most pages also presume a VM. */
async function reader(page: string, email: string): Promise<Reader> {
  const cwd = join(folder, page.replaceAll('/', '-'))
  mkdirSync(cwd)
  await berthdJson(settings, 'account', 'create', '--email', email)
  await berthdJson(settings, 'account', 'credit', '--account', email, '--amount', '200.00')
  const { token } = await berthdJson(settings, 'token', 'create', '--account', email, '--name', 'docs', '--scopes', '*')
  const env = { PATH: path, HOME: cwd, BERTH_URL: address, BERTH_TOKEN: token!, BERTH_HYPERVISOR: 'simulated', ...settings }
  writeFileSync(join(cwd, 'token.txt'), token!)
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(cwd, 'id_ed25519')])
  if (!/vm create web-1/.test(fencesOf(page, 'sh').join()) && page.startsWith('docs/guide/')) {
    const { code, stdout } = await start(env, ['vm', 'create', 'web-1', '--os', 'debian-12', '-o', 'json']).ended
    if (code !== 0) throw new Error(stdout)
    Object.assign(env, { vm: (JSON.parse(stdout) as { id: string }).id })
  }
  if (/ssh-keygen/.test(fencesOf(page, 'sh').join())) for (const name of ['id_ed25519', 'id_ed25519.pub']) rmSync(join(cwd, name))
  return { cwd, env: { ...env, TOKEN: token!, KEY: token!, BERTH: address, api: `${address}/api/public/v1` } }
}

const executed = pages.filter((page) => fencesOf(page, 'sh').length > 0)

describe.concurrent.each(executed)('%s', (page) => {
  test('works as it is written', { timeout: 300_000 }, async () => {
    const email = page.startsWith('docs/operate/payments') ? 'ada@example.com' : `${page.replace(/\W/g, '')}@example.com`
    const { env, cwd } = await reader(page, email)
    const script = fencesOf(page, 'sh').join('\n').replaceAll('http://127.0.0.1:8080', address)
    const child = spawn('bash', ['-euxo', 'pipefail', '-c', script], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code] = (await once(child, 'close')) as [number]
    expect(code, said.slice(-2_000)).toBe(0)
    expect(said).not.toContain('"success":false,"error":"Something')
  })
})
