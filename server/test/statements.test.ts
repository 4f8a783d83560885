// Every statement of the product is prepared against the migrated schema, and what PostgreSQL says of its result is compared with the row
// type that the code claims.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import { afterAll, expect, test } from 'vitest'
import { testDatabase } from './harness.ts'
import { RowChecker } from './statements/check.ts'
import { Describer } from './statements/describe.ts'
import { findStatements, type Statement } from './statements/evaluate.ts'

const root = join(import.meta.dirname, '../..')
const config = join(import.meta.dirname, 'statements/tsconfig.json')
const PLANTED = join(import.meta.dirname, 'statements/planted.ts')

const api = new API({ cwd: root })
afterAll(() => api.close())
const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)!
const rows = new RowChecker(project, join(root, 'server/src/schema/rows.gen.ts'))
const describer = await Describer.open(await testDatabase())
afterAll(() => describer.close())

const isTemporaryTable = (text: string): boolean => /^\s*create temporary table/.test(text)

async function check({ texts, row, ...where }: Statement): Promise<string[]> {
  const found = new Set<string>()
  for (const text of texts) {
    if (isTemporaryTable(text)) continue
    try {
      const columns = await describer.describe(text)
      if (row) for (const problem of rows.check(row, columns)) found.add(problem)
    } catch (error) {
      found.add(`${(error as Error).message} in: ${text}`)
    }
  }
  return [...found].map((problem) => `${where.file.slice(root.length + 1)}:${where.line}: ${problem}`)
}

test('every statement can be prepared and returns what its row type says', async () => {
  const { statements, problems } = findStatements(project, (file) => file.startsWith(join(root, 'server/src/')))
  expect(problems).toEqual([])
  for (const text of statements.flatMap(({ texts }) => texts).filter(isTemporaryTable))
    await describer.run(text.replace('on commit drop', ''))
  const wrong: string[] = []
  for (const statement of statements) wrong.push(...(await check(statement)))
  expect(wrong).toEqual([])
  expect(statements.length).toBeGreaterThan(400)
}, 600_000) // it reads the types of the whole server

test('a row type that is wrong is found', async () => {
  const { statements } = findStatements(project, (file) => file === PLANTED)
  const lines = readFileSync(PLANTED, 'utf8').split('\n')
  const found: Record<string, string[]> = {}
  for (const statement of statements) {
    const name = lines
      .slice(0, statement.line)
      .findLast((line) => line.startsWith('export const'))!
      .split(' ')[2]!
    found[name] = (await check(statement)).map((problem) => problem.replace(/^.*?:\d+: /, ''))
  }
  expect(found).toEqual({
    notReturned: ['hostname: the statement does not return it'],
    wrongType: ['used: int8 (account_quotas.used) is not number'],
    nullable: ['host_id: may be null (vms.host_id), and the type says that it is not'],
    nullableByJoin: ['host: may be null (hosts.name), and the type says that it is not'],
    nullableAggregate: ['last: may be null, and the type says that it is not'],
    valueNotInTheList: [`status: text (tickets.status) is not "CLOSED" | "OPEN"`],
    oneVariant: ['column "nickname" does not exist in: select nickname from users'],
    tooFewColumns: expect.arrayContaining(['plan_id: the statement does not return it']),
    right: [],
    rightForAReason: [],
  })
})
