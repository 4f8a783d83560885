// Shell completion: commands, options, option values, and names of existing resources.
import { WEBHOOK_EVENTS, type Berth } from '@berth/sdk'
import type { Command, Option } from 'commander'
import { CommandContext } from '../command-context.ts'
import { readContexts } from '../contexts.ts'
import type { Io } from '../io.ts'
import { resolveId, RESOURCES, type ResourceName } from '../resolve-id.ts'
import { sanitizeTerminal } from '../style.ts'
import { SCRIPTS } from './scripts.ts'

interface Candidate {
  word: string
  description: string
}

/** Limits the delay of a Tab press. */
const TIMEOUT_MS = 2_000

export async function complete(program: Command, io: Io, words: string[]): Promise<Candidate[]> {
  const { command, args, pending } = parseWords(program, words.slice(0, -1))
  const prefix = words.at(-1) ?? ''
  const all = pending
    ? await listOptionValues(io, pending, args)
    : prefix.startsWith('-')
      ? listOptions(command)
      : await listNextWords(io, command, args)
  return all.filter(({ word }) => word.startsWith(prefix))
}

/** Finds the command, its arguments so far, and the option whose value is being completed. */
function parseWords(program: Command, words: string[]): { command: Command; args: string[]; pending: Option | undefined } {
  let command = program
  let pending: Option | undefined
  const args: string[] = []
  for (const word of words) {
    if (pending) pending = pending.variadic ? pending : undefined
    else if (word.startsWith('-'))
      pending = command.options.find((option) => [option.short, option.long].includes(word) && (option.required || option.optional))
    else {
      const next = args.length === 0 ? command.commands.find((each) => each.name() === word) : undefined
      if (next) command = next
      else args.push(word)
    }
  }
  return { command, args, pending }
}

const listOptions = (command: Command): Candidate[] =>
  command.options.filter(({ hidden }) => !hidden).map((option) => ({ word: option.long ?? option.short!, description: option.description }))

async function listNextWords(io: Io, command: Command, args: string[]): Promise<Candidate[]> {
  if (command.commands.length > 0) return command.commands.map((each) => ({ word: each.name(), description: each.description() }))
  const argument = command.registeredArguments[Math.min(args.length, command.registeredArguments.length - 1)]
  if (!argument || (args.length >= command.registeredArguments.length && !argument.variadic)) return []
  return listNames(io, argument.name(), args)
}

function listOptionValues(io: Io, option: Option, args: string[]): Promise<Candidate[]> | Candidate[] {
  if (option.argChoices) return option.argChoices.map((word) => ({ word, description: '' }))
  const kind = /<([\w|-]+)(?:\.\.\.)?>/.exec(option.flags)?.[1] ?? ''
  if (kind.includes('|')) return kind.split('|').map((word) => ({ word, description: '' }))
  return listNames(io, option.long === '--context' ? 'context' : kind, args)
}

/** Returns no candidates when the server fails: completion must not print errors. */
async function listNames(io: Io, kind: string, args: string[]): Promise<Candidate[]> {
  if (kind === 'event') return WEBHOOK_EVENTS.map((word) => ({ word, description: '' }))
  if (kind === 'shell') return Object.keys(SCRIPTS).map((word) => ({ word, description: '' }))
  if (!(kind in RESOURCES) && kind !== 'context') return []
  try {
    if (kind === 'context') return Object.entries(readContexts(io.env).contexts).map(([word, { url }]) => ({ word, description: url }))
    const { label, list } = RESOURCES[kind as ResourceName]
    const berth = new CommandContext({ ...io, stderr: { write: () => {} } }, {}).createClient({ maxRetries: 0, timeoutMs: TIMEOUT_MS })
    const parentId = args.length > 0 ? await resolveParentId(berth, kind, args[0]!) : ''
    return (await list(berth, parentId)).map(({ names }) => ({ word: sanitizeTerminal(names[0]!), description: label }))
  } catch {
    return []
  }
}

const PARENTS: Record<string, ResourceName> = { snapshot: 'vm', backup: 'vm', 'volume-snapshot': 'volume', rule: 'firewall' }

const resolveParentId = async (berth: Berth, kind: string, text: string): Promise<string> =>
  PARENTS[kind] ? resolveId(berth, PARENTS[kind], text) : ''
