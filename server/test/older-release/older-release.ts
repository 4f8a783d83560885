// A database as a real older release left it when all its processes were killed: a customer with funds, a key, a
// network, a firewall and a webhook; web-1 and web-2 run, one VM is deleted; web-3 is being created, interrupted during its disk; web-2 has
// a stop action that no worker has claimed.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { KIND, EXCLUDED } from '../../src/features/control-plane-backups/service.ts'
import { MIGRATIONS } from '../../src/database.ts'
import { inspectArchive, restoreDump, dropAllSchemas } from '../../src/kernel/dump/restore.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { migrate } from '../../src/kernel/database/migrate.ts'
import { testDatabase } from '../harness.ts'

const ARCHIVE = join(import.meta.dirname, 'archive.gz')

export const TOKEN = 'vmk_Gyy2isoYQzS8R4irirWhyOmAxSCxam5Oci0DGQ9D3tRz03'
/** Of web-1. */
export const VM_ID = 'cmwhtvezwpd17yopc8rl4gwoe'
export const BALANCE = '81.80'

/** Shifts all times to now, as if its processes were killed just now. */
export async function olderRelease(dataDir: string): Promise<string> {
  const { head } = await inspectArchive(ARCHIVE, KIND, null)
  const url = await testDatabase()
  await dropAllSchemas(url)
  await migrate(url, MIGRATIONS, { only: new Set(head.migrations.map(({ name }) => name)) })
  await restoreDump(url, ARCHIVE, EXCLUDED, null)
  await moveTimes(url, systemClock.now().getTime() - Date.parse(head.createdAt))
  mkdirSync(dataDir, { recursive: true })
  copyFileSync(join(import.meta.dirname, 'master.key'), join(dataDir, 'master.key'))
  return url
}

async function moveTimes(url: string, byMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('set session_replication_role = replica') // the ledger has triggers against updates
    const { rows } = await client.query<{ relation: string; columns: string[] }>(`
      select format('%I.%I', table_schema, table_name) as relation, array_agg(quote_ident(column_name)::text) as columns
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_type = 'BASE TABLE' and data_type = 'timestamp with time zone' and table_schema in ('public', 'simulated') group by 1`)
    for (const { relation, columns } of rows)
      await client.query(`update ${relation} set ${columns.map((name) => `${name} = ${name} + interval '${byMs} ms'`).join(', ')}`)
  } finally {
    await client.end()
  }
}
