// Builds the command tree, runs one command and turns errors into messages and exit codes.
import { CommanderError, createCommand, type Command } from 'commander'
import { buildCommand } from './command.ts'
import { COMMAND_TREE } from './commands/index.ts'
import { complete } from './completion/complete.ts'
import { ChildExitError, errorMessage, EXIT, exitCodeOf } from './exit-codes.ts'
import type { Io } from './io.ts'
import { paintOn, sanitizeLines } from './style.ts'
import { VERSION } from './version.ts'

const FOOTER = `
Every command has an example: berth vm create --help
Sign in once with berth login, or set BERTH_TOKEN (and BERTH_URL).
Exit codes: 0 ok, 1 failed, 2 usage, 3 auth, 4 not found, 5 conflict, 6 insufficient funds or quota, 7 timeout (still running), 8 rate limited.`

export function createProgram(io: Io): Command {
  const program = createCommand('berth').description('Creates and manages virtual machines.').version(VERSION).addHelpText('after', FOOTER)
  for (const entry of COMMAND_TREE) program.addCommand(buildCommand(entry, io))
  forEach(program, (command) => configure(command, io))
  return program
}

/** Returns the exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const program = createProgram(io)
  try {
    if (args[0] === '__complete') await printCandidates(program, io, args.slice(1))
    else await program.parseAsync(args, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage // commander has printed the message
    if (error instanceof ChildExitError) return error.exitCode
    io.stderr.write(`${paintOn(io.stderr, io.env)('red', 'Error:')} ${sanitizeLines(errorMessage(error))}\n`)
    return exitCodeOf(error)
  }
}

async function printCandidates(program: Command, io: Io, words: string[]): Promise<void> {
  for (const { word, description } of await complete(program, io, words)) io.stdout.write(`${word}\t${description}\n`)
}

function forEach(command: Command, visit: (each: Command) => void): void {
  visit(command)
  for (const child of command.commands) forEach(child, visit)
}

function configure(command: Command, { stdout, stderr }: Io): void {
  command
    .exitOverride()
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: (text, write) => {
        write(text.replace(/^error: ./, (head) => `Error: ${head.at(-1)!.toUpperCase()}`))
        if (/^error: (missing required argument|too many arguments)/.test(text))
          write(`Usage: ${command.createHelp().commandUsage(command)}\n`)
      },
      getOutHasColors: () => stdout.isTTY === true,
      getErrHasColors: () => stderr.isTTY === true,
    })
}
