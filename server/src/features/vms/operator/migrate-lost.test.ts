// A host dies in the middle of a migration: exactly one machine stays, the one with the newest disk, and both hosts count what they have.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../../test/backup-target-fixture.ts'
import { testApp } from '../../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../../test/hosts.ts'
import { testRunner } from '../../../../test/run-workflows.ts'
import { allowManyVms, startDailyBackup } from '../../../../test/snapshot-backup-fixture.ts'
import { subtractDuration } from '../../../kernel/clock.ts'
import { sql } from '../../../kernel/database/db.ts'
import { resumeRun } from '../../../workflow/executor.ts'
import { AttemptLostError, findRun } from '../../../workflow/run-store.ts'
import { getHost, type HostRow } from '../../hosts/service.ts'
import { declareDestroyed } from '../../recovery/service.ts'
import { deleteUnpaidVm, lockVmById, startMigration } from '../service.ts'

describe('a migration whose host dies', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  await givenBackupTarget(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  let count = 0

  /** A VM that is moved between two new hosts, until the checkpoint. */
  const given = async (at: string, arrange: (vmId: string, source: HostRow) => Promise<unknown> = async () => {}) => {
    const [source, destination] = [await givenHost(app, `source${++count}`), await givenHost(app, `destination${count}`)]
    const { id } = await placeOn(app, source.id, () => app.given.vm(customer))
    await arrange(id, source)
    await controlOf(app, source.id).drift.writeFile(id, 'proof', 'newest')
    const { actionId } = await app.db.tx((tx) => startMigration(tx, app.deps, id, { to: destination.name }))
    const checkpoint = (where: string): void => {
      if (where === at) throw new AttemptLostError(`lost at ${at}`)
    }
    await expect(resumeRun({ ...testRunner(app.deps), checkpoint }, actionId)).rejects.toThrow(`lost at ${at}`)
    app.clock.advance('1m')
    const powerOn = async (hostId: string) =>
      (await (await app.deps.hypervisors.get(hostId)).findMachine(id, AbortSignal.timeout(10_000)))?.power
    return {
      id,
      actionId,
      source,
      destination,
      here: controlOf(app, source.id),
      there: controlOf(app, destination.id),
      powers: async () => [await powerOn(source.id), await powerOn(destination.id)],
      powerOn,
    }
  }
  const hostOf = async (vmId: string) =>
    (await app.db.one<{ host_id: string | null }>(sql`select host_id from vms where id = ${vmId}`)).host_id
  const cancel = (runId: string) => app.db.tx((tx) => app.deps.workflows.cancel(tx, runId, 'No longer wanted'))
  const setAway = (hostId: string) =>
    app.db.run(sql`update hosts set unreachable_since = ${subtractDuration(app.clock.now(), '10m')} where id = ${hostId}`)
  const sizeUsed = (hostId: string) =>
    app.db.one(sql`select vcpu_used as vcpu, ram_used_mib as ram, disk_used_gib as disk from hosts where id = ${hostId}`)
  const NOTHING = { vcpu: 0, ram: 0, disk: 0 }
  /** All hosts answer again. */
  const putRight = async () => {
    await app.rest()
    await app.checkInvariants()
  }
  const portsOf = (vmId: string) => app.db.many(sql`select host from simulated.ports where vm_id = ${vmId}`)

  test.each(['running', 'stopped'])('completes without its source once the machine has arrived, which is %s', async (power) => {
    const { id, actionId, destination, here, there, powers } = await given('move run')
    if (power === 'stopped') await there.drift.stopMachine(id, 'guest')
    await here.faults.loseHost()
    await app.settle({ subjectId: id })
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'COMPLETED' })
    expect([await hostOf(id), await there.drift.readFile(id, 'proof')]).toEqual([destination.id, 'newest'])
    await putRight()
    expect(await powers()).toEqual([undefined, power])
  })

  test('waits for its source where the machine has not arrived', async () => {
    const { id, actionId, source, here, powers } = await given('move begun')
    await here.faults.loseHost()
    await app.settle({ subjectId: id, rounds: 30 }).catch(() => undefined)
    expect(await findRun(app.db, actionId)).toMatchObject({ compensating: true })
    await here.faults.returnHost()
    await app.settle({ subjectId: id })
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'FAILED', cleanup_failed: false })
    expect([await hostOf(id), await powers()]).toEqual([source.id, ['running', undefined]])
    expect(await here.drift.readFile(id, 'proof')).toBe('newest')
    await putRight()
  })

  /** The machine has arrived, which nobody knows. */
  const cutOffFor = async (hours: number) => {
    const moved = await given('move run')
    await moved.there.drift.writeFile(moved.id, 'proof', 'written there')
    await moved.there.faults.loseHost()
    for (let hour = 0; hour < hours; hour++) {
      app.clock.advance('1h')
      await app.settle({ subjectId: moved.id, rounds: 5 }).catch(() => undefined)
    }
    return moved
  }

  test('waits for its destination beyond its deadline where the machine may have arrived, which has the newest disk', async () => {
    const { id, actionId, source, here, there, powers } = await cutOffFor(12)
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'RUNNING', compensating: true, error_code: 'unreachable' })
    const { status, headers } = await customer.post(`/vms/${id}/start`)
    expect([status, headers['x-error-code']]).toEqual([409, 'busy'])
    await there.faults.returnHost()
    await putRight()
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'FAILED', cleanup_failed: false })
    expect([await hostOf(id), await powers()]).toEqual([source.id, ['running', undefined]])
    expect(await here.drift.readFile(id, 'proof')).toBe('written there')
  })

  test('keeps nobody from deleting the VM when it waits beyond its deadline', async () => {
    const early = await cutOffFor(1)
    expect((await customer.delete(`/vms/${early.id}`)).status).toBe(409)
    await early.there.faults.returnHost()
    const { id, actionId, source, destination, there, powers } = await cutOffFor(12)
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle({ subjectId: id, rounds: 50 }).catch(() => undefined)
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
    await there.faults.returnHost()
    await putRight()
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'CANCELLED', compensating: false, cleanup_failed: false })
    expect([await powers(), await sizeUsed(source.id), await sizeUsed(destination.id)]).toEqual([[undefined, undefined], NOTHING, NOTHING])
  })

  test('keeps no unpaid VM from being deleted either', async () => {
    const { id, actionId, there } = await cutOffFor(12)
    await app.db.tx(async (tx) => deleteUnpaidVm(tx, app.deps, (await lockVmById(tx, id))!))
    await app.settle({ subjectId: id, rounds: 50 }).catch(() => undefined)
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
    await there.faults.returnHost()
    await putRight()
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'CANCELLED', compensating: false, cleanup_failed: false })
  })

  test.each(['cancelled', 'abandoned'])('leaves the machine where it has arrived when it is %s', async (how) => {
    const { id, actionId, source, destination, here, there, powerOn } = await given('move run')
    await here.faults.loseHost()
    if (how === 'cancelled') await cancel(actionId)
    else await declareDestroyed(app.deps, await getHost(app.db, source.id))
    await app.settle({ subjectId: id })
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'CANCELLED', cleanup_failed: false })
    expect([await hostOf(id), await powerOn(destination.id)]).toEqual([destination.id, 'running'])
    expect(await there.drift.readFile(id, 'proof')).toBe('newest')
    expect(await sizeUsed(source.id)).toEqual(NOTHING)
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('RUNNING')
    expect(await app.db.many(sql`select from vms where host_id = ${source.id}`)).toEqual([]) // none is restored from an older backup
    await putRight()
    expect(await portsOf(id)).toEqual([{ host: destination.hostname }])
  })

  test.each(['running', 'stopped'])('leaves a machine that is %s as it was when its destination is destroyed', async (power) => {
    const stop = async (vmId: string) => {
      await customer.post(`/vms/${vmId}/stop`)
      await app.settle({ subjectId: vmId })
    }
    const { id, actionId, source, destination, here, there, powerOn } = await given('move begun', power === 'stopped' ? stop : undefined)
    if (power === 'running') await here.drift.pauseMachine(id)
    await there.faults.loseHost()
    await declareDestroyed(app.deps, await getHost(app.db, destination.id))
    await app.settle({ subjectId: id })
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'CANCELLED', cleanup_failed: false })
    expect([await hostOf(id), await powerOn(source.id), await sizeUsed(destination.id)]).toEqual([source.id, power, NOTHING])
    await putRight()
  })

  test('gives its room back when the VM is deleted before it is undone', async () => {
    const { id, actionId, source, destination, here } = await given('move begun')
    await here.faults.loseHost()
    await setAway(source.id)
    await cancel(actionId)
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'CANCELLED', compensating: false, cleanup_failed: false })
    expect([await sizeUsed(source.id), await sizeUsed(destination.id)]).toEqual([NOTHING, NOTHING])
    await putRight()
  })

  test('gives back the size that was reserved when the VM is upgraded before it is undone', async () => {
    const { id, actionId, source, destination } = await given('move begun')
    await cancel(actionId)
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    const { status, body } = await customer.post(`/vms/${id}/upgrade`, { planId: plans.find(({ slug }) => slug === 'large')!.id })
    expect(status, body.error).toBe(202)
    await resumeRun(testRunner(app.deps), actionId)
    await app.checkInvariants()
    await app.settle({ subjectId: id })
    expect([await hostOf(id), await sizeUsed(destination.id)]).toEqual([source.id, NOTHING])
    await putRight()
  })

  test('gives its room back when the VM is restored at its destination before it is undone', async () => {
    let backupId = ''
    const { id, actionId, source, destination, here, powerOn } = await given('move begun', async (vmId) => {
      backupId = (await startDailyBackup(app, vmId)).id
      await app.settle({ subjectId: vmId })
    })
    await here.faults.loseHost()
    await setAway(source.id)
    await cancel(actionId)
    await placeOn(app, destination.id, async () => {
      const { status, body } = await customer.post(`/vms/${id}/backups/${backupId}/restore`)
      expect(status, body.error).toBe(202)
    })
    await app.checkInvariants()
    await app.settle({ subjectId: id })
    expect(await findRun(app.db, actionId)).toMatchObject({ status: 'CANCELLED', cleanup_failed: false })
    expect([await hostOf(id), await powerOn(destination.id)]).toEqual([destination.id, 'running'])
    expect(await sizeUsed(source.id)).toEqual(NOTHING)
    await putRight()
  })
})
