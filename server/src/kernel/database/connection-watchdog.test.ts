import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { silentProxy } from '../../../test/silent-proxy.ts'
import { openDb, sql } from './db.ts'

const SILENT = 'PostgreSQL did not respond; connection closed'

async function behindProxy() {
  const url = await testDatabase()
  const proxy = await silentProxy(url)
  const db = openDb({ url: proxy.url, maxConnections: 1, onError: () => {}, unresponsiveMs: 3_000 })
  const backend = async () => (await db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)).pid
  return { url, proxy, db, backend }
}

test('a query to an unresponsive PostgreSQL fails, and its connection is not reused', async () => {
  const { proxy, db, backend } = await behindProxy()
  const first = await backend()
  proxy.silence()
  await expect(db.one(sql`select 1`)).rejects.toThrow(SILENT)
  proxy.speak()
  const second = await backend()
  expect(second).not.toBe(first)
  const asked = db.tx(async (tx) => {
    await tx.one(sql`select 1`)
    proxy.silence()
    await Promise.all([tx.one(sql`select 2`), tx.one(sql`select 3`)])
  })
  await expect(asked).rejects.toThrow(SILENT)
  proxy.speak()
  expect(await backend()).not.toBe(second)
  await db.close()
})

test('an idle transaction and a statement with a longer timeout are kept', async () => {
  const { url, db, backend } = await behindProxy()
  const elsewhere = openDb({ url, maxConnections: 1, onError: () => {} })
  const long = sql`select pg_sleep(4.5)`
  const pid = await backend()
  await db.tx(async (tx) => {
    await tx.one(sql`select 1`)
    await elsewhere.run(long)
    await tx.one(sql`select 2`)
  })
  expect(await backend()).toBe(pid)
  await db.tx(async (tx) => {
    await tx.setStatementTimeout('10s')
    await tx.run(long)
  })
  await expect(db.run(long)).rejects.toThrow(SILENT)
  await Promise.all([db.close(), elsewhere.close()])
})

test('a listener detects the lost connection and listens again', async () => {
  const { proxy, db } = await behindProxy()
  const heard: string[] = []
  const hearing: boolean[] = []
  const stop = await db.listen(
    'news',
    (what) => heard.push(what),
    (yes) => hearing.push(yes),
  )
  proxy.silence()
  await expect.poll(() => hearing).toEqual([true, false])
  proxy.speak()
  await expect.poll(() => hearing).toEqual([true, false, true])
  await db.run(sql`select pg_notify('news', 'again')`)
  await expect.poll(() => heard).toEqual(['again'])
  await stop()
  await db.close()
})
