// A pass of daily backups reads what is due, however many VMs have them.
import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { fillHost } from '../../../test/metering-size.ts'
import { rowsRead } from '../../../test/rows-read.ts'
import { manualClock } from '../../kernel/clock.ts'
import { openDb, sql, type Db, type Queries, type Sql } from '../../kernel/database/db.ts'
import { dueVms, nextBackupTime, scheduleDailyBackups } from './schedule.ts'
import { expireUnwanted } from './sql.ts'

const VMS = 5_000
const CHANGED = 5
/** Nodes of plans that see a row. */
const NODES = 20

test('a pass of daily backups reads no VMs that are not due', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 3, onError: () => {} })
  const now = manualClock().now()
  const { id: hostId } = await db.one<{ id: string }>(sql`select id from hosts limit 1`)
  await fillHost(db, now, hostId, VMS)
  await db.run(sql`update vms set daily_backup = true`)
  await scheduleDailyBackups(db, now)
  await db.raw('analyze')

  let rows = 0
  const explained = <Q extends Queries>(queries: Q): Q => {
    const explain = async (query: Sql): Promise<Sql> => {
      rows += await rowsRead(queries, query)
      return query
    }
    const many: Q['many'] = async (query) => queries.many(await explain(query))
    return { ...queries, many, run: async (query) => queries.run(await explain(query)) }
  }
  const counted: Db = { ...explained(db), tx: (work) => db.tx((tx) => work(explained(tx))) }
  const pass = async (): Promise<number> => {
    rows = 0
    await scheduleDailyBackups(counted, now)
    await dueVms(counted, now, 4)
    await expireUnwanted(counted, now)
    return rows
  }
  const nextAt = async () => (await db.one<{ at: Date }>(sql`select next_at as at from backup_schedules where vm_id = 'cvm1'`)).at
  expect(await nextAt()).toEqual(nextBackupTime('cvm1', now))
  expect(await pass()).toBeLessThan(NODES)

  await db.run(sql`
    insert into backup_policies (vm_id, hour, keep_daily, keep_weekly, keep_monthly) select 'cvm' || n, 13, 7, 0, 0 from generate_series(1, ${CHANGED}) n`)
  expect(await pass()).toBeLessThan(CHANGED * NODES)
  expect(await nextAt()).toEqual(nextBackupTime('cvm1', now, 13))
  await db.run(sql`update vms set daily_backup = false where id = 'cvm1'`)
  await db.run(sql`update backup_schedules set next_at = ${now}::timestamptz - interval '2 days' where vm_id = 'cvm1'`)
  expect(await pass()).toBeLessThan(2 * NODES)
  expect(await db.one(sql`select next_at = 'infinity' as is_off from backup_schedules where vm_id = 'cvm1'`)).toEqual({ is_off: true })
  await db.close()
})
