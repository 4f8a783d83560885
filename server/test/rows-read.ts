// How many rows PostgreSQL touches for a query, which says whether its cost grows with the data, whatever the machine is doing.
import type { Queries, Sql } from '../src/kernel/database/db.ts'

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

const rowsOf = (plan: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0)

/** Of all nodes of its plan. Runs it. */
export async function rowsRead(db: Queries, { text, values }: Sql): Promise<number> {
  const { rows } = await db.raw(`explain (analyze, format json) ${text}`, values)
  return rowsOf((rows as { 'QUERY PLAN': { Plan: Plan }[] }[])[0]!['QUERY PLAN'][0]!.Plan)
}
