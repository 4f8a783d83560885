// Builds the dashboard when a source is newer than the build.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly, step } from './steps.mjs'

const SOURCES = ['web/src', 'web/public', 'web/index.html', 'web/vite.config.ts', 'sdk/src', 'package-lock.json']
const BUILT = 'web/dist/index.html'

export async function buildDashboard(root) {
  const builtMs = changedMs(join(root, BUILT))
  if (SOURCES.every((source) => newestMs(join(root, source)) < builtMs)) return
  await step('dashboard built', () => runQuietly(join(root, 'node_modules/.bin/vite'), ['build', join(root, 'web'), '--logLevel', 'warn']))
}

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Includes the mtime of folders, which changes when a file is deleted. */
function newestMs(path) {
  const own = changedMs(path)
  if (!statSync(path).isDirectory()) return own
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), own)
}
