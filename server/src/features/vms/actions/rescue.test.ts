import { expect, test } from 'vitest'
import { goesAway } from '../../../../test/away-host.ts'
import { testApp } from '../../../../test/harness.ts'
import { givenHost, placeOn } from '../../../../test/hosts.ts'
import { allowManyVms, startDailyBackup } from '../../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../../kernel/database/db.ts'
import { getHost } from '../../hosts/service.ts'
import { declareDestroyed, startRecoveries } from '../../recovery/service.ts'
import { describeRescue } from './rescue-cases.ts'

describeRescue('LOCAL')

test('a rescue ends with its host, when the VM is restored elsewhere', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '1000.00' })
  const host = await givenHost(app, 'doomed')
  const { id } = await placeOn(app, host.id, () => app.given.vm(customer))
  await startDailyBackup(app, id)
  await app.settle({ subjectId: id })
  await customer.post(`/vms/${id}/rescue`, { password: 'correct horse battery' })
  await app.settle({ subjectId: id })
  await goesAway(app, host.id)
  await declareDestroyed(app.deps, await getHost(app.db, host.id))
  await app.settle()
  await startRecoveries(app.deps, host.id, undefined)
  await app.settle()
  expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', rescue: null })
  const events = await app.db.many(
    sql`select data ->> 'reason' as reason from events where subject_id = ${id} and type = 'vm.rescue_ended'`,
  )
  expect(events).toEqual([{ reason: 'host' }])
  expect(await app.db.many(sql`select from vm_rescues`)).toEqual([])
  await app.rest()
  await app.checkInvariants()
})
