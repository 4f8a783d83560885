import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { withDatabase } from '../../../test/harness.ts'
import { type ScratchFolder, scratchFolder } from '../../../test/scratch-folder.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { sleep, stopwatch } from '../clock.ts'
import { asUser, findUser, SERVICE_USER, type OsUser } from '../os-user.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts'
import { findPostmaster } from './postmaster.ts'

// fsync is off: kill -9 loses nothing by that, only a power cut would.
const settings = { fsync: 'off' }
const remember = 'create table notes as select 42 as note'
const recall = 'select note from notes'
let folder: ScratchFolder
let dataDir: string
let cluster: string
const started: EmbeddedPostgres[] = []
const processes: ChildProcess[] = []

// initdb takes most of a second, so tests that are not about it start with a copy.
let made: ScratchFolder
const isRoot = process.getuid!() === 0

beforeAll(async () => {
  made = await scratchFolder()
  const postgres = await startEmbeddedPostgres({ dataDir: join(made.path, 'postgres'), settings })
  await query(postgres.url, remember)
  await postgres.stop()
})

afterAll(() => made.remove())

async function givenData(): Promise<void> {
  await promisify(execFile)('cp', ['--archive', join(made.path, 'postgres'), dataDir])
}

beforeEach(async () => {
  folder = await scratchFolder()
  dataDir = join(folder.path, 'postgres')
  cluster = join(dataDir, 'cluster')
})

afterEach(async () => {
  for (const child of processes.splice(0)) child.kill('SIGKILL')
  for (const postgres of started.splice(0)) await postgres.stop()
  await folder.remove()
})

async function start(options: { database?: string; report?: (sentence: string) => void } = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, settings, ...options })
  started.push(postgres)
  return postgres
}

interface Supervisor {
  child: ChildProcess
  how: string
  url: string
}

function spawnSupervisor(): ChildProcess {
  const module = new URL('./embedded.ts', import.meta.url).href
  const program = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(module)})
    const postgres = await startEmbeddedPostgres(${JSON.stringify({ dataDir, settings })})
    console.log(JSON.stringify({ how: postgres.how, url: postgres.url }))
    process.stdin.resume().on('end', () => postgres.stop())`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  processes.push(child)
  return child
}

async function supervisor(): Promise<Supervisor> {
  const child = spawnSupervisor()
  const [line] = await Promise.race([once(createInterface(child.stdout!), 'line'), once(child, 'exit').then(() => ['{}'])])
  return { child, ...JSON.parse(line as string) }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // killed on purpose
  await client.connect()
  try {
    const result = await client.query({ text, rowMode: 'array' })
    return (Array.isArray(result) ? (result.at(-1) as pg.QueryResult) : result).rows.flat()
  } finally {
    await client.end()
  }
}

/** Who that OS user is in the database, or why it is refused. */
async function connectAs(user: OsUser, url: string): Promise<string> {
  const program = `import pg from ${JSON.stringify(import.meta.resolve('pg'))}
    const client = new pg.Client({ connectionString: ${JSON.stringify(url)} })
    try { await client.connect(); console.log((await client.query('select current_user')).rows[0].current_user); await client.end() }
    catch (error) { console.log(error.message) }`
  const [command, ...rest] = [...asUser(user), process.execPath, '--input-type=module', '--eval', program]
  return (await promisify(execFile)(command!, rest)).stdout.trim()
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const elapsed = stopwatch()
  for (;;) {
    const found = await look()
    if (found) return found
    if (elapsed() > 15_000) throw new Error('It did not happen within 15 s')
    await sleep(10)
  }
}

describe('embedded PostgreSQL', () => {
  test('is initialised once and keeps its data across restarts', async () => {
    const first = await start({ database: 'things' })
    expect(first).toMatchObject({ how: 'initialised', version: expect.stringMatching(/^18\.\d+$/) })
    await query(first.url, remember)
    await first.stop()
    await first.stop()
    expect(await findPostmaster(cluster)).toBeUndefined()
    const second = await start({ database: 'things' })
    expect(second.how).toBe('started')
    expect(await query(second.url, recall)).toEqual([42])
  })

  test('listens on a socket that only its OS user and the service can reach, and on no network', async () => {
    await givenData()
    const { url } = await start()
    expect(await query(url, 'show listen_addresses')).toEqual([''])
    expect(await query(url, 'select inet_server_addr()')).toEqual([null])
    expect((await stat(join(dataDir, 'socket'))).mode & 0o777).toBe(isRoot ? 0o710 : 0o700)
    expect((await stat(cluster)).mode & 0o777).toBe(0o700)
  })

  describeIf(isRoot ? undefined : 'only root has a service of another user')('started by root', () => {
    const nobody = { uid: 65_534, gid: 65_534 }

    test('lets the service in, but not as the superuser, and nobody else', async () => {
      await givenData()
      const { url, superuserUrl } = await start()
      const service = (await findUser(SERVICE_USER))!
      expect(await connectAs(service, url)).toBe('berth_service')
      expect(await connectAs(service, superuserUrl)).toMatch(/Peer authentication failed for user "berth"/)
      expect(await connectAs(nobody, url)).toMatch(/EACCES/)
      expect(await query(superuserUrl, 'select current_user')).toEqual(['berth'])
    })

    test('is opened to the service when an older version left it running', async () => {
      await givenData()
      const { child, url } = await supervisor()
      await kill(child)
      const { uid, gid } = await stat(cluster)
      await chmod(join(dataDir, 'socket'), 0o700)
      await chown(join(dataDir, 'socket'), uid, gid)
      const service = (await findUser(SERVICE_USER))!
      expect(await connectAs(service, url)).toMatch(/EACCES/)
      expect((await start()).how).toBe('started')
      expect(await connectAs(service, url)).toBe('berth_service')
    })
  })

  test('runs statements as a role that is no superuser', async () => {
    const { url } = await start({ database: 'things' })
    expect(
      await query(url, 'select rolsuper or rolcreaterole or rolcreatedb or rolreplication from pg_roles where rolname = current_user'),
    ).toEqual([false])
    await expect(query(url, `copy (select 1) to program 'id'`)).rejects.toThrow('permission denied to COPY to or from an external program')
    await expect(query(url, `select pg_read_file('/etc/passwd')`)).rejects.toThrow('permission denied')
    await expect(query(url, 'set role berth')).rejects.toThrow('permission denied')
    expect(await query(url, 'create extension btree_gist; create table mine (id int); select 1')).toBeDefined()
  })

  test('hands a database of the superuser over to that role', async () => {
    await givenData()
    const first = await start()
    await query(first.superuserUrl, 'create database older')
    const asSuperuser = withDatabase(first.superuserUrl, 'older')
    await query(
      asSuperuser,
      `create extension btree_gist; create schema inner_part;
       create table inner_part."odd name" (id bigint generated always as identity, n serial); create sequence loose;
       create table parted (at int) partition by range (at); create table parted_1 partition of parted for values from (0) to (9);
       create view seen as select 1 as one; create type mood as enum ('good'); create domain small as int check (value < 9);
       create function f(a int, b text) returns int language sql as 'select 1'`,
    )
    const { url } = await start({ database: 'older' })
    await query(
      url,
      `alter table inner_part."odd name" add column more int; insert into parted values (3); select nextval('loose'); drop function f(int, text);
       create or replace view seen as select 1 as one; alter type mood add value 'bad'; alter domain small add constraint positive check (value > 0);
       create table inner_part.mine (); create table mine (); drop table parted_1`,
    )
    const foreign = `select relname::text from pg_class where relowner <> current_user::regrole and relnamespace in ('public'::regnamespace, 'inner_part'::regnamespace)`
    expect(await query(url, foreign)).toEqual([])
    expect(await query((await start({ database: 'older' })).url, `select to_regclass('inner_part.mine') is not null`)).toEqual([true])
  })

  test('uses another socket folder when the path is too long', async () => {
    dataDir = join(folder.path, 'long'.repeat(30))
    cluster = join(dataDir, 'cluster')
    const { url } = await start()
    const socketDir = new URL(url).searchParams.get('host')!
    expect(await query(url, 'select 1')).toEqual([1])
    expect(socketDir).not.toContain(folder.path)
    expect((await stat(socketDir)).mode & 0o777).toBe(isRoot ? 0o710 : 0o700)
    await rm(socketDir, { recursive: true })
  })

  test('commits durably by default', async () => {
    await givenData()
    const postgres = await startEmbeddedPostgres({ dataDir })
    started.push(postgres)
    const shown = await query(
      postgres.url,
      `select setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
    )
    expect(shown).toEqual(['on', 'on', 'on'])
  })

  test('is shared by processes and stops with its supervisor', async () => {
    await givenData()
    const first = await supervisor()
    const second = await start()
    expect([first.how, second.how]).toEqual(['started', 'joined'])
    await second.stop()
    expect(await query(first.url, 'select 1')).toEqual([1])
    const exited = once(first.child, 'exit')
    first.child.stdin!.end()
    expect(await exited).toEqual([0, null])
    expect(await findPostmaster(cluster)).toBeUndefined()
  })

  test('is initialised once when two processes start concurrently', async () => {
    const both = await Promise.all([supervisor(), supervisor()])
    expect(both.map(({ how }) => how).toSorted()).toEqual(['initialised', 'joined'])
    for (const { url } of both) expect(await query(url, 'select 1')).toEqual([1])
  })

  test('survives a killed supervisor and is adopted by the next', async () => {
    await givenData()
    const killed = await supervisor()
    await query(killed.url, 'update notes set note = 43')
    await kill(killed.child)
    const next = await start()
    expect(next.how).toBe('adopted')
    expect(await query(next.url, recall)).toEqual([43])
    await next.stop()
    expect(await findPostmaster(cluster)).toBeUndefined()
  })

  test('is restarted by its supervisor when it is killed', async () => {
    await givenData()
    const reports: string[] = []
    const { url } = await start({ report: (sentence) => reports.push(sentence) })
    await query(url, 'update notes set note = 43')
    const before = (await findPostmaster(cluster))!.pid
    process.kill(before, 'SIGKILL')
    await eventually(async () => reports.length > 0)
    expect(reports).toEqual(['embedded PostgreSQL crashed; restarted'])
    expect((await findPostmaster(cluster))!.pid).not.toBe(before)
    expect(await query(url, recall)).toEqual([43])
  })

  test('recovers when it and its supervisor are both killed', async () => {
    await givenData()
    const { child, url } = await supervisor()
    await query(url, 'update notes set note = 43')
    await kill(child)
    process.kill((await findPostmaster(cluster))!.pid, 'SIGKILL')
    const next = await start()
    expect(next.how).toBe('started')
    expect(await query(next.url, recall)).toEqual([43])
  })

  test('stays with its supervisor when another process restarts it first', async () => {
    await givenData()
    const { child } = await supervisor()
    process.kill((await findPostmaster(cluster))!.pid, 'SIGKILL')
    expect((await start()).how).toBe('joined')
    const exited = once(child, 'exit')
    child.stdin!.end()
    expect(await exited).toEqual([0, null])
    expect(await findPostmaster(cluster)).toBeUndefined()
  })

  test('is initialised again when the first attempt was killed', async () => {
    const child = spawnSupervisor()
    const unfinished = async (): Promise<string | undefined> =>
      (await readdir(dataDir).catch(() => [])).find((name) => name.startsWith('cluster.new'))
    const leftover = await eventually(unfinished)
    await kill(child)
    expect(await readdir(dataDir)).not.toContain('cluster')
    const postgres = await start()
    expect(postgres.how).toBe('initialised')
    expect(await query(postgres.url, 'select 1')).toEqual([1])
    expect(await readdir(dataDir)).not.toContain(leftover)
  })

  test('ignores a pid file whose pid was reused by another program', async () => {
    await givenData()
    await writeFile(join(cluster, 'postmaster.pid'), `${process.pid}\n${cluster}\n1\n5432\n/nowhere\n\n\nready\n`)
    expect(await findPostmaster(cluster)).toBeUndefined()
  })

  test('rejects data of another major version and says what to do', async () => {
    await mkdir(cluster, { recursive: true, mode: 0o700 })
    await writeFile(join(cluster, 'PG_VERSION'), '16\n')
    await expect(start()).rejects.toThrow(/written by PostgreSQL 16, and this version of Berth includes PostgreSQL 18.*BERTH_DATABASE_URL/)
    expect(await readFile(join(cluster, 'PG_VERSION'), 'utf8')).toBe('16\n')
  })

  test('quotes the log of PostgreSQL when it does not start', async () => {
    await givenData()
    const wrong = startEmbeddedPostgres({ dataDir, settings: { ...settings, shared_buffers: 'plenty' } })
    await expect(wrong).rejects.toThrow(/did not start.*invalid value for parameter "shared_buffers": "plenty"/s)
  })

  test('works below a folder that only root may enter', async ({ skip }) => {
    skip(process.getuid!() !== 0, 'needs root')
    await chmod(folder.path, 0o700)
    const { url } = await start()
    expect(await query(url, 'select 1')).toEqual([1])
    expect((await stat(cluster)).uid).not.toBe(0)
  })
})
