import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import { reserve } from './reserve.ts'

test('the disk reserve of hosts: enough, nearly used up by bookings or by what is measured, and used up', async () => {
  const app = await testApp()
  const config = { ...app.config, databaseUrl: app.db.url }
  await app.db.run(sql`update hosts set disk_total_gib = 1000, disk_used_gib = 0, disk_free_gib = null`)
  await givenHost(app, 'rack1')
  expect(await reserve(config)).toMatchObject({
    status: 'ok',
    message: 'disk reserve: local has 950 GiB above it, rack1 has 3800 GiB above it',
  })

  await app.db.run(sql`update hosts set disk_used_gib = 910 where name = 'local'`)
  const fix = expect.stringContaining('npx berthd host set <name> --refresh-capacity')
  expect(await reserve(config)).toEqual({ status: 'warning', message: 'disk reserve: local has only 40 GiB above it', fix })

  await app.db.run(sql`update hosts set disk_free_gib = 49 where name = 'local'`)
  const used = 'disk reserve: local is below it, so nothing new is written there'
  expect(await reserve(config)).toEqual({ status: 'warning', message: used, fix })
  await app.db.run(sql`delete from hosts where name = 'rack1'`)
})
