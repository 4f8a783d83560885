// One account keeps no more places of workers than it may, also by requests at the same time.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { givenHost, placeOn } from '../../../test/hosts.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'

describe('of an account that asks for all at once', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  await givenBackupTarget(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '1000.00' })
  const vms: { id: string }[] = []
  for (let i = 0; i < 6; i++) vms.push(await placeOn(app, app.host.id, () => app.given.vm(customer)))
  const askAll = async (verb: string, body?: object) =>
    (await Promise.all(vms.map(({ id }) => customer.post(`/vms/${id}/${verb}`, body))))
      .map(({ status }) => status)
      .toSorted((a, b) => a - b)

  test('two VMs move to be resized', async () => {
    await givenHost(app, 'other')
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib where id = ${app.host.id}`)
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    expect(await askAll('resize', { planId: plans.find(({ slug }) => slug === 'medium')!.id })).toEqual([202, 202, 409, 409, 409, 409])
    await app.settle()
    await app.db.run(sql`update hosts set ram_total_mib = 1000000`)
  })

  test('two VMs are shelved, and two unshelved', async () => {
    expect(await askAll('shelve')).toEqual([202, 202, 409, 409, 409, 409])
    await app.settle()
    await askAll('shelve')
    await app.settle()
    await askAll('shelve')
    await app.settle()
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await askAll('unshelve')).toEqual([202, 202, 409, 409, 409, 409])
    await app.settle()
  })
})
