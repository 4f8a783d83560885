// Sets up a fresh clone and runs one command: node ops/bootstrap.mjs start|test|prove|coverage|check|doctor [arguments]
// Needs only Node 20 and npm. Installs what is missing, then runs everything with the Node that package-lock.json pins.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboard } from './dashboard.mjs'
import { installPackages } from './debian-packages.mjs'
import { installDependencies, pinnedNode } from './dependencies.mjs'
import { runInForeground } from './foreground.mjs'
import { runQuietly, step, StepFailedError } from './progress.mjs'

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
    const failed = args.length === 0 ? await vitest('test', []) : 0
    // One file at a time: some tests measure latency, and Chromium drops connections when a guest's interface comes up.
    return failed || vitest('prove', ['--maxWorkers=1', ...args])
  },
}

if (!Object.hasOwn(commands, command ?? '')) {
  console.error(`Usage: node ops/bootstrap.mjs ${Object.keys(commands).join('|')} [arguments]`)
  process.exit(2)
}
process.chdir(root)
// Some tools print colours when CI is set.
if (!process.stdout.isTTY && !process.env.FORCE_COLOR) process.env.NO_COLOR = '1'
try {
  await installDependencies(root)
  await installPackages(command)
  // Puts the pinned Node first, so that all tools started below run on it.
  process.env.PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`
  process.exitCode = await commands[command]()
} catch (error) {
  if (!(error instanceof StepFailedError)) throw error
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
  const memory = ['--max-old-space-size=1024', '--max-semi-space-size=8'] // as in the first line of berthd.mjs, which gives the reason
  return runInForeground(pinnedNode(root), [...memory, join(root, 'server/bin/berthd.mjs'), ...options])
}
