import { describe, expect, test, vi } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { openDb, sql } from './db.ts'

describe('listening for notifications', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 4, onError: () => {} })
  const connections = async () =>
    Number(
      (
        await db.one<{ count: bigint }>(
          sql`select count(*) from pg_stat_activity where datname = current_database() and query like 'listen%'`,
        )
      ).count,
    )
  const notify = (channel: string, what: string) => db.run(sql`select pg_notify(${channel}, ${what})`)

  test('uses one connection for all channels and closes it with the last listener', async () => {
    const heard: string[] = []
    const stops = [
      await db.listen(
        'a',
        (what) => heard.push(`a ${what}`),
        () => {},
      ),
      await db.listen(
        'b',
        (what) => heard.push(`b ${what}`),
        () => {},
      ),
    ]
    await notify('a', '1')
    await notify('b', '2')
    await vi.waitFor(() => expect(heard).toEqual(['a 1', 'b 2']))
    expect(await connections()).toBe(1)
    await Promise.all(stops.map((stop) => stop()))
    await vi.waitFor(async () => expect(await connections()).toBe(0))
  })

  test('reconnects after a lost connection and reports that notifications may have been missed', async () => {
    const heard: string[] = []
    const hearing: boolean[] = []
    const stop = await db.listen(
      'c',
      (what) => heard.push(what),
      (yes) => hearing.push(yes),
    )
    await db.run(sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'`)
    await vi.waitFor(() => expect(hearing).toEqual([true, false, true]), { timeout: 10_000 })
    await notify('c', 'again')
    await vi.waitFor(() => expect(heard).toEqual(['again']))
    await stop()
  })
})
