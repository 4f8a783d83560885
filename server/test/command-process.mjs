// Runs commands of `berthd` for command-process.ts, one after the other. What they write goes to the real streams, on which the end is marked.
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

module.enableCompileCache(pathOf('../../node_modules/.cache/compiled'))
module.registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier.startsWith('@berth/') ? { ...context, conditions: [...context.conditions, '@berth/source'] } : context),
})
const { runCommand } = await import('../src/commands/run-command.ts')
process.argv[1] = pathOf('../bin/berthd.mjs')

process.on('disconnect', () => process.exit())
process.on('message', async ({ args, environment, end }) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.argv.splice(2, Infinity, ...args)
  process.exitCode = undefined
  const code = await runCommand(args)
  process.exitCode = undefined
  const mark = `${end}${code}\n`
  process.stdout.write(mark)
  process.stderr.write(mark)
})
