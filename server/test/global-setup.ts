// One PostgreSQL for the whole test run, without durability settings.
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

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await scratchFolder()
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300', log_line_prefix: '%d ' }
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
