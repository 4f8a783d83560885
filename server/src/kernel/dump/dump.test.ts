import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase, testDatabase } from '../../../test/harness.ts'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sha256Hex, vaultFrom } from '../crypto.ts'
import { FORMAT, TRAILER_BYTES } from './format.ts'
import { inspectArchive, requireAuthentic, restoreDump } from './restore.ts'
import { writeArchive } from './dump.ts'

const KIND = 'test'
const head = { archive: KIND, format: FORMAT, version: '1', createdAt: '', migrations: [], key: null }
const folder = await mkdtemp(join(tmpdir(), 'berth-archive-'))
afterAll(() => rm(folder, { recursive: true }))
const url = await testDatabase()

const ROWS = 50_000
beforeAll(async () => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table many as select n, md5(n::text) as text from generate_series(1, $1::int) n', [ROWS])
  await client.end()
})

test('rows beyond the write buffer are written completely and without a listener warning', async () => {
  const warnings: string[] = []
  const note = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', note)
  const path = join(folder, 'archive.gz')
  const written = await writeArchive(url, path, head, { schemas: ['pgboss'], tables: [] }, null).finally(() => process.off('warning', note))
  expect(warnings).toEqual([])
  expect(written.rows).toBeGreaterThan(ROWS)
  expect((await inspectArchive(path, KIND, null)).summary).toEqual(written)
})

test('a file that cannot be written is reported with its path', async () => {
  await expect(writeArchive(url, join(folder, 'nowhere/archive.gz'), head, { schemas: [], tables: [] }, null)).rejects.toThrow(
    /ENOENT.*nowhere/,
  )
})

const newMac = () => vaultFrom(Buffer.alloc(32, 7)).hmac('backup archive')
const otherMac = () => vaultFrom(Buffer.alloc(32, 8)).hmac('backup archive')

test('a changed byte anywhere, a cut and an addition are refused before anything is decompressed', async () => {
  const [path, small] = [join(folder, 'authentic.gz'), await emptyDatabase()]
  const client = new pg.Client({ connectionString: small })
  await client.connect()
  await client.query('create table few as select n, md5(n::text) as text from generate_series(1, 500) n').finally(() => client.end())
  await writeArchive(small, path, head, { schemas: [], tables: [] }, newMac)
  await requireAuthentic(path, newMac)
  await expect(requireAuthentic(path, otherMac)).rejects.toThrow('does not authenticate')
  const bytes = await readFile(path)
  const changed = join(folder, 'changed.gz')
  const refused = async (content: Buffer): Promise<void> => {
    await writeFile(changed, content)
    await expect(requireAuthentic(changed, newMac)).rejects.toThrow(/authenticate/)
    await expect(inspectArchive(changed, KIND, newMac)).rejects.toThrow(/authenticate|damaged/)
  }
  const header = Array.from({ length: 32 }, (_, i) => i)
  const regions = Array.from({ length: 128 }, (_, i) => Math.floor((i * bytes.length) / 128))
  const trailer = Array.from({ length: TRAILER_BYTES + 16 }, (_, i) => bytes.length - 1 - i)
  for (const at of new Set([...header, ...regions, ...trailer])) {
    const content = Buffer.from(bytes)
    content[at]! ^= 0x01
    await refused(content)
  }
  const mac = bytes.subarray(-TRAILER_BYTES)
  for (const content of [
    bytes.subarray(0, -1),
    bytes.subarray(0, -TRAILER_BYTES),
    Buffer.concat([bytes, Buffer.from('x')]),
    Buffer.concat([bytes, mac]),
    Buffer.concat([gzipSync('{}'), mac]),
    mac,
    Buffer.alloc(0),
  ])
    await refused(content)
})

/** The archive with one line replaced, with a checksum that matches again, as an attacker makes it. */
async function planted(from: string, change: (line: Record<string, unknown>) => object | null): Promise<string> {
  const lines = gunzipSync(await readFile(from))
    .toString('latin1')
    .split('\n')
    .slice(0, -2)
  let found = false
  const changed = lines.map((line) => {
    const evil = !found && line.startsWith('{') ? change(JSON.parse(line) as Record<string, unknown>) : null
    found ||= evil !== null
    return evil ? JSON.stringify(evil) : line
  })
  expect(found).toBe(true)
  const text = changed.map((line) => `${line}\n`).join('')
  const path = join(folder, 'planted.gz')
  await writeFile(
    path,
    gzipSync(Buffer.from(`${text}${JSON.stringify({ end: { tables: 1, rows: 1, sha256: sha256Hex(text) } })}\n`, 'latin1')),
  )
  return path
}

const EVIL = '; create table pwned as select 1; --'
const BOUND = `FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2026-01-02 00:00:00+00')`

test.each<[string, (line: Record<string, unknown>) => object | null]>([
  [
    'name of a partition',
    (line) => (line['partitions'] ? { ...line, partitions: [{ name: `x (a int)${EVIL}`, parent: 'parted', bound: BOUND }] } : null),
  ],
  [
    'parent of a partition',
    (line) => (line['partitions'] ? { ...line, partitions: [{ name: 'x', parent: `parted${EVIL}`, bound: BOUND }] } : null),
  ],
  [
    'bound of a partition',
    (line) => (line['partitions'] ? { ...line, partitions: [{ name: 'x', parent: 'parted', bound: `${BOUND}${EVIL}` }] } : null),
  ],
  ['table', (line) => (line['table'] ? { ...line, table: `public.plain (id) from stdin${EVIL}` } : null)],
  ['column', (line) => (line['table'] ? { ...line, columns: [`id) from stdin${EVIL}`] } : null)],
  ['sequence', (line) => (line['sequence'] ? { ...line, sequence: `public.counted${EVIL}` } : null)],
])('SQL planted as the %s of an archive that nothing authenticates never runs', async (_what, change) => {
  const target = await emptyDatabase()
  const client = new pg.Client({ connectionString: target })
  await client.connect()
  try {
    await client.query('create table plain (id int); create sequence counted; create table parted (at timestamptz) partition by range (at)')
    await client.query(`insert into plain values (1); select nextval('counted')`)
    const path = join(folder, 'small.gz')
    await rm(path, { force: true })
    await writeArchive(target, path, head, { schemas: [], tables: [] }, null)
    const evil = await planted(path, change)
    await inspectArchive(evil, KIND, null) // well-formed, and its checksum matches
    const outcome = await restoreDump(target, evil, { schemas: [], tables: [] }, null).catch((error: Error) => error.message)
    // The name of a partition is not even read.
    expect(String(outcome)).toMatch(/^(\d+$|The backup names the .* which this version does not have)/)
    const { rows } = await client.query<{ name: string }>(`select relname::text as name from pg_class where relname in ('pwned', 'x')`)
    expect(rows).toEqual([])
  } finally {
    await client.end()
  }
})
