// Restores a dump: authenticates and verifies it first, then loads it into an empty database in one transaction.
import { createHash, timingSafeEqual } from 'node:crypto'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { PassThrough } from 'node:stream'
import { createGunzip } from 'node:zlib'
import pg from 'pg'
import {
  isEmpty,
  listForeignKeys,
  listPartitionedTables,
  listSequences,
  listTables,
  listTriggered,
  partitionName,
  type Exceptions,
  type Partition,
} from './tables.ts'
import { copyIn } from './copy-protocol.ts'
import { END_OF_ROWS, FORMAT, TRAILER_BYTES, TRAILER_MARK, trailerOf, type Head, type Line, type NewMac, type Summary } from './format.ts'

/** Throws unless the key wrote these very bytes: nothing of the file is decompressed or parsed for it. */
export async function requireAuthentic(path: string, newMac: NewMac): Promise<void> {
  for await (const _ of compressedBytes(path, newMac));
}

/** Returns the contents; throws unless the checksum matches. */
export async function inspectArchive(path: string, kind: string, newMac: NewMac | null): Promise<{ head: Head; summary: Summary }> {
  const hash = createHash('sha256')
  let head: Head | undefined
  let summary: Summary | undefined
  let rowsFollow = false
  for await (const line of linesOf(path, newMac)) {
    if (summary) throw damaged(path)
    const text = rowsFollow ? null : parse(path, line)
    if (text && 'end' in text) {
      if (text.end.sha256 !== hash.digest('hex')) throw damaged(path)
      summary = text.end
      continue
    }
    if (!head) head = requireHead(path, text, kind)
    else if (text && 'table' in text) rowsFollow = true
    else if (rowsFollow && line.toString() === END_OF_ROWS) rowsFollow = false
    hash.update(line).update('\n')
  }
  if (!head || !summary) throw damaged(path)
  return { head, summary }
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

/** Loads into existing tables, which stay empty when anything fails: also when the file is not the one that was inspected. */
export async function restoreDump(url: string, path: string, except: Exceptions, newMac: NewMac | null): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('begin')
    const rows = await load(client, linesOf(path, newMac), except)
    await client.query('commit')
    return rows
  } finally {
    await client.end() // closing rolls back
  }
}

/** Statements name only what the migrated database has; the file chooses among it. */
async function load(client: pg.Client, lines: AsyncGenerator<Buffer>, except: Exceptions): Promise<number> {
  const head = JSON.parse((await lines.next()).value!.toString()) as Head
  await createPartitions(client, head.partitions)
  const tables = new Map((await listTables(client, except)).map((table) => [table.name, table.columns]))
  const sequences = new Set((await listSequences(client, except)).map(({ name }) => name))
  const keys = await listForeignKeys(client)
  const triggered = await listTriggered(client, except)
  // An excepted table that refers to these is empty too, and filled by their triggers.
  await client.query(`truncate ${[...tables.keys()].join(', ')} cascade`)
  for (const { relation, name } of keys) await client.query(`alter table ${relation} drop constraint ${name}`)
  for (const name of triggered) await client.query(`alter table ${name} disable trigger user`)
  let rows = 0
  for await (const line of lines) {
    const next = JSON.parse(line.toString()) as Line
    if ('table' in next) rows += await copyIn(client, copyStatement(next, tables), rowsOf(lines))
    else if ('sequence' in next) {
      if (!sequences.has(next.sequence)) throw unknownName('sequence', next.sequence)
      await client.query('select setval($1, $2)', [next.sequence, next.value])
    } else if (!('end' in next)) throw unknownName('line', line.toString())
  }
  for (const name of triggered) await client.query(`alter table ${name} enable trigger user`)
  for (const { relation, name, definition } of keys) await client.query(`alter table ${relation} add constraint ${name} ${definition}`)
  return rows
}

const unknownName = (kind: string, name: string): Error =>
  new Error(`The backup names the ${kind} ${JSON.stringify(name).slice(0, 100)}, which this version does not have. Nothing was restored`)

/** Each table at most once. */
function copyStatement({ table, columns }: { table: string; columns: string[] }, tables: Map<string, string[]>): string {
  const known = tables.get(table)
  if (!known || !tables.delete(table)) throw unknownName('table', table)
  const stranger = columns.find((column) => !known.includes(column))
  if (stranger !== undefined) throw unknownName('column', `${table}.${stranger}`)
  return `copy ${table} (${columns.join(', ')}) from stdin`
}

/** A partition has the name that its parent and its start give it; of the file's text only two times remain. */
async function createPartitions(client: pg.Client, partitions: Partition[]): Promise<void> {
  const parents = await listPartitionedTables(client)
  for (const { parent, bound } of partitions) {
    if (!parents.includes(parent)) throw unknownName('partitioned table', parent)
    const times = BOUND.exec(bound)
      ?.slice(1)
      .map((text) => new Date(`${text.replace(' ', 'T')}Z`))
    if (!times || times.some((time) => Number.isNaN(time.getTime()))) throw unknownName('bound', bound)
    const [from, to] = times as [Date, Date]
    await client.query(
      `create table ${partitionName(parent, from)} partition of ${parent} for values from ('${from.toISOString()}') to ('${to.toISOString()}')`,
    )
  }
}

/** As PostgreSQL prints it in a session of UTC. */
const BOUND = /^FOR VALUES FROM \('(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\+00'\) TO \('(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\+00'\)$/

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

/** Its last bytes are checked at the end: with a wrong HMAC the lines do not end, they throw. */
async function* compressedBytes(path: string, newMac: NewMac | null): AsyncGenerator<Buffer> {
  await using file = await open(path)
  const { size } = await file.stat()
  const trailer = Buffer.alloc(TRAILER_BYTES)
  if (size > TRAILER_BYTES) await file.read(trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES)
  const isMarked = trailer.subarray(0, TRAILER_MARK.length).equals(TRAILER_MARK)
  if (newMac && !isMarked)
    throw new Error(
      `${path} is damaged or cut off, or was written without the master key: nothing authenticates it. Use another copy; or, if nobody else could have written it: --unauthenticated`,
    )
  const mac = newMac?.()
  const end = isMarked ? size - TRAILER_BYTES : size
  if (end === 0) return
  for await (const chunk of file.createReadStream({ start: 0, end: end - 1, autoClose: false }) as AsyncIterable<Buffer>) {
    mac?.update(chunk)
    yield chunk
  }
  if (mac && !timingSafeEqual(trailerOf(mac), trailer))
    throw new Error(
      `${path} was modified or damaged, or another installation wrote it: the master key does not authenticate it. Use another copy`,
    )
}

async function* linesOf(path: string, newMac: NewMac | null): AsyncGenerator<Buffer> {
  const text = new PassThrough()
  const read = pipeline(compressedBytes(path, newMac), createGunzip(), text)
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
