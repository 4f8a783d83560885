// Installs node_modules according to package-lock.json, unless it is up to date.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { runQuietly, step } from './steps.mjs'

/** The pinned Node, or the running one where no pinned build exists and it is new enough. */
export function pinnedNode(root) {
  const binary = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (existsSync(binary)) return binary
  return Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : undefined
}

export async function installDependencies(root) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const hash = createHash('sha256').update(lockText).digest('hex')
  const marker = join(root, 'node_modules/.installed-from')
  if (pinnedNode(root) && readIfThere(marker) === hash) return
  if (!pinnedNode(root) || !installedByHand(root, lockText)) {
    rmSync(marker, { force: true })
    await step('dependencies', () => npmCi(root))
  }
  writeFileSync(marker, hash)
}

/** After a manual `npm install`, npm's own record matches the lockfile, so nothing has to be installed. */
function installedByHand(root, lockText) {
  const record = readIfThere(join(root, 'node_modules/.package-lock.json'))
  if (!record) return false
  const installed = JSON.parse(record).packages
  const wanted = Object.entries(JSON.parse(lockText).packages).filter(([path]) => path.includes('node_modules/'))
  return wanted.every(([path, { version, optional }]) => (installed[path] ? installed[path].version === version : optional))
}

async function npmCi(root) {
  // npm needs HOME, and settings of the user or shell must not omit packages.
  const env = { ...process.env, HOME: process.env.HOME ?? homedir() ?? tmpdir() }
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  await runQuietly('npm', ['ci', '--prefix', root, ...options], env)
  if (pinnedNode(root)) return
  throw new Error(
    `Node 24 is needed and is not installed for ${process.platform} ${process.arch}. Install Node 24 and run this again with it.`,
  )
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
