// What could come next: a command, an option, a value of it, or the name of something that exists right now.
import type { Berth } from '@berth/sdk'
import type { Command, Option } from 'commander'
import { Call } from '../call.ts'
import { readContexts } from '../contexts.ts'
import { findId, KINDS, type KindName } from '../find.ts'
import type { Io } from '../io.ts'
import { harmless } from '../style.ts'
import { SCRIPTS } from './scripts.ts'

interface Candidate {
  word: string
  about: string
}

/** Nobody waits longer than this for a Tab. */
const PATIENCE_MS = 2_000

export async function complete(program: Command, io: Io, words: string[]): Promise<Candidate[]> {
  const { command, given, pending } = walk(program, words.slice(0, -1))
  const begun = words.at(-1) ?? ''
  const all = pending ? await valuesOf(io, pending, given) : begun.startsWith('-') ? optionsOf(command) : await nextOf(io, command, given)
  return all.filter(({ word }) => word.startsWith(begun))
}

/** Follows the words as far as they name commands: answers the arguments so far, and the option that waits for its value. */
function walk(program: Command, words: string[]): { command: Command; given: string[]; pending: Option | undefined } {
  let command = program
  let pending: Option | undefined
  const given: string[] = []
  for (const word of words) {
    if (pending) pending = pending.variadic ? pending : undefined
    else if (word.startsWith('-'))
      pending = command.options.find((option) => [option.short, option.long].includes(word) && (option.required || option.optional))
    else {
      const next = given.length === 0 ? command.commands.find((each) => each.name() === word) : undefined
      if (next) command = next
      else given.push(word)
    }
  }
  return { command, given, pending }
}

const optionsOf = (command: Command): Candidate[] =>
  command.options.filter(({ hidden }) => !hidden).map((option) => ({ word: option.long ?? option.short!, about: option.description }))

async function nextOf(io: Io, command: Command, given: string[]): Promise<Candidate[]> {
  if (command.commands.length > 0) return command.commands.map((each) => ({ word: each.name(), about: each.description() }))
  const argument = command.registeredArguments[Math.min(given.length, command.registeredArguments.length - 1)]
  if (!argument || (given.length >= command.registeredArguments.length && !argument.variadic)) return []
  return named(io, argument.name(), given)
}

function valuesOf(io: Io, option: Option, given: string[]): Promise<Candidate[]> | Candidate[] {
  if (option.argChoices) return option.argChoices.map((word) => ({ word, about: '' }))
  const kind = /<([\w|]+)(?:\.\.\.)?>/.exec(option.flags)?.[1] ?? ''
  if (kind.includes('|')) return kind.split('|').map((word) => ({ word, about: '' }))
  return named(io, option.long === '--context' ? 'context' : kind, given)
}

/** No answer is no candidate: a Tab must not fail. */
async function named(io: Io, kind: string, given: string[]): Promise<Candidate[]> {
  if (kind === 'shell') return Object.keys(SCRIPTS).map((word) => ({ word, about: '' }))
  if (!(kind in KINDS) && kind !== 'context') return []
  try {
    if (kind === 'context') return Object.entries(readContexts(io.env).contexts).map(([word, { url }]) => ({ word, about: url }))
    const { label, list } = KINDS[kind as KindName]
    const berth = new Call({ ...io, stderr: { write: () => {} } }, {}).client({ maxRetries: 0, timeoutMs: PATIENCE_MS })
    const of = given.length > 0 ? await ownerOf(berth, kind, given[0]!) : ''
    return (await list(berth, of)).map(({ names }) => ({ word: harmless(names[0]!), about: label }))
  } catch {
    return []
  }
}

const OWNERS: Record<string, KindName> = { snapshot: 'vm', backup: 'vm', rule: 'firewall' }

const ownerOf = async (berth: Berth, kind: string, text: string): Promise<string> => (OWNERS[kind] ? findId(berth, OWNERS[kind], text) : '')
