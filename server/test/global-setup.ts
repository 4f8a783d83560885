// One PostgreSQL for the whole test run, without durability settings.
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../src/kernel/postgres/embedded.ts'
import { allowTestStatements } from './allow-test-statements.ts'
import { scratchFolder } from './scratch-folder.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
    postgresSuperuserUrl: string
    postgresLog: string
  }
}

/** Every test database is a thousand files: making and removing them in memory takes half of the time in the kernel. */
const MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 4 * 2 ** 30

const hasRoom = async (path: string): Promise<boolean> => {
  const { bavail, bsize } = await statfs(path).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize > MIN_FREE_BYTES
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await scratchFolder((await hasRoom(MEMORY)) ? MEMORY : tmpdir())
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    // A fifth of its time goes into plans of the same statements, made anew for other values; on small tables they are the same plans.
    plan_cache_mode: 'force_generic_plan',
    // The tables of a test are small: to start processes that read them side by side takes ten times as long as to read them.
    max_parallel_workers_per_gather: '0',
    max_wal_size: '256MB',
    log_line_prefix: '%d ',
  }
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder.path, 'postgres'), settings })
  await allowTestStatements(postgres)
  project.provide('postgresUrl', postgres.url)
  project.provide('postgresSuperuserUrl', postgres.superuserUrl)
  project.provide('postgresLog', join(folder.path, 'postgres', 'postgres.log'))
  return async () => {
    await postgres.stop()
    await folder.remove()
  }
}
