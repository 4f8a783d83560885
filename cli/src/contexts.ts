// Named servers and tokens in a file that only its owner can read. A stored token is sent only to the server it was stored for.
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError, EXIT, usageError } from './exit-codes.ts'
import type { Io } from './io.ts'

export interface Server {
  url: string
  token: string
}

export interface Contexts {
  current: string | null
  contexts: Record<string, Server>
}

export const DEFAULT_URL = 'http://127.0.0.1:8080'

export const contextsFile = (env: Io['env']): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config'), 'berth', 'config.json')

export function readContexts(env: Io['env']): Contexts {
  const path = contextsFile(env)
  try {
    if (statSync(path).mode & 0o077) chmodSync(path, 0o600) // a copy made by hand may be world-readable, and it holds tokens
    return JSON.parse(readFileSync(path, 'utf8')) as Contexts
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, contexts: {} }
    if (error instanceof SyntaxError)
      throw new CliError(EXIT.failed, `${path} is not valid JSON. Fix it, or remove it and run berth login again`)
    throw error
  }
}

/** Atomic by rename: a concurrent reader sees the old file or the new one. */
export function writeContexts(env: Io['env'], contexts: Contexts): void {
  const path = contextsFile(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporaryPath = `${path}.${process.pid}`
  writeFileSync(temporaryPath, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 })
  renameSync(temporaryPath, path)
}

/** Order: the context named by --context or BERTH_CONTEXT, then BERTH_URL with BERTH_TOKEN, then the current context. */
export function resolveServer(env: Io['env'], wanted?: string): Server {
  const name = wanted || env['BERTH_CONTEXT']
  if (name) return getContext(env, name)
  if (env['BERTH_TOKEN']) return { url: env['BERTH_URL'] || DEFAULT_URL, token: env['BERTH_TOKEN'] }
  const { current } = readContexts(env)
  if (current === null) throw new CliError(EXIT.auth, 'Not signed in. Run berth login, or set BERTH_TOKEN')
  const server = getContext(env, current)
  if (isOtherServer(env, server)) throw new CliError(EXIT.auth, serverMismatchMessage(env['BERTH_URL']!, current, server.url))
  return server
}

export function getContext(env: Io['env'], name: string): Server {
  const { contexts } = readContexts(env)
  const server = contexts[name]
  if (!server) throw usageError(`Context "${name}" not found. Available: ${Object.keys(contexts).join(', ') || 'none'}`)
  return server
}

/** Names the environment variables that take precedence over this context when it is the current one. */
export function overrideWarning(env: Io['env'], name: string): string | undefined {
  const { BERTH_CONTEXT, BERTH_TOKEN } = env
  const overrides = {
    BERTH_CONTEXT: BERTH_CONTEXT && BERTH_CONTEXT !== name,
    BERTH_TOKEN,
    BERTH_URL: isOtherServer(env, getContext(env, name)),
  }
  const set = Object.entries(overrides).flatMap(([variable, applies]) => (applies ? [variable] : []))
  if (set.length > 0) return `The environment overrides the context. To use ${name}: unset ${set.join(' ')}`
}

const isOtherServer = ({ BERTH_URL }: Io['env'], { url }: Server): boolean => Boolean(BERTH_URL) && originOf(BERTH_URL!) !== originOf(url)

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)

const serverMismatchMessage = (url: string, context: string, known: string): string =>
  `BERTH_URL is ${url}, but the token of the current context ${context} is for ${known} only. ` +
  'Set BERTH_TOKEN too, choose a context with --context, or unset BERTH_URL'
