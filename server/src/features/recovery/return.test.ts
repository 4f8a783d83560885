// A host that was lost or fenced answers again.
import { follow, givenLostHosts, leaveOpen, look, lose, placeOf, powerOn, SILENCE, stateOf } from '../../../test/lost-hosts.ts'
import { describe, expect, test } from 'vitest'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { AttemptLostError, findRun } from '../../workflow/run-store.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'
import { lockVmById, startMigration, startRunOf, startVm } from '../vms/service.ts'
import { followLostHosts } from './lost-hosts.reconciler.ts'
import { findFence, startRecoveries } from './service.ts'

describe('a host that was lost', async () => {
  const { app, customer, hostToLose, vmOn, vmOf, storageId } = await givenLostHosts()
  const storage = controlOf(app, storageId)

  test('that answers again before it is fenced keeps everything', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await lose(app, host)
    await storage.faults.loseHost()
    await look(app)
    expect(await findFence(app.db, host.id)).toBeUndefined() // its storage is not known to be silent
    await storage.faults.returnHost()
    await look(app)
    app.clock.advance(SILENCE)
    await followLostHosts.runOnce(app.deps)
    expect(await findFence(app.db, host.id)).toBeDefined()
    await app.db.run(sql`delete from host_fences where host_id = ${host.id}`)
    await app.settle()
    await controlOf(app, host.id).faults.returnHost()
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: undefined })
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([host.id, 'RUNNING'])
  })

  test('that answers again starts nothing before it is cleaned, and is fenced again if it falls silent instead', async () => {
    const host = await hostToLose()
    const [{ id }, off] = [await vmOn(host), await vmOn(host)]
    await customer.post(`/vms/${off.id}/stop`, { force: true })
    await app.settle()
    await lose(app, host)
    await leaveOpen(app, host)
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true, fence: { means: ['BLOCKLIST'] } })
    await controlOf(app, host.id).faults.returnHost()
    await look(app)
    const refused = await customer.post(`/vms/${off.id}/start`)
    expect([refused.status, refused.body.error]).toEqual([503, expect.stringContaining('is being put back into service')])
    const run = await app.db.tx(async (tx) => startRunOf(tx, app.deps, (await lockVmById(tx, off.id))!, 'START')(startVm, { vmId: off.id }))
    await resumeRun(testRunner(app.deps), run.actionId)
    expect(await powerOn(app, host.id, off.id)).toBe('stopped')

    app.clock.advance('5s')
    await controlOf(app, host.id).faults.loseHost()
    await leaveOpen(app, app.host)
    await look(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: { means: [], error: expect.any(String) } })
    expect((await placeOf(app, id)).host_id).toBe(host.id)
    await follow(app)
    await follow(app)
    expect(await stateOf(app, host)).toMatchObject({ isFenced: true, fence: { means: ['BLOCKLIST'] } })
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    await app.rest()
    await app.checkInvariants()
  })

  test('starts nothing for an action that is undone before it is cleaned', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    const plan = await app.db.one<{ id: string }>(sql`select id from plans where slug = 'large'`)
    expect((await customer.post(`/vms/${id}/upgrade`, { planId: plan.id })).status).toBe(202)
    await controlOf(app, host.id).faults.plant({ verb: 'ensureDefined', kind: 'permanent', times: 1 })
    await app.db.run(sql`update hosts set fenced_at = now() where id = ${host.id}`)
    await expect(app.settle({ subjectId: id, rounds: 3 })).rejects.toThrow('still open runs')
    expect(await powerOn(app, host.id, id)).toBe('stopped')
    await app.db.run(sql`update hosts set fenced_at = null where id = ${host.id}`)
    app.clock.advance('5m')
    await app.settle()
    expect([await powerOn(app, host.id, id), (await vmOf(id)).status]).toEqual(['running', 'RUNNING'])
  })

  test('that returns is unfenced for all, although a VM on it is busy', async () => {
    const host = await hostToLose()
    const [{ id }, gone] = [await vmOn(host), await vmOn(host)]
    await lose(app, host)
    await leaveOpen(app, host)
    await follow(app)
    expect((await vmOf(id)).status).toBe('ERROR')
    await customer.delete(`/vms/${gone.id}`)
    await controlOf(app, host.id).faults.returnHost()
    for (let pass = 0; pass < 10; pass++) {
      await look(app)
      app.clock.advance('11s')
    }
    expect(await stateOf(app, host)).toMatchObject({ isFenced: false, fence: undefined })
    await app.settle({ subjectId: id })
    expect([await powerOn(app, host.id, id), (await vmOf(id)).status]).toEqual(['running', 'RUNNING'])
    await app.settle()
    await app.rest()
    expect((await customer.get(`/vms/${gone.id}`)).status).toBe(404)
    await app.checkInvariants()
  })

  test('keeps a VM whose machine may run where a move of it ended, until that host answers', async () => {
    const [host, next] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(host)
    const { actionId } = await app.db.tx((tx) => startMigration(tx, app.deps, id, { to: next.name }))
    const checkpoint = (where: string): void => {
      if (where === 'move run') throw new AttemptLostError('lost')
    }
    await expect(resumeRun({ ...testRunner(app.deps), checkpoint }, actionId)).rejects.toThrow('lost')
    expect(await powerOn(app, next.id, id)).toBe('running')
    await controlOf(app, next.id).faults.loseHost()
    await lose(app, host)
    await leaveOpen(app, app.host)
    for (let pass = 0; pass < 10; pass++) {
      await look(app)
      await app.settle({ rounds: 3 }).catch(() => undefined)
      app.clock.advance('1m')
    }
    expect([await stateOf(app, host), (await placeOf(app, id)).host_id]).toMatchObject([{ isFenced: true }, host.id])
    expect(await findRun(app.db, actionId)).toMatchObject({ cleanup_failed: true, compensating: false })
    expect(await startRecoveries(app.deps, host.id, undefined)).toMatchObject([
      { outcome: 'WAITS', reason: expect.stringContaining(next.name) },
    ])
    await controlOf(app, next.id).faults.returnHost()
    await look(app)
    app.clock.advance('31s')
    await reconcileStaleMachines.runOnce(app.deps)
    await follow(app)
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    expect(await powerOn(app, next.id, id)).toBeUndefined()
    await app.rest()
    await app.checkInvariants()
  })
})
