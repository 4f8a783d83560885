// Restores a dump: verifies it first, then loads it into an empty database in one transaction.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { PassThrough } from 'node:stream'
import { createGunzip } from 'node:zlib'
import pg from 'pg'
import { isEmpty, listForeignKeys, listTables, type Exceptions } from './tables.ts'
import { copyIn } from './copy-protocol.ts'
import { END_OF_ROWS, FORMAT, type Head, type Line, type Summary } from './format.ts'

/** Returns the contents; throws unless the checksum matches. */
export async function inspectArchive(path: string, kind: string): Promise<{ head: Head; summary: Summary }> {
  const hash = createHash('sha256')
  let head: Head | undefined
  let rowsFollow = false
  for await (const line of linesOf(path)) {
    const text = rowsFollow ? null : parse(path, line)
    if (text && 'end' in text) {
      if (text.end.sha256 !== hash.digest('hex')) throw damaged(path)
      return { head: head!, summary: text.end }
    }
    if (!head) head = requireHead(path, text, kind)
    else if (text && 'table' in text) rowsFollow = true
    else if (rowsFollow && line.toString() === END_OF_ROWS) rowsFollow = false
    hash.update(line).update('\n')
  }
  throw damaged(path)
}

const damaged = (path: string): Error => new Error(`${path} is damaged or cut off: its checksum does not match. Use another copy`)

function parse(path: string, line: Buffer): Line {
  try {
    return JSON.parse(line.toString()) as Line
  } catch {
    throw damaged(path)
  }
}

function requireHead(path: string, line: Line | null, kind: string): Head {
  if (!line || !('archive' in line) || line.archive !== kind) throw new Error(`${path} is no ${kind}`)
  if (line.format !== FORMAT)
    throw new Error(`${path} was written by version ${line.version}, which this one cannot read. Use that version`)
  return line
}

/** Loads into existing tables, which stay empty when anything fails. */
export async function restoreDump(url: string, path: string, except: Exceptions): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('begin')
    const rows = await load(client, linesOf(path), except)
    await client.query('commit')
    return rows
  } finally {
    await client.end() // closing rolls back
  }
}

async function load(client: pg.Client, lines: AsyncGenerator<Buffer>, except: Exceptions): Promise<number> {
  const head = JSON.parse((await lines.next()).value!.toString()) as Head
  for (const { name, parent, bound } of head.partitions) await client.query(`create table ${name} partition of ${parent} ${bound}`)
  const tables = await listTables(client, except)
  const keys = await listForeignKeys(client)
  await client.query(`truncate ${tables.map(({ name }) => name).join(', ')}`)
  for (const { relation, name } of keys) await client.query(`alter table ${relation} drop constraint ${name}`)
  let rows = 0
  for await (const line of lines) {
    const next = JSON.parse(line.toString()) as Line
    if ('table' in next) rows += await copyIn(client, `copy ${next.table} (${next.columns.join(', ')}) from stdin`, rowsOf(lines))
    else if ('sequence' in next) await client.query('select setval($1, $2)', [next.sequence, next.value])
    else break
  }
  for (const { relation, name, definition } of keys) await client.query(`alter table ${relation} add constraint ${name} ${definition}`)
  return rows
}

const CHUNK_BYTES = 64 * 1024

/** The lines up to the end of the rows, in chunks. */
async function* rowsOf(lines: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let batch: Buffer[] = []
  let size = 0
  for (;;) {
    const { value, done } = await lines.next()
    if (done || value.toString() === END_OF_ROWS) break
    batch.push(value, NEWLINE)
    size += value.length + 1
    if (size < CHUNK_BYTES) continue
    yield Buffer.concat(batch)
    batch = []
    size = 0
  }
  if (batch.length > 0) yield Buffer.concat(batch)
}

const NEWLINE = Buffer.from('\n')

async function* linesOf(path: string): AsyncGenerator<Buffer> {
  const text = new PassThrough()
  const read = pipeline(createReadStream(path), createGunzip(), text)
  read.catch(() => {}) // thrown by the loop below
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of text as AsyncIterable<Buffer>) {
      let start = 0
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      for (let end; (end = bytes.indexOf(10, start)) !== -1; start = end + 1) yield bytes.subarray(start, end)
      rest = bytes.subarray(start)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw damaged(path)
    throw error
  } finally {
    text.destroy()
  }
}

export async function requireEmpty(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    if (!(await isEmpty(client)))
      throw new Error('The database is not empty. Restore into an empty one: set BERTH_DATA_DIR or BERTH_DATABASE_URL')
  } finally {
    await client.end()
  }
}

/** Resets a database that was empty before. */
export async function dropAllSchemas(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(`
      select quote_ident(nspname) as name from pg_namespace where nspname <> 'information_schema' and nspname not like 'pg\\_%'`)
    for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
    await client.query('create schema public')
  } finally {
    await client.end()
  }
}
