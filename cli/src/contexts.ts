// Servers and tokens under names, in a file that only its owner can read. A stored token goes to the server it was stored for, and nowhere else.
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError, EXIT, usageError } from './exit-codes.ts'
import type { Io } from './io.ts'

interface Server {
  url: string
  token: string
}

export interface Contexts {
  current: string | null
  contexts: Record<string, Server>
}

const DEFAULT_URL = 'http://127.0.0.1:8080'

export const contextsFile = (env: Io['env']): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config'), 'berth', 'config.json')

export function readContexts(env: Io['env']): Contexts {
  const path = contextsFile(env)
  try {
    if (statSync(path).mode & 0o077) chmodSync(path, 0o600) // copied by hand, perhaps: it holds tokens
    return JSON.parse(readFileSync(path, 'utf8')) as Contexts
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, contexts: {} }
    if (error instanceof SyntaxError)
      throw new CliError(EXIT.failed, `${path} is not JSON: mend it, or remove it and run berth login again`)
    throw error
  }
}

/** Whole or not at all: a command that reads meanwhile sees the old file or the new one. */
export function writeContexts(env: Io['env'], contexts: Contexts): void {
  const path = contextsFile(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporaryPath = `${path}.${process.pid}`
  writeFileSync(temporaryPath, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 })
  renameSync(temporaryPath, path)
}

/** The server and token that a command talks to: those of the context it names, else BERTH_URL with BERTH_TOKEN, else the current context. */
export function resolveServer(env: Io['env'], wanted?: string): Server {
  const name = wanted || env['BERTH_CONTEXT']
  if (name) return getContext(env, name)
  if (env['BERTH_TOKEN']) return { url: env['BERTH_URL'] || DEFAULT_URL, token: env['BERTH_TOKEN'] }
  const { current } = readContexts(env)
  if (current === null) throw new CliError(EXIT.auth, 'You are not signed in. Run: berth login, or set BERTH_TOKEN')
  const server = getContext(env, current)
  if (isOtherServer(env, server)) throw new CliError(EXIT.auth, serverMismatchMessage(env['BERTH_URL']!, current, server.url))
  return server
}

export function getContext(env: Io['env'], name: string): Server {
  const { contexts } = readContexts(env)
  const server = contexts[name]
  if (!server) throw usageError(`There is no context "${name}". There are: ${Object.keys(contexts).join(', ') || 'none'}`)
  return server
}

/** Says what of the environment keeps commands from going to this context although it is the current one. */
export function overrideWarning(env: Io['env'], name: string): string | undefined {
  const { BERTH_CONTEXT, BERTH_TOKEN } = env
  const overrules = {
    BERTH_CONTEXT: BERTH_CONTEXT && BERTH_CONTEXT !== name,
    BERTH_TOKEN,
    BERTH_URL: isOtherServer(env, getContext(env, name)),
  }
  const set = Object.entries(overrules).flatMap(([variable, does]) => (does ? [variable] : []))
  if (set.length > 0) return `Your environment still comes first. For commands to go to ${name}: unset ${set.join(' ')}`
}

const isOtherServer = ({ BERTH_URL }: Io['env'], { url }: Server): boolean => Boolean(BERTH_URL) && originOf(BERTH_URL!) !== originOf(url)

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)

const serverMismatchMessage = (url: string, context: string, known: string): string =>
  `BERTH_URL is ${url}, but the token of the current context ${context} is for ${known} alone. ` +
  'Set BERTH_TOKEN too, name a context with --context, or unset BERTH_URL'
