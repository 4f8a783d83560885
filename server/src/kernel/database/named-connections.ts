// Every connection says of which program, version and machine it is, and which migrations that program knows, so that others see who would
// miss what a contract removes.
import { hostname } from 'node:os'
import type pg from 'pg'
import { VERSION } from '../version.ts'

/** PostgreSQL cuts off what is longer. */
const MAX_NAME = 63

/** `migration`: the number of the last one that this program knows. */
export function nameConnections(url: string, program: string, migration: string): string {
  const named = new URL(url)
  named.searchParams.set('application_name', `berth-${program}/${VERSION}/${migration}@${hostname()}`.slice(0, MAX_NAME))
  return named.toString()
}

/** Held while a process looks whether it knows the schema: a contract either sees its connection, or is seen by it. */
export const START_LOCK = 7_238_412

/** Who is connected and does not know that migration, such as `api of version 0.1.0 on web-1`. */
export async function olderPrograms(client: pg.Client, migration: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity where datname = current_database() and application_name like 'berth-%'
     order by application_name`,
  )
  return rows.flatMap(({ name }) => {
    const [, program, version, known, machine] = /^berth-([a-z]+)\/(\S+)\/(\d{4})@(.*)$/.exec(name) ?? []
    return known !== undefined && known < migration ? [`${program} of version ${version} on ${machine}`] : []
  })
}
