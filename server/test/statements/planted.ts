// Row types that are wrong, one mistake each. statements.test.ts shows that each is found; nobody calls them.
import { allColumns } from '../../src/schema/columns.ts'
import type { Row } from '../../src/schema/rows.gen.ts'
import { sql, type NotNull, type Queries, type Sql } from '../../src/kernel/database/db.ts'

export const notReturned = (db: Queries) => db.many<{ id: string; hostname: string }>(sql`select id from vms`)

export const wrongType = (db: Queries) => db.one<{ used: number }>(sql`select used from account_quotas`)

export const nullable = (db: Queries) => db.maybe<{ host_id: string }>(sql`select host_id from vms`)

export const nullableByJoin = (db: Queries) =>
  db.many<{ name: string; host: string }>(sql`select v.name, h.name as host from vms v left join hosts h on h.id = v.host_id`)

export const nullableAggregate = (db: Queries) => db.one<{ last: Date }>(sql`select max(created_at) as last from vms`)

export const valueNotInTheList = (db: Queries) => db.many<{ status: 'OPEN' | 'CLOSED' }>(sql`select status from tickets`)

const column = (isName: boolean): Sql => (isName ? sql`name` : sql`nickname`)
export const oneVariant = (db: Queries, isName: boolean) => db.run(sql`select ${column(isName)} from users`)

export const tooFewColumns = (db: Queries) => db.many<Row<'vms'>>(sql`select ${allColumns('hosts')} from hosts`)

export const right = (db: Queries) =>
  db.many<Row<'vms'> & { host: string | null }>(sql`
    select ${allColumns('vms', 'v')}, h.name as host from vms v left join hosts h on h.id = v.host_id`)

export const rightForAReason = (db: Queries) => db.many<{ host_id: NotNull<string> }>(sql`select host_id from vms where provisioned`)
