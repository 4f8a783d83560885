#!/usr/bin/env -S node --max-old-space-size=1024 --max-semi-space-size=8
// Starts the server: as it was built where it is installed, as it is written within its repository, on the Node that is pinned there. With
// the memory of the machine as its only bound, V8 lets garbage pile up to several times of what is in use: hence the flags above.
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

const isInstalled = !existsSync(pathOf('../src/main.ts'))

// The caches are not in the default folder: that is shared with every user of the machine, and what it holds is executed.
if (Number(process.versions.node.split('.')[0]) < 24) await runOnPinnedNode()
else if (isInstalled) {
  module.enableCompileCache(pathOf('../.cache/compiled'))
  await import('../dist/main.js')
} else {
  module.enableCompileCache(pathOf('../../node_modules/.cache/compiled'))
  module.registerHooks({ resolve: asWritten })
  await import('../src/main.ts')
}

/** Our other packages are not built here. */
function asWritten(specifier, context, next) {
  return next(specifier, specifier.startsWith('@berth/') ? { ...context, conditions: [...context.conditions, '@berth/source'] } : context)
}

async function runOnPinnedNode() {
  const binaries = [`../../node_modules/node-${process.platform}-${process.arch}/bin/node`, '../../node_modules/.bin/node'].map(pathOf)
  const binary = binaries.find((path) => existsSync(path))
  if (isInstalled || !binary) {
    const advice = isInstalled ? 'Install a newer Node' : "The repository's own is not installed. Run: npm ci"
    console.error(`berthd needs Node 24 or later, and this is ${process.version}. ${advice}`)
    process.exit(1)
  }
  const { runInForeground } = await import('../../ops/foreground.mjs')
  process.exitCode = await runInForeground(binary, [...process.execArgv, ...process.argv.slice(1)])
}
