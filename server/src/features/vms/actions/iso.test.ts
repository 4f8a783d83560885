import { expect, test } from 'vitest'
import { goesAway } from '../../../../test/away-host.ts'
import { testApp } from '../../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../../test/hosts.ts'
import { givenIso } from '../../../../test/iso-image.ts'
import { follow, givenLostHosts, lose } from '../../../../test/lost-hosts.ts'
import { allowManyVms, startDailyBackup } from '../../../../test/snapshot-backup-fixture.ts'
import { addDuration } from '../../../kernel/clock.ts'
import { sql } from '../../../kernel/database/db.ts'
import { getHost } from '../../hosts/service.ts'
import { evictImages } from '../../images/purge.reconciler.ts'
import { renewImages } from '../../images/renew.reconciler.ts'
import { declareDestroyed, startRecoveries } from '../../recovery/service.ts'
import { describeIso, using } from './iso-cases.ts'

describeIso('LOCAL')

test('an ISO image stays behind with a host that is lost, when the VM is restored elsewhere', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '1000.00' })
  const { vm, attach, isoIn, eventsOf } = using(app, customer)
  const host = await givenHost(app, 'doomed')
  const { id } = await placeOn(app, host.id, () => app.given.vm(customer))
  await startDailyBackup(app, id)
  await app.settle({ subjectId: id })
  const imageId = await givenIso(app, customer)
  await attach(id, imageId, { restart: true })
  await goesAway(app, host.id)
  await declareDestroyed(app.deps, await getHost(app.db, host.id))
  await app.settle()
  await startRecoveries(app.deps, host.id, undefined)
  await app.settle()
  expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', iso: null })
  expect(await isoIn(id)).toBeNull()
  expect((await eventsOf(id)).filter(({ type }) => type === 'vm.iso_detached')).toEqual([{ type: 'vm.iso_detached', reason: 'host' }])
  expect((await customer.delete(`/images/${imageId}`)).status).toBe(200)
  await app.rest()
  await app.checkInvariants()
})

test('an ISO image stays behind with a host that is lost, when the VM is started elsewhere, and the host is rid of it when it returns', async () => {
  const { app, customer, hostToLose, vmOn } = await givenLostHosts()
  const { vm, attach, isoIn, filesOn, eventsOf } = using(app, customer)
  const host = await hostToLose()
  const { id } = await vmOn(host)
  const imageId = await givenIso(app, customer)
  await attach(id, imageId, { restart: true })
  await lose(app, host)
  await follow(app)
  expect(await vm(id)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', iso: null })
  expect(await isoIn(id)).toBeNull()
  expect((await eventsOf(id)).filter(({ type }) => type === 'vm.iso_detached')).toEqual([{ type: 'vm.iso_detached', reason: 'host' }])
  await evictImages.runOnce(app.deps)
  await controlOf(app, host.id).faults.returnHost()
  await follow(app)
  app.clock.advance('1h')
  await evictImages.runOnce(app.deps)
  expect(await filesOn(host.id)).toEqual([])
  await app.rest()
  await app.checkInvariants()
})

test('an ISO image is taken out of drives when it is not paid', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const poor = await app.given.customer({ credit: '1000.00' })
  const { isoIn, eventsOf } = using(app, poor)
  const imageId = await givenIso(app, poor, { name: 'unpaid' })
  const [on, off] = [(await app.given.vm(poor)).id, (await app.given.vm(poor)).id]
  const seen = async (id: string) => (await poor.get(`/vms/${id}`)).body.data
  for (const id of [on, off]) await poor.put(`/vms/${id}/iso`, { imageId, restart: true })
  await app.settle()
  await poor.post(`/vms/${off}/stop`)
  await app.settle()
  const { next } = await app.db.one<{ next: Date }>(sql`select next_renewal_at as next from images where id = ${imageId}`)
  await app.db.run(sql`update wallets set balance_cents = 0 where account_id = ${poor.accountId}`)
  await app.db.run(sql`update vms set next_renewal_at = ${addDuration(next, '60d')} where account_id = ${poor.accountId}`)
  app.clock.set(addDuration(next, '1m'))
  await renewImages.runOnce(app.deps)
  const { data } = await app.db.one<{ data: object }>(
    sql`select data from events where subject_id = ${imageId} and type = 'image.past_due'`,
  )
  expect(data).toMatchObject({ reason: expect.stringMatching(/it is detached from VMs on .* unless it is paid$/) })
  expect(await seen(on)).toMatchObject({ iso: { active: true } })
  app.clock.advance('25h')
  await app.simulated.faults.plant({ verb: 'ensureInDrive', kind: 'permanent', times: 1 })
  for (let passes = 0; passes < 3; passes++) {
    await renewImages.runOnce(app.deps)
    await app.settle()
    app.clock.advance('1m')
  }
  expect([await seen(on), await seen(off)]).toMatchObject([
    { status: 'RUNNING', iso: null },
    { status: 'STOPPED', iso: null },
  ])
  expect([await isoIn(on), await isoIn(off)]).toEqual([null, null])
  for (const id of [on, off])
    expect((await eventsOf(id)).filter(({ type }) => type === 'vm.iso_detached')).toEqual([{ type: 'vm.iso_detached', reason: 'unpaid' }])
  expect((await poor.put(`/vms/${on}/iso`, { imageId })).body.error).toMatch(/is not paid/)
})
