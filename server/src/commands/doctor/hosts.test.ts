import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { redfishServer } from '../../../test/redfish-server.ts'
import { sql } from '../../kernel/database/db.ts'
import { changePower } from '../../features/hosts/service.ts'
import { hosts } from './hosts.ts'

test('hosts that answer, a power controller that was never compared, and VMs that could not be started elsewhere', async () => {
  const app = await testApp()
  const check = async () => (await hosts({ ...app.config, databaseUrl: app.db.url })).message
  expect(await check()).toBe('hosts: 1 answer')
  const { url, user, password } = await redfishServer()
  await app.db.tx((tx) => changePower(tx, app.deps.vault, app.host, { url, user, password, ca: null, systemUuid: null }))
  const { id } = await app.given.vm(await app.given.customer({ credit: '100.00' }))
  await app.db.run(sql`insert into failed_recoveries (vm_id, source_id, failures, next_attempt_at) values (${id}, 'gone', 1, now())`)
  expect(await check()).toBe(
    'hosts: the power controller of local was never compared with it, and switches nothing off: repeat npx berthd host set-power; 1 VM of lost hosts not started on others yet: npx berthd host recoveries',
  )
  await app.db.run(sql`delete from failed_recoveries`)
})
