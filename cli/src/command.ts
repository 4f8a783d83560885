// Declarative command specs, and their conversion to commander commands with the common options.
import { createCommand, Option, type Command } from 'commander'
import { CommandContext, RETRIES, type CommonOptions } from './command-context.ts'
import { CliError, EXIT, usageError } from './exit-codes.ts'
import type { Io } from './io.ts'
import { parseInteger } from './options.ts'
import { FORMATS, render, type CommandResult } from './result.ts'
import { paintOn, sanitizeTerminal } from './style.ts'

export interface CommandSpec<Options = object> {
  name: string
  description: string
  /** Such as `<vm> [command...]`. An argument named like a key of RESOURCES in resolve-id.ts is completed with existing names. */
  args?: string
  /** Flags and their descriptions. */
  options?: [string, string][]
  /** Without the leading `berth`. */
  example: string
  /** Starts an action: adds --no-wait and --timeout. */
  waits?: true
  /** Destroys something: asks for confirmation on a terminal, refuses without one. Adds --yes. */
  confirms?: true
  /** Lists what may span pages: adds --limit and --cursor. */
  lists?: true
  /** Adds --limit alone. */
  limits?: true
  /** Costs money or reboots: asks on a terminal. Adds --yes. */
  asks?: true
  /** Adds --dry-run. */
  supportsDryRun?: true
  /** Prints raw text: omits --output, --json, --context and --retries. */
  rawOutput?: true
  run(ctx: CommandContext, options: Options & CommonOptions, ...args: string[]): Promise<CommandResult | void>
}

export interface CommandGroup {
  name: string
  description: string
  commands: CommandNode[]
}

export type CommandNode = CommandSpec | CommandGroup

/** Checks the option types inside one command and erases them, so that commands of different options fit one list. */
export const defineCommand = <Options = object>(spec: CommandSpec<Options>): CommandSpec => spec as CommandSpec

export const group = (name: string, description: string, commands: CommandNode[]): CommandGroup => ({ name, description, commands })

export function buildCommand(node: CommandNode, io: Io): Command {
  const command = createCommand(node.name).description(node.description)
  if (node.name === 'get') command.alias('show')
  if ('commands' in node) {
    for (const each of node.commands) command.addCommand(buildCommand(each, io))
    return command
  }
  if (node.args) command.arguments(node.args)
  for (const [flags, description] of node.options ?? []) command.addOption(new Option(flags, description))
  addCommonOptions(command, node)
  command.addHelpText('after', `\nExample:\n  $ berth ${node.example}`)
  return command.action((...parsed: unknown[]) => runCommand(io, node, parsed.at(-2) as CommonOptions, parsed.slice(0, -2) as string[]))
}

function addCommonOptions(command: Command, { waits, confirms, asks, lists, limits, supportsDryRun, rawOutput }: CommandSpec): void {
  if (lists || limits)
    command.option('--limit <number>', 'show one page of at most so many, 1-100', (text) => parseInteger('--limit', text))
  if (lists) command.option('--cursor <cursor>', 'show the page that follows an earlier one')
  if (waits) {
    command.option('--no-wait', 'return at once without waiting for the action')
    command.option('--timeout <seconds>', 'maximum time to wait (exit code 7; the action continues)', toSeconds)
  }
  if (confirms) command.option('-y, --yes', 'skip the confirmation prompt; required without a terminal')
  if (asks) command.option('-y, --yes', 'skip the confirmation prompt')
  if (supportsDryRun) command.option('--dry-run', 'show the charge or refund without changing anything')
  if (rawOutput) return
  command.addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('table'))
  command.option('--json', 'same as --output json')
  command.option('--context <name>', 'context to use; see berth context list')
  command.option('--retries <number>', `maximum retries when the server is busy or unreachable; default: ${RETRIES}`, toRetries)
}

function toSeconds(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw usageError(`--timeout must be a number of seconds greater than 0, not "${text}"`)
  return value
}

const toRetries = (text: string): number => parseInteger('--retries', text)

async function runCommand(io: Io, { run }: CommandSpec, options: CommonOptions, args: string[]): Promise<void> {
  const result = await run(new CommandContext(io, options), options, ...args)
  if (!result) return
  const output = options.json ? 'json' : (options.output ?? 'table')
  io.stdout.write(render(result, output, paintOn(io.stdout, io.env)))
  if (result.failure) throw new CliError(EXIT.failed, result.failure)
  if (result.hint && output === 'table') io.stderr.write(`${paintOn(io.stderr, io.env)('dim', sanitizeTerminal(result.hint))}\n`)
}
