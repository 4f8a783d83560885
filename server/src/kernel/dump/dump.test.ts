import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { FORMAT } from './format.ts'
import { inspectArchive } from './restore.ts'
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
  const written = await writeArchive(url, path, head, { schemas: ['pgboss'], tables: [] }).finally(() => process.off('warning', note))
  expect(warnings).toEqual([])
  expect(written.rows).toBeGreaterThan(ROWS)
  expect((await inspectArchive(path, KIND)).summary).toEqual(written)
})

test('a file that cannot be written is reported with its path', async () => {
  await expect(writeArchive(url, join(folder, 'nowhere/archive.gz'), head, { schemas: [], tables: [] })).rejects.toThrow(/ENOENT.*nowhere/)
})
