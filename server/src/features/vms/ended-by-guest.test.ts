// A guest belongs to its owner, who may switch it off from inside: what it was paid for is not given back for that.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { applyPorts } from './reconcilers/apply-ports.reconciler.ts'
import { syncPowerStates } from './reconcilers/power-sync.reconciler.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'

describe('a guest that switches itself off while it boots', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  await givenBackupTarget(app)
  const customer = await app.given.customer({ credit: '1000.00' })
  const balance = async () => Number((await customer.get('/wallet')).body.data.balance)
  const read = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  /** From now on, or only those with as many vCPUs. */
  const switchOff = (least = 0) =>
    app.db.raw(`
      create or replace function switch_off() returns trigger language plpgsql as $$
      begin update simulated.machines set power = 'stopped', stop_reason = 'guest' where host_id = new.host_id and name = new.name; return null; end $$;
      create trigger switch_off after insert or update of power on simulated.machines for each row
        when (new.power = 'running' and new.vcpu >= ${least}) execute function switch_off();`)
  const seenOff = async (id: string) => {
    for (let looks = 0; looks < 5; looks++) {
      app.clock.advance('1m')
      await syncPowerStates.runOnce(app.deps)
    }
    await applyPorts.runOnce(app.deps)
    expect((await read(id)).status).toBe('STOPPED')
    await app.checkInvariants()
  }
  const stayOn = () => app.db.raw('drop trigger switch_off on simulated.machines')
  const act = async (path: string, body?: object) => {
    const answer = await customer.post(path, body)
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    await app.settle()
    return answer.body.data
  }

  test('keeps the size that it was resized to', async () => {
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string; vcpu: number }[]
    const large = plans.find(({ slug }) => slug === 'large')!
    const { id } = await app.given.vm(customer)
    const before = await balance()
    await switchOff(large.vcpu)
    await act(`/vms/${id}/resize`, { planId: large.id })
    await stayOn()
    expect(await read(id)).toMatchObject({ vcpu: large.vcpu, statusReason: expect.stringContaining('switched itself off') })
    expect(await balance()).toBeLessThan(before)
    await seenOff(id)
  })

  test('is made from a backup nevertheless', async () => {
    const { id } = await app.given.vm(customer)
    const { backup } = await act(`/vms/${id}/backups`, { name: 'x' })
    const { osTemplateId: _, ...input } = (await app.given.vmInput()) as { osTemplateId: string }
    const before = await balance()
    await switchOff()
    const { vm } = await act('/vms', { ...input, fromBackupId: backup.id })
    await stayOn()
    expect((await read(vm.id)).statusReason).toContain('switched itself off')
    expect(await balance()).toBeLessThan(before)
    await seenOff(vm.id)
  })

  test('is unshelved nevertheless', async () => {
    await sellReplicated(app)
    const { id } = await app.given.vm(customer)
    await act(`/vms/${id}/shelve`)
    await reconcileStaleMachines.runOnce(app.deps)
    const before = await balance()
    await switchOff()
    await act(`/vms/${id}/unshelve`)
    await stayOn()
    expect(await read(id)).toMatchObject({ shelvedAt: null, statusReason: expect.stringContaining('switched itself off') })
    expect(await balance()).toBeLessThan(before)
    await seenOff(id)
    await app.db.run(sql`update plans set storage = 'LOCAL'`)
  })
})

describe('a shelving that was abandoned with its host', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  await givenBackupTarget(app)
  const customer = await app.given.customer({ credit: '1000.00' })
  const abandon = (actionId: string) => app.db.tx((tx) => app.deps.workflows.abandon(tx, actionId, 'The host of this VM failed.'))

  test('is undone before the VM is unshelved again, so that nothing of the second is removed', async () => {
    const { id } = await app.given.vm(customer)
    await customer.post(`/vms/${id}/shelve`)
    await app.settle()
    await reconcileStaleMachines.runOnce(app.deps)
    const first = await customer.post(`/vms/${id}/unshelve`)
    await abandon(first.body.data.actionId)
    expect(await customer.post(`/vms/${id}/unshelve`)).toMatchObject({ status: 409, headers: { 'x-error-code': 'busy' } })
    await app.settle()
    expect((await customer.post(`/vms/${id}/unshelve`)).status).toBe(202)
    await app.settle()
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', shelvedAt: null })
    await app.checkInvariants()
  })

  test('ends where the VM was deleted meanwhile', async () => {
    const { id } = await app.given.vm(customer)
    const { body } = await customer.post(`/vms/${id}/shelve`)
    await abandon(body.data.actionId)
    const gone = await customer.delete(`/vms/${id}`)
    await resumeRun(testRunner(app.deps), gone.body.data.actionId)
    await app.settle()
    expect(await app.db.many(sql`select id from workflow_runs where compensating`)).toEqual([])
    expect(await app.db.many(sql`select run_id from restore_rooms`)).toEqual([])
  })

  test('at most two of an account copy their disks at a time', async () => {
    const vms = [await app.given.vm(customer), await app.given.vm(customer), await app.given.vm(customer)]
    const answers = []
    for (const { id } of vms) answers.push(await customer.post(`/vms/${id}/shelve`))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 409])
    await app.settle()
    expect((await customer.post(`/vms/${vms[2]!.id}/shelve`)).status).toBe(202)
    await app.settle()
  })
})
