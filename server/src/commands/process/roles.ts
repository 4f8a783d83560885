// `api` and `worker`: one role per process, on an existing, migrated database.
import type { Config } from '../../config.ts'
import { nameProgram, requireMigrated } from '../../database.ts'
import { openDb } from '../../kernel/database/db.ts'
import { borrowEmbeddedPostgres, inspectEmbeddedPostgres } from '../../kernel/postgres/embedded.ts'
import { postgresFolder, requireServer } from '../database.ts'
import { runUntilStopped, openService, type ProcessContext } from './service.ts'

export function serve(config: Config, role: 'api' | 'worker'): Promise<number> {
  const start = async (serving: ProcessContext): Promise<void> => {
    const loading = import('../../compose.ts')
    loading.catch(() => {}) // awaited below, unless the database fails first
    const url = await joinDatabase(serving, role)
    serving.lifecycle.throwIfStopping()
    const { api, metrics } = await openService(await loading, serving, url, {
      api: role === 'api',
      worker: role === 'worker',
      isOnlyProcess: false,
    })
    serving.log.info({ role, ...(api && { address: api }), metrics }, 'process ready')
  }
  const { drainSeconds, drainDelaySeconds } = config
  return runUntilStopped(config, start, { drainSeconds: role === 'api' ? drainDelaySeconds + drainSeconds : drainSeconds })
}

async function joinDatabase(serving: ProcessContext, role: string): Promise<string> {
  const url = nameProgram(serving.config.databaseUrl ?? (await joinEmbedded(serving)), role)
  await requireServer(url)
  // Stays open, so that the process is connected all the time from here on: a contract waits for it.
  const db = serving.stack.adopt(openDb({ url, maxConnections: 1, onError: () => {} }), (each) => each.close())
  await requireMigrated(db)
  return url
}

async function joinEmbedded({ config, stack }: ProcessContext): Promise<string> {
  const dataDir = postgresFolder(config)
  if (!(await inspectEmbeddedPostgres(dataDir)).running) {
    throw new Error('There is no database: set BERTH_DATABASE_URL, or start `berthd up` first to share its embedded one')
  }
  const borrowed = await borrowEmbeddedPostgres({ dataDir })
  stack.defer(() => borrowed.stop())
  return borrowed.url
}
