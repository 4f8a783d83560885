// Commands that read or change the product's database and answer with data.
import type { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import type { Deps, EventDeps } from '../features/deps.ts'
import type { Db } from '../kernel/database/db.ts'
import { readClock } from '../kernel/database/test-clock.ts'
import { createLog } from '../kernel/log.ts'
import { withDatabase } from './database.ts'
import { UsageError } from './errors.ts'
import { type Result, show } from './output.ts'

export interface Admin {
  config: Config
  db: Db
  now: Date
}

/** `work` receives the command's options, then its arguments. */
export function adminCommand<Options extends object>(
  command: Command,
  example: string,
  work: (admin: Admin, options: Options, ...args: string[]) => Promise<Result>,
): void {
  withExample(command.option('--json', 'print JSON'), example).action(async (...given: unknown[]) => {
    const options = given.at(-2) as Options & { json?: boolean }
    const config = loadConfig()
    const result = await withDatabase(config, async (db) =>
      work({ config, db, now: await readClock(db, config.testClock) }, options, ...(given.slice(0, -2) as string[])),
    )
    show(result, options.json ?? false)
  })
}

/** For commands that record events: the hooks (webhooks, mails) need every feature, for which other commands need not wait. */
export const loadEventDeps = async ({ now }: Admin): Promise<EventDeps> => ({
  clock: { now: () => now },
  hooks: (await import('../features/index.ts')).hooks,
})

export const withExample = (command: Command, example: string): Command =>
  command.addHelpText('after', `\nExample:\n  $ npx berthd ${example}`)

export function loadConfig(): Config {
  try {
    return readConfig()
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

/** For commands that start workflows or call hosts, which need more than the database. */
export async function withCore<T>({ config, db }: Admin, work: (deps: Deps) => Promise<T>): Promise<T> {
  const { openCore } = await import('../compose.ts')
  const core = await openCore(config, db.url, createLog({ level: 'silent', pretty: false }), { worker: false })
  try {
    return await work(core.deps)
  } finally {
    await core.close()
  }
}
