import pg from 'pg'
import { inject } from 'vitest'

/** Only a superuser may end the autovacuum worker that may be at work in the database. */
export async function dropDatabase(name: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresSuperuserUrl') })
  await client.connect()
  await client.query('select pg_advisory_lock(1)') // a template cannot be in use while it is copied
  await client.query(`drop database if exists ${name} with (force)`).finally(() => client.end())
}
