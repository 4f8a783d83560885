// `api` and `worker`: one role per process, on an existing, migrated database.
import type { Config } from '../../config.ts'
import { requireMigrated } from '../../database.ts'
import { openDb } from '../../kernel/database/db.ts'
import { borrowEmbeddedPostgres, inspectEmbeddedPostgres } from '../../kernel/postgres/embedded.ts'
import { postgresFolder, requireServer } from '../database.ts'
import { runUntilStopped, openService, type ProcessContext } from './service.ts'

export const serve = (config: Config, role: 'api' | 'worker'): Promise<number> =>
  runUntilStopped(config, async (serving) => {
    const loading = import('../../compose.ts')
    loading.catch(() => {}) // awaited below, unless the database fails first
    const url = await joinDatabase(serving)
    serving.lifecycle.throwIfStopping()
    const { api, metrics } = await openService(await loading, serving, url, {
      api: role === 'api',
      worker: role === 'worker',
      isOnlyProcess: false,
    })
    serving.log.info({ role, ...(api && { address: api }), metrics }, 'process ready')
  })

async function joinDatabase(serving: ProcessContext): Promise<string> {
  const url = serving.config.databaseUrl ?? (await joinEmbedded(serving))
  await requireServer(url)
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  await requireMigrated(db).finally(() => db.close())
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
