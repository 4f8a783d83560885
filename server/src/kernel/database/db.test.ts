import { describe, expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { toApiError } from '../../http/server/error-response.ts'
import { openDb, sql, type Tx } from './db.ts'

test('a standby is not used', async () => {
  const url = new URL(await testDatabase())
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const db = openDb({ url: url.href, maxConnections: 1, onError: () => {} })
  await expect(db.one(sql`select 1`)).rejects.toThrow('PostgreSQL is a standby, or read-only')
  await db.close()
})

describe('a transaction', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 4, onError: () => {} })
  await db.raw('create table notes (number int primary key)')
  const note = (tx: Tx, number: number) => tx.run(sql`insert into notes (number) values (${number})`)
  const noted = async (): Promise<number[]> =>
    (await db.many<{ number: number }>(sql`select number from notes order by 1`)).map((row) => row.number)

  test('runs concurrent statements in the order they were sent', async () => {
    const counts = await db.tx((tx) =>
      Promise.all([
        note(tx, 1),
        tx.one(sql`select count(*)::int as count from notes`),
        note(tx, 2),
        tx.one(sql`select count(*)::int as count from notes`),
      ]),
    )
    expect(counts).toEqual([1, { count: 1 }, 1, { count: 2 }])
  })

  test('rolls back when one of several statements fails, and rejects with its error', async () => {
    const failing = db.tx((tx) => Promise.all([note(tx, 3), note(tx, 1), note(tx, 4)]))
    await expect(failing).rejects.toMatchObject({ code: '23505' })
    expect(await noted()).toEqual([1, 2])
  })

  test('that is rolled back returns its result, changes nothing and runs no hint', async () => {
    let hints = 0
    const result = await db.tx(async (tx) => {
      tx.afterCommit(() => hints++)
      tx.beforeCommit(sql`insert into notes (number) values (6)`)
      await note(tx, 7)
      tx.rollBack()
      return (await tx.many(sql`select 1 from notes`)).length
    })
    expect([result, await noted(), hints]).toEqual([3, [1, 2], 0])
  })

  test('goes on without what an attempt changed, locked and put off', async () => {
    const hints: string[] = []
    const outcome = await db.tx(async (tx) => {
      tx.afterCommit(() => hints.push('before'))
      await tx.attempt(() => note(tx, 20))
      const failing = tx.attempt(async () => {
        await note(tx, 21)
        await tx.run(sql`update notes set number = 19 where number = 1`)
        tx.afterCommit(() => hints.push('within'))
        tx.beforeCommit(sql`insert into notes (number) values (22)`)
        await tx.attempt(() => note(tx, 23))
        await note(tx, 2) // which exists
      })
      await expect(failing).rejects.toMatchObject({ code: '23505' })
      await db.run(sql`update notes set number = 1 where number = 1`) // waits for nobody
      await note(tx, 24)
      return tx.attempt(async () => 'done')
    })
    await expect.poll(() => hints).toEqual(['before'])
    expect([outcome, await noted()]).toEqual(['done', [1, 2, 20, 24]])
    await db.run(sql`delete from notes where number > 2`)
  })

  test('fails when no standby has confirmed it, although PostgreSQL calls that a success', async () => {
    const warning = 'canceling wait for synchronous replication due to user request'
    const failing = db.tx((tx) => tx.raw(`do $$ begin raise warning '${warning}'; end $$`))
    await expect(failing).rejects.toThrow('The commit was not confirmed by a standby')
    expect(await db.tx((tx) => tx.one(sql`select 1 as one`))).toEqual({ one: 1 }) // on another connection
  })

  test('rejects a statement after its end', async () => {
    let late = ''
    const failing = db.tx(async (tx) => {
      void tx
        .run(sql`select 1`)
        .then(() => note(tx, 5))
        .catch((error: Error) => (late = error.message))
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    await expect.poll(() => late).toBe('BUG: a statement after the end of its transaction')
    expect(await noted()).toEqual([1, 2])
  })

  test('fails when its connection is lost between statements, and nothing else does', async () => {
    const failing = db.tx(async (tx) => {
      const { pid } = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      await db.run(sql`select pg_terminate_backend(${pid})`)
      await expect.poll(() => db.maybe(sql`select from pg_stat_activity where pid = ${pid}`)).toBeUndefined()
      await note(tx, 6)
    })
    // The loss shows as PostgreSQL's own words, as the end of the stream or, when the statement was faster than either, as EPIPE.
    expect(toApiError(await failing.catch((error: unknown) => error), 'r')).toMatchObject({ code: 'service_unavailable' })
    expect(await noted()).toEqual([1, 2])
  })
})

describe('statements that connections have prepared', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 4, onError: () => {} })
  await db.raw('create table notes (number int)')
  await db.raw('insert into notes values (1)')
  const stars = sql`select * from notes`
  const read = () => Promise.all([db.one(stars), db.one(stars), db.one(stars), db.one(stars)])

  test('survive a migration that changes their result', async () => {
    expect(await read()).toEqual(Array(4).fill({ number: 1 }))
    await db.raw('alter table notes add text text')
    expect(await read()).toEqual(Array(4).fill({ number: 1, text: null }))
    await db.raw('alter table notes alter number type bigint')
    expect(await read()).toEqual(Array(4).fill({ number: 1n, text: null }))
  })

  test('survive it inside a transaction, which runs again as a whole and commits once', async () => {
    await read()
    await db.raw('alter table notes drop text')
    let runs = 0
    const seen = await db.tx(async (tx) => {
      runs++
      await tx.run(sql`update notes set number = number + 1`)
      return tx.one(stars)
    })
    expect([seen, runs]).toEqual([{ number: 2n }, 2])
    expect(await db.one(stars)).toEqual({ number: 2n })
  })

  test('survive it in a transaction that swallows the error', async () => {
    await read()
    await db.raw('alter table notes add text text')
    await db.tx(async (tx) => {
      await tx.one(stars).catch(() => undefined)
      await tx.run(sql`update notes set number = 7`).catch(() => undefined)
    })
    expect(await db.one(stars)).toEqual({ number: 7n, text: null })
  })
})
