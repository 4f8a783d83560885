#!/usr/bin/env node
// Runs the built JavaScript when installed as a package, and the TypeScript sources inside the repository.
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

/** Same session, so that ssh keeps the terminal. The terminal sends Ctrl-C to both processes; this one ignores it and waits for the child. */
async function runOnPinnedNode() {
  const pinned = ['.bin/node', `node-${process.platform}-${process.arch}/bin/node`]
  const binary = pinned
    .map((path) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url)))
    .find((path) => existsSync(path))
  if (!binary) {
    console.error(`berth needs Node 24 to run from source; this is ${process.version}. Run: npm ci`)
    process.exit(1)
  }
  const child = spawn(binary, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
