#!/usr/bin/env -S node --max-old-space-size=1024 --max-semi-space-size=8
// Starts the server on the Node this repository pins: TypeScript runs as it is there, with no build. With the memory of the machine as
// its only bound, V8 lets garbage pile up to several times of what is in use: hence the flags above.
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

if (Number(process.versions.node.split('.')[0]) < 24) await runOnPinnedNode()
else {
  // Not the default folder: that is shared with every user of the machine, and what it holds is executed.
  module.enableCompileCache(pathOf('../../node_modules/.cache/compiled'))
  await import('../src/main.ts')
}

async function runOnPinnedNode() {
  const binaries = [`../../node_modules/node-${process.platform}-${process.arch}/bin/node`, '../../node_modules/.bin/node'].map(pathOf)
  const binary = binaries.find((path) => existsSync(path))
  if (!binary) {
    console.error(`berthd needs Node 24, this is ${process.version}, and the repository's own is not installed. Run: npm ci`)
    process.exit(1)
  }
  const { runInForeground } = await import('../../ops/foreground.mjs')
  process.exitCode = await runInForeground(binary, [...process.execArgv, ...process.argv.slice(1)])
}
