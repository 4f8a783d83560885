import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { emptyDatabase } from '../../../test/harness.ts'
import { MIGRATIONS } from '../../database.ts'
import { knownMigrations, migrate, type LockWait } from './migrate.ts'

function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'berth-migrations-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const FIRST = { '0001_notes.sql': 'create table notes (id int);\n', '0002_tags.sql': 'create table tags (id int);\n' }

async function migrated() {
  const url = await emptyDatabase()
  const folder = folderOf(FIRST)
  await migrate(url, folder)
  return { url, folder, add: (name: string, text: string) => writeFileSync(join(folder, name), text) }
}

test('the migrations of this repository are numbered without gaps', () => {
  expect(knownMigrations(MIGRATIONS).map(({ number }, i) => Number(number) - i)).toEqual(knownMigrations(MIGRATIONS).map(() => 1))
})

describe('migration files', () => {
  test('two with one number are refused', () => {
    const folder = folderOf({ ...FIRST, '0002_labels.sql': 'select 1' })
    expect(() => knownMigrations(folder)).toThrow('Two migrations have number 0002. Give 0002_tags the next free number')
  })

  test('one without a number is refused', () => {
    expect(() => knownMigrations(folderOf({ 'tags.sql': 'select 1' }))).toThrow('tags.sql must be named like')
  })

  test('are applied once, in order, also by two processes at the same moment', async () => {
    const url = await emptyDatabase()
    const folder = folderOf(FIRST)
    const both = await Promise.all([migrate(url, folder), migrate(url, folder)])
    expect(both.flatMap(({ applied }) => applied)).toEqual(['0001_notes', '0002_tags'])
    expect(both.map(({ version }) => version)).toEqual(['0002_tags', '0002_tags'])
  })

  test('an edited one is refused once it was applied, with what to do', async () => {
    const { url, folder, add } = await migrated()
    add('0001_notes.sql', 'create table notes (id bigint);\n')
    await expect(migrate(url, folder)).rejects.toThrow(
      'Migration 0001_notes was edited after it had been applied to this database. Restore the file as it was, and make the change in a new migration',
    )
  })

  test('a renamed one is refused once it was applied', async () => {
    const { url, folder } = await migrated()
    renameSync(join(folder, '0002_tags.sql'), join(folder, '0002_labels.sql'))
    await expect(migrate(url, folder)).rejects.toThrow(
      'Migration 0002_tags was applied to this database, and its file is now named 0002_labels. Rename the file back',
    )
  })

  test('one that a newer version applied is refused', async () => {
    const { url } = await migrated()
    const older = folderOf({ '0001_notes.sql': FIRST['0001_notes.sql'] })
    await expect(migrate(url, older)).rejects.toThrow('has migration 0002_tags, which this version does not know. Start the newer version')
  })

  test('a new one before an applied one is refused', async () => {
    const { url, folder, add } = await migrated()
    add('0000_users.sql', 'create table users (id int);')
    await expect(migrate(url, folder)).rejects.toThrow('Migration 0000_users comes before 0002_tags, which was already applied')
  })

  test('one that fails leaves nothing and names itself', async () => {
    const { url, folder, add } = await migrated()
    add('0003_users.sql', 'create table users (id int); select 1 / 0;')
    await expect(migrate(url, folder)).rejects.toThrow('Migration 0003_users failed: division by zero')
    add('0003_users.sql', 'create table users (id int);')
    expect((await migrate(url, folder)).applied).toEqual(['0003_users'])
  })
})

describe('a migration whose table is locked', () => {
  const WAIT: LockWait = { timeoutMs: 100, pausesMs: [100], totalMs: 60_000 }

  /** A transaction that has read `notes` and stays open, and a function that reads `notes` beside it and answers how long it took. */
  async function withOpenReader() {
    const { url, folder, add } = await migrated()
    add('0003_text.sql', 'alter table notes add column text text;\n')
    const [reader, other] = [new pg.Client({ connectionString: url, application_name: 'report' }), new pg.Client({ connectionString: url })]
    await Promise.all([reader.connect(), other.connect()])
    onTestFinished(async () => void (await Promise.all([reader.end(), other.end()])))
    await reader.query('begin')
    await reader.query('select id from notes')
    const read = async (): Promise<number> => {
      const began = performance.now()
      await other.query('select count(*) from notes')
      return performance.now() - began
    }
    return { url, folder, reader, read }
  }

  test('lets other statements pass while it waits, and gets through when the reader has ended', async () => {
    const { url, folder, reader, read } = await withOpenReader()
    let ended = false
    const migrating = migrate(url, folder, undefined, WAIT).finally(() => (ended = true))
    const durations: number[] = []
    for (const until = performance.now() + 1_500; performance.now() < until; await pause(10)) durations.push(await read())
    expect(ended).toBe(false)
    expect(durations.length).toBeGreaterThan(10)
    expect(Math.max(...durations)).toBeLessThan(1_000)
    await reader.query('commit')
    expect((await migrating).applied).toEqual(['0003_text'])
  })

  test('gives up in the end and names the session that holds the lock', async () => {
    const { url, folder, reader } = await withOpenReader()
    const { rows } = await reader.query<{ pid: number }>('select pg_backend_pid() as pid')
    await reader.query('select id from notes')
    await expect(migrate(url, folder, undefined, { ...WAIT, totalMs: 500 })).rejects.toThrow(
      new RegExp(
        `^Migration 0003_text gave up waiting for a table lock\\. It is held by pid ${rows[0]!.pid} \\(report\\), idle in transaction, ` +
          'in a transaction for \\d+ s, last statement: select id from notes\\. End that transaction',
      ),
    )
    await reader.query('commit')
    expect((await migrate(url, folder, undefined, WAIT)).applied).toEqual(['0003_text'])
  })
})
