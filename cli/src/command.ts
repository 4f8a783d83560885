// How commands are described, and how a description becomes a command with the options that all have.
import { createCommand, Option, type Command } from 'commander'
import { CommandContext, RETRIES, type CommonOptions } from './command-context.ts'
import { usageError } from './exit-codes.ts'
import type { Io } from './io.ts'
import { parseInteger } from './options.ts'
import { FORMATS, render, type CommandResult } from './result.ts'
import { paintOn, sanitizeTerminal } from './style.ts'

export interface CommandSpec<Options = object> {
  name: string
  description: string
  /** Such as `<vm> [command...]`. What is called as a kind of `find.ts` is completed with live names. */
  args?: string
  /** Flags and what they mean. */
  options?: [string, string][]
  /** Without the leading `berth`. */
  example: string
  /** Starts an action: takes --no-wait and --timeout. */
  waits?: true
  /** Takes --yes, because a person is asked first. */
  confirms?: true
  /** Takes --dry-run. */
  supportsDryRun?: true
  /** Has no table: takes neither --output nor --context. */
  rawOutput?: true
  run(ctx: CommandContext, options: Options & CommonOptions, ...args: string[]): Promise<CommandResult | void>
}

export interface CommandGroup {
  name: string
  description: string
  commands: CommandNode[]
}

export type CommandNode = CommandSpec | CommandGroup

/** Keeps the type of the options where a verb is written, and forgets it where verbs are listed. */
export const defineCommand = <Options = object>(spec: CommandSpec<Options>): CommandSpec => spec as CommandSpec

export const group = (name: string, description: string, commands: CommandNode[]): CommandGroup => ({ name, description, commands })

export function buildCommand(node: CommandNode, io: Io): Command {
  const command = createCommand(node.name).description(node.description)
  if ('commands' in node) {
    for (const each of node.commands) command.addCommand(buildCommand(each, io))
    return command
  }
  if (node.args) command.arguments(node.args)
  for (const [flags, meaning] of node.options ?? []) command.addOption(new Option(flags, meaning))
  addCommonOptions(command, node)
  command.addHelpText('after', `\nExample:\n  $ berth ${node.example}`)
  return command.action((...parsed: unknown[]) => runCommand(io, node, parsed.at(-2) as CommonOptions, parsed.slice(0, -2) as string[]))
}

function addCommonOptions(command: Command, { waits, confirms, supportsDryRun, rawOutput }: CommandSpec): void {
  if (waits) {
    command.option('--no-wait', 'answer at once, with the action')
    command.option('--timeout <seconds>', 'how long to wait at most (exit code 7; the action goes on)', toSeconds)
  }
  if (confirms) command.option('-y, --yes', 'do not ask first')
  if (supportsDryRun) command.option('--dry-run', 'say what it would cost or give back, and change nothing')
  if (rawOutput) return
  command.addOption(new Option('-o, --output <format>', 'how to answer').choices(FORMATS).default('table'))
  command.option('--context <name>', 'the server to talk to: see berth context list')
  command.option('--retries <number>', `how often to try again when the server is busy or away; ${RETRIES} unless given`, toRetries)
}

function toSeconds(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw usageError(`--timeout must be a number of seconds above 0, not "${text}"`)
  return value
}

const toRetries = (text: string): number => parseInteger('--retries', text)

async function runCommand(io: Io, { run }: CommandSpec, options: CommonOptions, args: string[]): Promise<void> {
  const result = await run(new CommandContext(io, options), options, ...args)
  if (!result) return
  const { output = 'table' } = options
  io.stdout.write(render(result, output, paintOn(io.stdout, io.env)))
  if (result.hint && output === 'table') io.stderr.write(`${paintOn(io.stderr, io.env)('dim', sanitizeTerminal(result.hint))}\n`)
}
