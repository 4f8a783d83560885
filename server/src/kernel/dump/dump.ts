// Dumps a database into one file: JSON lines as headers, and between them the rows in COPY format. Read in one repeatable-read transaction
// while other processes write. Compressed with gzip; ends with a checksum, and with the HMAC of the file where a key is given.
import { createHash, type Hmac } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import pg from 'pg'
import { listPartitions, listSequences, listTables, type Exceptions } from './tables.ts'
import { copyOut } from './copy-protocol.ts'
import { END_OF_ROWS, trailerOf, type Head, type NewMac, type Summary } from './format.ts'

export async function writeArchive(
  url: string,
  path: string,
  head: Omit<Head, 'partitions'>,
  except: Exceptions,
  newMac: NewMac | null,
): Promise<Summary> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const draft = `${path}.partial`
  try {
    await client.query('begin isolation level repeatable read read only')
    await client.query(`set local timezone = 'UTC'`) // the bounds of partitions are written in the session's
    const summary = await writeFile(draft, newMac?.() ?? null, (archive) => writeContents(client, archive, head, except))
    await rename(draft, path)
    return summary
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await client.end()
  }
}

async function writeFile(path: string, mac: Hmac | null, work: (archive: Archive) => Promise<Summary>): Promise<Summary> {
  const gzip = createGzip()
  const written = pipeline(
    gzip,
    (chunks: AsyncIterable<Buffer>) => authenticated(chunks, mac),
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
  )
  const [summary] = await Promise.all([work(new Archive(gzip)), written])
  const file = await open(path)
  await file.sync().finally(() => file.close())
  return summary
}

async function* authenticated(chunks: AsyncIterable<Buffer>, mac: Hmac | null): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    mac?.update(chunk)
    yield chunk
  }
  if (mac) yield trailerOf(mac)
}

async function writeContents(client: pg.Client, archive: Archive, head: Omit<Head, 'partitions'>, except: Exceptions): Promise<Summary> {
  let rows = 0
  const tables = await listTables(client, except)
  await archive.line({ ...head, partitions: await listPartitions(client) })
  for (const { name, columns } of tables) {
    await archive.line({ table: name, columns })
    rows += await copyOut(client, `copy (select ${columns.join(', ')} from ${name}) to stdout`, (chunk) => archive.write(chunk))
    await archive.write(Buffer.from(`${END_OF_ROWS}\n`))
  }
  for (const { name, value } of await listSequences(client, except)) if (value !== null) await archive.line({ sequence: name, value })
  const summary = { tables: tables.length, rows, sha256: archive.digest() }
  await archive.line({ end: summary })
  archive.close()
  return summary
}

class Archive {
  readonly #gzip: Gzip
  readonly #hash = createHash('sha256')
  #drained: Promise<void> | undefined

  constructor(gzip: Gzip) {
    this.#gzip = gzip
  }

  line(value: object): Promise<void> | undefined {
    return this.write(Buffer.from(`${JSON.stringify(value)}\n`))
  }

  /** Returns a promise when the file cannot keep up. */
  write(chunk: Buffer): Promise<void> | undefined {
    this.#hash.update(chunk)
    if (this.#gzip.write(chunk)) return undefined
    // Hundreds of rows arrive in one socket read; they share one drain listener.
    this.#drained ??= once(this.#gzip, 'drain').then(() => void (this.#drained = undefined))
    return this.#drained
  }

  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  close(): void {
    this.#gzip.end()
  }
}
