// Exit codes (0 ok, 1 failed, 2 wrong usage) and error output. Data goes to stdout, everything else to stderr.
import { CommanderError } from 'commander'
import { asError, explain, UsageError } from './errors.ts'
import { loadConfig } from './load-config.ts'

export async function runCommand(args: string[]): Promise<number> {
  const json = /(^| )(--json|-o ?json|--output[ =]json)( |$)/.test(args.join(' '))
  try {
    if (args.join() === 'up') await up()
    const { createProgram } = await import('./program.ts')
    await createProgram(json).parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2 // commander has printed the error
    process.stderr.write(asError(explain(error), json))
    return error instanceof UsageError ? 2 : 1
  }
}

/** What `npm start` runs: it does not wait for the other commands. */
async function up(): Promise<never> {
  process.exit(await (await import('./process/up.ts')).up(loadConfig()))
}
