// How commands are described, and how a description becomes a command with the options that all have.
import { createCommand, Option, type Command } from 'commander'
import { FORMATS, print, type Answer } from './answer.ts'
import { Call, RETRIES, type CommonOptions } from './call.ts'
import { wrongUsage } from './failure.ts'
import type { Io } from './io.ts'
import { whole } from './options.ts'
import { harmless, paintOn } from './style.ts'

export interface Verb<Options = object> {
  name: string
  about: string
  /** Such as `<vm> [command...]`. What is called as a kind of `find.ts` is completed with live names. */
  args?: string
  /** Flags and what they mean. */
  options?: [string, string][]
  /** Without the leading `berth`. */
  example: string
  /** Starts an action: takes --no-wait and --timeout. */
  waits?: true
  /** Takes --yes, because a person is asked first. */
  asks?: true
  /** Takes --dry-run. */
  priced?: true
  /** Has no table: takes neither --output nor --context. */
  bare?: true
  run(call: Call, options: Options & CommonOptions, ...args: string[]): Promise<Answer | void>
}

export interface Group {
  name: string
  about: string
  verbs: Entry[]
}

export type Entry = Verb | Group

/** Keeps the type of the options where a verb is written, and forgets it where verbs are listed. */
export const verb = <Options = object>(spec: Verb<Options>): Verb => spec as Verb

export const group = (name: string, about: string, verbs: Entry[]): Group => ({ name, about, verbs })

export function toCommand(entry: Entry, io: Io): Command {
  const command = createCommand(entry.name).description(entry.about)
  if ('verbs' in entry) {
    for (const each of entry.verbs) command.addCommand(toCommand(each, io))
    return command
  }
  if (entry.args) command.arguments(entry.args)
  for (const [flags, about] of entry.options ?? []) command.addOption(new Option(flags, about))
  addCommonOptions(command, entry)
  command.addHelpText('after', `\nExample:\n  $ berth ${entry.example}`)
  return command.action((...given: unknown[]) => carryOut(io, entry, given.at(-2) as CommonOptions, given.slice(0, -2) as string[]))
}

function addCommonOptions(command: Command, { waits, asks, priced, bare }: Verb): void {
  if (waits) {
    command.option('--no-wait', 'answer at once, with the action')
    command.option('--timeout <seconds>', 'how long to wait at most (exit code 7; the action goes on)', toSeconds)
  }
  if (asks) command.option('-y, --yes', 'do not ask first')
  if (priced) command.option('--dry-run', 'say what it would cost or give back, and change nothing')
  if (bare) return
  command.addOption(new Option('-o, --output <format>', 'how to answer').choices(FORMATS).default('table'))
  command.option('--context <name>', 'the server to talk to: see berth context list')
  command.option('--retries <number>', `how often to try again when the server is busy or away; ${RETRIES} unless given`, toRetries)
}

function toSeconds(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw wrongUsage(`--timeout must be a number of seconds above 0, not "${text}"`)
  return value
}

const toRetries = (text: string): number => whole('--retries', text)

async function carryOut(io: Io, { run }: Verb, options: CommonOptions, args: string[]): Promise<void> {
  const answer = await run(new Call(io, options), options, ...args)
  if (!answer) return
  const { output = 'table' } = options
  io.stdout.write(print(answer, output, paintOn(io.stdout, io.env)))
  if (answer.hint && output === 'table') io.stderr.write(`${paintOn(io.stderr, io.env)('dim', harmless(answer.hint))}\n`)
}
