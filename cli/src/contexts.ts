// Servers and tokens under names, in a file that only its owner can read. BERTH_URL and BERTH_TOKEN win over it.
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { EXIT, Failure, wrongUsage } from './failure.ts'
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
    if (error instanceof SyntaxError) throw new Failure(EXIT.failed, `${path} is not JSON: mend it, or remove it and run berth login again`)
    throw error
  }
}

/** Whole or not at all: a command that reads meanwhile sees the old file or the new one. */
export function writeContexts(env: Io['env'], contexts: Contexts): void {
  const path = contextsFile(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

/** The server and token that a command talks to. */
export function serverOf(env: Io['env'], wanted?: string): Server {
  const name = wanted ?? env['BERTH_CONTEXT']
  if (!name && env['BERTH_TOKEN']) return { url: env['BERTH_URL'] || DEFAULT_URL, token: env['BERTH_TOKEN'] }
  const { current, contexts } = readContexts(env)
  const chosen = name ?? current
  if (chosen === null) throw new Failure(EXIT.auth, 'You are not signed in. Run: berth login, or set BERTH_TOKEN')
  const server = contexts[chosen]
  if (!server) throw wrongUsage(`There is no context "${chosen}". There are: ${Object.keys(contexts).join(', ') || 'none'}`)
  return { url: env['BERTH_URL'] || server.url, token: env['BERTH_TOKEN'] && !name ? env['BERTH_TOKEN'] : server.token }
}
