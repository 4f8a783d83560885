// Builds the dashboard if one of its sources is newer than the last build.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly, step } from './progress.mjs'

const SOURCES = ['web/src', 'web/public', 'web/index.html', 'web/vite.config.ts', 'web/build', 'sdk/src', 'package-lock.json']
const BUILT = 'web/dist/index.html'

export async function buildDashboard(root) {
  const builtMs = modifiedMs(join(root, BUILT))
  if (SOURCES.every((source) => newestMs(join(root, source)) < builtMs)) return
  await step('dashboard', () => runQuietly(join(root, 'node_modules/.bin/vite'), ['build', join(root, 'web'), '--logLevel', 'warn']))
}

function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Newest modification time in a tree. The time of a folder changes when a file in it is removed. */
function newestMs(path) {
  const own = modifiedMs(path)
  if (!statSync(path).isDirectory()) return own
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), own)
}
