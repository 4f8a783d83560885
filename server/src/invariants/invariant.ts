// What must always be true, as questions that answer with what is not. No rows means that the promise is kept.
import { sql, type Queries, type Sql } from '../kernel/database/db.ts'
import type { Host } from './inventory.ts'

export interface Violation {
  /** Of the row, the VM or the volume that somebody has to look at. */
  id: string
  what: string
}

export interface CheckContext {
  db: Queries
  now: Date
  /** What only grows is looked at from here on: what was right once stays right. */
  since: Date
  /** Those that answer: what they really have is in the tables of inventory.ts. */
  hosts: Host[]
}

export interface Invariant {
  name: string
  promise: string
  /** How long it may be broken before anybody is told: as long as a reconciler needs to mend it. Nothing where one commit decides. */
  settle: string
  find: (context: CheckContext) => Promise<Violation[]>
}

/** Who is wrong a thousand times need not be told of each. */
const atMost = (query: Sql): Sql => sql`select * from (${query}) violation limit 1000`

type Options = Pick<Invariant, 'settle'>
const AT_ONCE: Options = { settle: '0s' }

/** `query` answers the columns `id` and `what`. */
export const invariant = (name: string, promise: string, query: (context: CheckContext) => Sql, { settle } = AT_ONCE): Invariant => ({
  name,
  promise,
  settle,
  find: (context) => context.db.many<Violation>(atMost(query(context))),
})

/** Asked once for every host that answers; hosts change without our transactions, so a single look never counts. */
export const hostInvariant = (
  name: string,
  promise: string,
  query: (host: Host, context: CheckContext) => Sql,
  { settle }: Options = { settle: '60s' },
): Invariant => ({
  name,
  promise,
  settle,
  find: async (context) => {
    const found: Violation[] = []
    for (const host of context.hosts) found.push(...(await context.db.many<Violation>(atMost(query(host, context)))))
    return found
  },
})
