import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { overcommit } from './overcommit.ts'

test('hosts that have sold more than their ratios allow', async () => {
  const app = await testApp()
  const config = { ...app.config, databaseUrl: app.db.url }
  expect(await overcommit(config)).toMatchObject({ status: 'ok', message: 'overcommit: no host has sold more than it may' })
  await app.db.run(sql`update hosts set vcpu_total = 4, vcpu_used = 10, ram_total_mib = 1000, ram_used_mib = 900`)
  await app.db.run(sql`update hosts set vcpu_overcommit = 2, ram_total_mib = 800`)
  expect(await overcommit(config)).toEqual({
    status: 'warning',
    message: 'overcommit: local: more is sold than it may sell: 10 of 8 vCPU, 900 of 800 MiB. Nothing new is placed on it',
    fix: expect.stringContaining('--cpu-overcommit'),
  })
  await app.db.run(sql`update hosts set vcpu_used = 0, ram_used_mib = 0`)
})
