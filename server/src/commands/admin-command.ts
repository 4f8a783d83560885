// Commands that read or change the product's database and answer with data.
import { Option, type Command } from 'commander'
import type { Config } from '../config.ts'
import type { Deps, EventDeps } from '../features/deps.ts'
import type { Db } from '../kernel/database/db.ts'
import { readClock } from '../kernel/database/test-clock.ts'
import type { Log } from '../kernel/log.ts'
import { withDatabase } from './database.ts'
import { loadConfig } from './load-config.ts'
import { UsageError } from './errors.ts'
import { oneLine, type Result, show } from './output.ts'

export interface Admin {
  config: Config
  db: Db
  now: Date
}

/** What a command destroys, as a sentence; null when these options destroy nothing. */
type Loss<Options> = (options: Options, ...args: string[]) => string | null

/** `work` receives the command's options, then its arguments. With a `loss` it asks first, and needs --yes without a terminal. */
export function adminCommand<Options extends object>(
  command: Command,
  example: string,
  work: (admin: Admin, options: Options, ...args: string[]) => Promise<Result>,
  loss?: Loss<Options>,
): void {
  if (loss) command.option('-y, --yes', 'skip the confirmation prompt; required without a terminal')
  withExample(withFormat(command), example).action(async (...given: unknown[]) => {
    const options = given.at(-2) as Options & OutputOptions & { yes?: boolean }
    const args = given.slice(0, -2) as string[]
    const config = loadConfig()
    const lost = loss?.(options, ...args)
    if (lost && !options.yes) await confirm(oneLine(lost))
    const result = await withDatabase(config, async (db) =>
      work({ config, db, now: await readClock(db, config.testClock) }, options, ...args),
    )
    show(result, isJson(options))
  })
}

async function confirm(loss: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UsageError(`Nothing was changed: without a terminal, add --yes to confirm. What that would mean: ${loss}`)
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(`${loss} Continue? [y/N] `).finally(() => lines.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Cancelled. Nothing was changed')
}

export interface OutputOptions {
  json?: boolean
  output?: string
}

/** `-o json` as well, which is how `berth` says it. */
export const withFormat = (command: Command): Command =>
  command.option('--json', 'print JSON').addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']))

export const isJson = ({ json = false, output }: OutputOptions): boolean => json || output === 'json'

/** For commands that record events: the hooks (webhooks, mails) need every feature, for which other commands need not wait. */
export const loadEventDeps = async ({ now }: Admin): Promise<EventDeps> => ({
  clock: { now: () => now },
  hooks: (await import('../features/index.ts')).hooks,
})

export const withExample = (command: Command, example: string): Command =>
  command.addHelpText('after', `\nExample:\n  $ npx berthd ${example}`)

/** Imported on demand: pino loads threads and streams. */
export const silentLog = async (): Promise<Log> => (await import('../kernel/log.ts')).createLog({ level: 'silent', pretty: false })

/** For commands that start workflows or call hosts, which need more than the database. */
export async function withCore<T>({ config, db }: Admin, work: (deps: Deps) => Promise<T>): Promise<T> {
  const { openCore } = await import('../compose.ts')
  const core = await openCore(config, db.url, await silentLog(), { worker: false })
  try {
    return await work(core.deps)
  } finally {
    await core.close()
  }
}
