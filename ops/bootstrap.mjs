// From a fresh clone to a running installation: node ops/bootstrap.mjs start|test|prove|coverage|check|doctor [arguments]
// Needs only Node 20 and npm. Installs what is missing, then runs the Node version pinned in package-lock.json.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboard } from './dashboard.mjs'
import { installPackages } from './debian-packages.mjs'
import { installDependencies, pinnedNode } from './dependencies.mjs'
import { runInForeground } from './foreground.mjs'
import { runQuietly, step, StepFailed } from './steps.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [command, ...args] = process.argv.slice(2)

const commands = {
  start: async () => {
    await buildDashboard(root)
    return berthd('up', ...args)
  },
  doctor: () => berthd('doctor', ...args),
  check: checkStatically,
  test: async () => {
    await checkStatically()
    await buildDashboard(root)
    return vitest('test', args)
  },
  coverage: async () => {
    await buildDashboard(root)
    return runInForeground(pinnedNode(root), ['ops/coverage.ts', ...args])
  },
  prove: async () => {
    await checkStatically()
    await buildDashboard(root)
    // Sequential: some tests measure latency, and a browser loses its connections when a guest's interface comes up.
    return (await vitest('test', [])) || vitest('prove', ['--maxWorkers=1', ...args])
  },
}

if (!Object.hasOwn(commands, command ?? '')) {
  console.error(`Usage: node ops/bootstrap.mjs ${Object.keys(commands).join('|')} [arguments]`)
  process.exit(2)
}
process.chdir(root)
// Some tools enable colours for CI=true.
if (!process.stdout.isTTY && !process.env.FORCE_COLOR) process.env.NO_COLOR = '1'
try {
  await installDependencies(root)
  await installPackages(command)
  // The pinned Node is first in PATH, so that all tools below use it.
  process.env.PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`
  process.exitCode = await commands[command]()
} catch (error) {
  if (!(error instanceof StepFailed)) throw error
  process.exitCode = error.exitCode
}

async function checkStatically() {
  await step('format', () => runTool('oxfmt', '--check', '.'))
  await step('lint', () => runTool('oxlint'))
  await step('types', () => runTool('tsc'))
  await step('types of the dashboard', () => runTool('tsc', '--project', 'web'))
  await step('unused code', () => runTool('knip', '--no-progress', '--no-config-hints'))
  return 0
}

function runTool(name, ...options) {
  return runQuietly(`node_modules/.bin/${name}`, options)
}

function vitest(project, options) {
  return runInForeground('node_modules/.bin/vitest', ['run', '--project', project, ...options])
}

function berthd(...options) {
  const memory = ['--max-old-space-size=1024', '--max-semi-space-size=8'] // as in the first line of berthd.mjs, which has the reason
  return runInForeground(pinnedNode(root), [...memory, join(root, 'server/bin/berthd.mjs'), ...options])
}
