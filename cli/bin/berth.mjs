#!/usr/bin/env node
// Starts the command: as it was built where it is installed, as it is written within its repository.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const source = new URL('../src/main.ts', import.meta.url)

if (!existsSync(source)) await import('../dist/main.js')
else if (Number(process.versions.node.split('.')[0]) < 24) await runOnPinnedNode()
else {
  module.enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)))
  module.registerHooks({
    resolve: (specifier, context, next) => next(specifier, { ...context, conditions: [...context.conditions, '@berth/source'] }),
  })
  await import(source)
}

/** In the same session, so that what it starts (ssh) still has its terminal. Ctrl-C comes to both of us: the other one decides. */
async function runOnPinnedNode() {
  const pinned = ['.bin/node', `node-${process.platform}-${process.arch}/bin/node`]
  const binary = pinned
    .map((path) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url)))
    .find((path) => existsSync(path))
  if (!binary) {
    console.error(`berth needs Node 24 to run from its source, and this is ${process.version}. Run: npm ci`)
    process.exit(1)
  }
  const child = spawn(binary, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
