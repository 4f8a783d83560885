// Checks the clients in other languages: node ops/test-clients.mjs [name…]. Each folder of clients/ with a program `check` is one. They share a server with simulated
// hosts, which BERTH_URL and BERTH_TOKEN name. Needs Node as `npm test` does, and the language of each client.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installDependencies, pinnedNode } from './dependencies.mjs'
import { runQuietly, step, StepFailedError } from './progress.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const python = (minor) => ({
  command: 'python3',
  args: ['-c', `import ensurepip, sys, venv; sys.exit(sys.version_info < (3, ${minor}))`],
  name: `Python 3.${minor} or later with venv`,
})
const TOOLS = {
  ansible: python(11),
  go: { command: 'go', args: ['version'], name: 'Go 1.24 or later' },
  python: python(10),
}
const ACCOUNT = 'clients@example.com'

const asked = process.argv.slice(2)
const clients = readdirSync(join(root, 'clients')).filter((name) => existsSync(join(root, 'clients', name, 'check')))
const chosen = asked.length > 0 ? asked : clients

try {
  for (const name of chosen) await step(`${name}: its language`, () => requireLanguage(name))
  await installDependencies(root)
  await withServer(async (env) => {
    for (const name of chosen) await step(name, () => runQuietly(join(root, 'clients', name, 'check'), [], env))
  })
} catch (error) {
  if (!(error instanceof StepFailedError)) throw error
  process.exitCode = error.exitCode
}

function requireLanguage(name) {
  if (!clients.includes(name)) throw new Error(`clients/${name} has no program check. There are: ${clients.join(', ')}`)
  const tool = TOOLS[name]
  if (!tool) throw new Error(`ops/test-clients.mjs does not say what clients/${name} needs`)
  if (spawnSync(tool.command, tool.args).status !== 0) throw new Error(`clients/${name} needs ${tool.name}: ${tool.command} was not found`)
}

async function withServer(work) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-clients-'))
  const settings = { BERTH_DATA_DIR: join(folder, 'data'), BERTH_PORT: '0', BERTH_HYPERVISOR: 'simulated', BERTH_LOG_LEVEL: 'error' }
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('BERTH_'))
  const env = { ...Object.fromEntries(inherited), ...settings }
  const server = spawn(...berthd('up'), { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    let url
    await step('server with simulated hosts', async () => {
      url = await readyUrl(server)
      await runQuietly(...berthd('account', 'create', '--email', ACCOUNT), env)
      // Floating addresses come from ranges of a region only.
      await runQuietly(...berthd('ip-pool', 'add', '--region', 'fra1', '--cidr', '10.99.0.0/24', '--gateway', '10.99.0.1'), env)
      await runQuietly(...berthd('account', 'credit', '--account', ACCOUNT, '--amount', '10000.00'), env)
    })
    const created = await runQuietly(
      ...berthd('token', 'create', '--account', ACCOUNT, '--name', 'clients', '--scopes', '*', '--json'),
      env,
    )
    await work({ ...env, BERTH_URL: url, BERTH_TOKEN: JSON.parse(created).token })
  } finally {
    if (server.exitCode === null) {
      server.kill('SIGTERM')
      await once(server, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

function berthd(...args) {
  return [pinnedNode(root), [join(root, 'server/bin/berthd.mjs'), ...args]]
}

function readyUrl(server) {
  let output = ''
  return new Promise((resolve, reject) => {
    server.once('exit', () => reject(new Error(`The server has ended: ${output}`)))
    server.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      if (/ready/.test(output)) resolve(/http:\/\/[\d.]+:\d+/.exec(output)[0])
    })
  })
}
