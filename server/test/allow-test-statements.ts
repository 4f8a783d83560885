// Berth's role is no superuser. Tests and benches also create databases, and fill tables without the triggers and foreign keys.
import pg from 'pg'
import type { EmbeddedPostgres } from '../src/kernel/postgres/embedded.ts'

export async function allowTestStatements({ url, superuserUrl }: Pick<EmbeddedPostgres, 'url' | 'superuserUrl'>): Promise<void> {
  const role = pg.escapeIdentifier(new URL(url).searchParams.get('user')!)
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  await client.query(`alter role ${role} createdb; grant set on parameter session_replication_role to ${role}`).finally(() => client.end())
}
