import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type TemplateImportRow = Pick<Row<'template_imports'>, 'id' | 'slug' | 'url' | 'doing' | 'created_at'> &
  Pick<Row<'workflow_runs'>, 'status' | 'error' | 'completed_at'>

export const insertTemplateImport = (tx: Tx, row: Row<'template_imports'>) =>
  tx.run(sql`
    insert into template_imports (id, slug, url, doing, created_at) values (${row.id}, ${row.slug}, ${row.url}, ${row.doing}, ${row.created_at})`)

export const writeDoing = (db: Queries, id: string, doing: string) =>
  db.run(sql`update template_imports set doing = ${doing} where id = ${id}`)

const MOST = 20

/** The newest first; those of runs that are forgotten are, too. */
export const listTemplateImports = (db: Queries) =>
  db.many<TemplateImportRow>(sql`
    select i.id, i.slug, i.url, i.doing, i.created_at, r.status, r.error, r.completed_at
    from template_imports i join workflow_runs r on r.id = i.id order by i.id desc limit ${MOST}`)
