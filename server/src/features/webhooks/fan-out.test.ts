import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { rowsRead } from '../../../test/rows-read.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { insertEvent } from '../events/sql.ts'
import { fanOut } from './fan-out.ts'

const OTHERS = 2_000

test('an event reads the subscriptions of its account, and none of others', async () => {
  const app = await testApp()
  const { accountId } = await app.given.customer()
  await app.db.run(sql`
    insert into accounts (id, email, name, created_at) select 'cother' || n, 'other' || n || '@example.com', '', now() from generate_series(1, ${OTHERS}::int) n`)
  await app.db.run(sql`
    insert into webhooks (id, account_id, url, events, description, active_since, secret, created_at, updated_at)
    select 'chook' || id, id, 'https://hooks.example.com', '{vm.started}', '', now(), '', now(), now() from accounts`)
  await app.db.raw('analyze webhooks')
  const event = { id: newId(), account_id: accountId, type: 'vm.started', subject_id: null, data: {}, created_at: app.clock.now() }
  let rows = 0
  await app.db.tx(async (tx) => {
    const counted = { ...tx, run: async (query: Parameters<typeof tx.run>[0]) => ((rows += await rowsRead(tx, query)), 0) }
    await insertEvent(tx, event)
    await fanOut(counted, event)
    tx.rollBack()
  })
  expect(rows).toBeGreaterThan(0)
  expect(rows).toBeLessThan(20)
})
