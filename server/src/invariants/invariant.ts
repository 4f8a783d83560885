// Invariants as queries that return violations. No rows means that the invariant holds.
import { sql, type NotNull, type Queries, type Sql } from '../kernel/database/db.ts'
import type { Host, Region } from './inventory.ts'

export interface Violation {
  /** Id of the row, VM or volume to inspect. */
  id: NotNull<string>
  what: string
}

export interface CheckContext {
  db: Queries
  now: Date
  /** Append-only tables are checked from here on: a row that was valid stays valid. */
  since: Date
  /** The reachable hosts; their inventory is in the temporary tables of inventory.ts. */
  hosts: Host[]
  /** The regions whose network controller is reachable; the same. */
  regions: Region[]
}

export interface Invariant {
  name: string
  statement: string
  /** How long it may be violated before it is reported: as long as a reconciler needs to repair it. Zero where one commit decides. */
  settle: string
  find: (context: CheckContext) => Promise<Violation[]>
}

/** Limits the report of a systematic violation. */
const atMost = (query: Sql): Sql => sql`select id, what from (${query}) violation limit 1000`

type Options = Pick<Invariant, 'settle'>
const IMMEDIATELY: Options = { settle: '0s' }

/** `query` returns the columns `id` and `what`. */
export const invariant = (name: string, statement: string, query: (context: CheckContext) => Sql, { settle } = IMMEDIATELY): Invariant => ({
  name,
  statement,
  settle,
  find: (context) => context.db.many<Violation>(atMost(query(context))),
})

/** Runs once per reachable host. Hosts change outside of our transactions, so a single violation is never reported. */
export const hostInvariant = (
  name: string,
  statement: string,
  query: (host: Host, context: CheckContext) => Sql,
  { settle }: Options = { settle: '60s' },
): Invariant => ({
  name,
  statement,
  settle,
  find: async (context) => {
    const found: Violation[] = []
    for (const host of context.hosts) found.push(...(await context.db.many<Violation>(atMost(query(host, context)))))
    return found
  },
})

/** The same per region whose network controller is reachable. */
export const regionInvariant = (name: string, statement: string, query: (region: Region) => Sql, { settle }: Options): Invariant => ({
  name,
  statement,
  settle,
  find: async (context) => {
    const found: Violation[] = []
    for (const region of context.regions) found.push(...(await context.db.many<Violation>(atMost(query(region)))))
    return found
  },
})
