import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { emptyDatabase } from '../../../test/harness.ts'
import { MIGRATIONS } from '../../database.ts'
import { VERSION } from '../version.ts'
import { knownMigrations, migrate, type LockWait } from './migrate.ts'
import { nameConnections, START_LOCK } from './named-connections.ts'

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

  test('one that a newer version applied is no problem', async () => {
    const { url } = await migrated()
    const older = folderOf({ '0001_notes.sql': FIRST['0001_notes.sql'] })
    expect(await migrate(url, older)).toEqual({ version: '0002_tags', applied: [], waiting: [], unknown: ['0002_tags'] })
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

describe('a contract', () => {
  const CONTRACT = '0003_contract_tags'
  const contracted = async () => {
    const { url, folder, add } = await migrated()
    add(`${CONTRACT}.sql`, 'drop table tags;\n')
    return { url, folder, add }
  }
  /** A process of the version that knows migrations up to that number. */
  const connected = async (url: string, migration: string) => {
    const client = new pg.Client({ connectionString: nameConnections(url, 'api', migration) })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }

  test('waits until it is asked for', async () => {
    const { url, folder } = await contracted()
    expect(await migrate(url, folder)).toMatchObject({ version: '0002_tags', applied: [], waiting: [CONTRACT] })
    expect(await migrate(url, folder, { contract: true })).toMatchObject({ version: CONTRACT, applied: [CONTRACT], waiting: [] })
  })

  test('is applied to a new database, and to one that is built again', async () => {
    const { folder } = await contracted()
    expect((await migrate(await emptyDatabase(), folder)).applied).toContain(CONTRACT)
    const only = new Set(['0001_notes', '0002_tags', CONTRACT])
    expect((await migrate(await emptyDatabase(), folder, { only })).applied).toEqual([...only])
  })

  test('is applied with what comes after it: its own version has no process any more that is older', async () => {
    const { url, folder, add } = await contracted()
    add('0004_labels.sql', 'create table labels (id int);\n')
    await connected(url, '0003')
    expect(await migrate(url, folder)).toMatchObject({ applied: [CONTRACT, '0004_labels'], waiting: [] })
  })

  test('is refused while a process that does not know it is connected, which is named', async () => {
    const { url, folder, add } = await contracted()
    const [older] = [await connected(url, '0002'), await connected(url, '0003')]
    const refused = `Migration ${CONTRACT} failed: it removes what older versions use, and these are connected: api of version ${VERSION} on ${hostname()}. Replace`
    await expect(migrate(url, folder, { contract: true })).rejects.toThrow(refused)
    add('0004_labels.sql', 'create table labels (id int);\n')
    await expect(migrate(url, folder)).rejects.toThrow(refused)
    await older!.end()
    expect((await migrate(url, folder, { contract: true })).applied).toEqual([CONTRACT, '0004_labels'])
  })

  test('tells a version that does not know it why it cannot run', async () => {
    const { url, folder } = await contracted()
    await migrate(url, folder, { contract: true })
    await expect(migrate(url, folderOf(FIRST))).rejects.toThrow(
      `Migration ${CONTRACT} of a newer version has removed what this version (${VERSION}) uses. Start the newer version`,
    )
  })

  test('waits for a process that is just about to start, and then sees it', async () => {
    const { url, folder } = await contracted()
    const starting = await connected(url, '0002')
    await starting.query('begin')
    await starting.query('select pg_advisory_xact_lock_shared($1)', [START_LOCK])
    const contracting = migrate(url, folder, { contract: true }).catch((error: Error) => error.message)
    await pause(200)
    await starting.query('commit')
    expect(await contracting).toContain('these are connected')
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
    const migrating = migrate(url, folder, { lockWait: WAIT }).finally(() => (ended = true))
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
    // Long enough for a busy machine to look who blocks.
    await expect(migrate(url, folder, { lockWait: { ...WAIT, timeoutMs: 1_000, totalMs: 1_500 } })).rejects.toThrow(
      new RegExp(
        `^Migration 0003_text gave up waiting for a table lock\\. It is held by pid ${rows[0]!.pid} \\(report\\), idle in transaction, ` +
          'in a transaction for \\d+ s, last statement: select id from notes\\. End that transaction',
      ),
    )
    await reader.query('commit')
    expect((await migrate(url, folder, { lockWait: WAIT })).applied).toEqual(['0003_text'])
  })
})
