import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { sql } from '../../../kernel/database/db.ts'
import { heartbeat } from '../../hosts/heartbeat.reconciler.ts'
import { suspendByOperator } from '../operator/suspend.ts'
import { confirmPowerStates, recordPowerEvent, syncPowerStates } from './power-sync.reconciler.ts'

describe('power reconciler', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const { drift, faults } = app.simulated
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const looks = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await syncPowerStates.runOnce(app.deps)
      app.clock.advance('11s')
    }
  }
  const mails = async (id: string) =>
    (
      await app.db.one<{ count: number }>(
        sql`select count(*)::int from emails m join events e on e.id = m.event_id where e.subject_id = ${id}`,
      )
    ).count
  const events = async (id: string) =>
    (await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${id} order by number`)).map((event) => event.type)

  test('corrects a VM that shut itself down, at the second observation', async () => {
    const { id } = await app.given.vm(customer)
    await drift.stopMachine(id, 'guest')
    await looks(1)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
    await looks(1)
    expect(await vm(id)).toMatchObject({ status: 'STOPPED', statusReason: 'Shut down from inside the guest' })
    expect((await events(id)).at(-1)).toBe('vm.stopped')
  })

  test('corrects without a sweep a VM of which an event told, and looks at no other', async () => {
    const customer = await app.given.customer({ credit: '1000.00' })
    const vm = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).body.data
    const [{ id }, { id: other }] = [await app.given.vm(customer), await app.given.vm(customer)]
    for (const each of [id, other]) await drift.stopMachine(each, 'guest')
    await app.db.run(sql`update vms set observed_power = null, observed_at = null where id = any(${[id, other]})`)
    await recordPowerEvent(app.db, app.clock.now(), id, 'stopped')
    await confirmPowerStates.runOnce(app.deps)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
    app.clock.advance('11s')
    await confirmPowerStates.runOnce(app.deps)
    expect([await vm(id), await vm(other)]).toMatchObject([{ status: 'STOPPED' }, { status: 'RUNNING' }])
    await looks(2)
    expect(await vm(other)).toMatchObject({ status: 'STOPPED' })
  })

  test('does not act on a single observation', async () => {
    const { id } = await app.given.vm(customer)
    await drift.stopMachine(id, 'guest')
    await looks(1)
    await drift.startMachine(id)
    await looks(2)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
  })

  test('corrects a VM that was started on the host', async () => {
    const { id } = await app.given.vm(customer)
    await customer.post(`/vms/${id}/stop`)
    await app.settle()
    await drift.startMachine(id)
    await looks(2)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
  })

  test('restarts a VM that its host lost in a power failure', async () => {
    const { id } = await app.given.vm(customer)
    await faults.cutPower()
    await looks(2)
    expect((await vm(id)).currentAction).toMatchObject({ action: 'START' })
    await app.settle()
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', statusReason: null })
  })

  test('resumes a VM that was paused on its host, and records one event', async () => {
    const { id } = await app.given.vm(customer)
    await drift.pauseMachine(id)
    await looks(2)
    expect(await vm(id)).toMatchObject({ status: 'STOPPED', statusReason: 'Paused on the host', currentAction: { action: 'START' } })
    await app.settle()
    await looks(4)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', statusReason: null })
    expect((await events(id)).slice(-2)).toEqual(['vm.stopped', 'vm.started'])
    await app.checkInvariants()
  })

  test('says that the disk of the host is full, and resumes the VM without a start once there is space', async () => {
    const { id } = await app.given.vm(customer)
    await faults.fillDisk()
    await drift.pauseMachine(id)
    await looks(5)
    const full = await vm(id)
    expect(full).toMatchObject({
      status: 'STOPPED',
      statusReason: expect.stringContaining('disk of its host is full'),
      currentAction: null,
    })
    expect(full.allowedActions).not.toContain('start')
    expect((await customer.post(`/vms/${id}/start`)).body.error).toContain('Resumes automatically')
    await faults.freeDisk()
    await looks(3)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', statusReason: null })
    expect((await events(id)).slice(-2)).toEqual(['vm.stopped', 'vm.started'])
    expect((await customer.get(`/vms/${id}/actions`)).body.data).toHaveLength(1)
    await app.checkInvariants()
  })

  test('does not resume the VM of a suspended account', async () => {
    const owner = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(owner)
    await faults.fillDisk()
    await drift.pauseMachine(id)
    await looks(3)
    await app.db.run(sql`update accounts set suspended_at = ${app.clock.now()} where id = ${owner.accountId}`)
    await faults.freeDisk()
    await looks(3)
    expect(await app.db.one(sql`select power from simulated.machines where name = ${id}`)).toEqual({ power: 'paused' })
  })

  test('stops a SUSPENDED VM that was started on its host, and records one event', async () => {
    const { id } = await app.given.vm(customer)
    await suspendByOperator(app.deps, id)
    await app.settle()
    const since = await app.db.one(sql`select suspended_at from vms where id = ${id}`)
    await drift.startMachine(id)
    await looks(2)
    await app.settle()
    expect(await vm(id)).toMatchObject({ status: 'SUSPENDED', statusReason: expect.stringContaining('operator') })
    expect(await app.db.one(sql`select suspended_at from vms where id = ${id}`)).toEqual(since)
    expect((await customer.get(`/vms/${id}/actions`)).body.data.slice(0, 2)).toMatchObject([{ action: 'SUSPEND' }, { action: 'SUSPEND' }])
    expect((await events(id)).filter((type) => type === 'vm.suspended')).toHaveLength(1)
    expect(await mails(id)).toBe(1)
    await app.checkInvariants()
  })

  test('sets ERROR when the machine is missing on the host, and a rebuild recovers it', async () => {
    const { id } = await app.given.vm(customer)
    await drift.deleteMachine(id)
    await looks(2)
    expect(await vm(id)).toMatchObject({ status: 'ERROR' })
    expect((await vm(id)).statusReason).toContain('Its host no longer has this VM')
    expect((await customer.post(`/vms/${id}/rebuild`, { osTemplateId: (await app.given.vmInput()).osTemplateId })).status).toBe(202)
    await app.settle()
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
  })

  test('skips a VM with an open action', async () => {
    const { id } = await app.given.vm(customer)
    await customer.post(`/vms/${id}/restart`)
    await drift.stopMachine(id, 'crash')
    await looks(3)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
    await app.settle()
  })

  test('skips an unreachable host and one that has just come back', async () => {
    const { id } = await app.given.vm(customer)
    await drift.stopMachine(id, 'guest')
    await faults.loseHost()
    await heartbeat.runOnce(app.deps)
    await looks(3)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
    const refused = await (await app.given.customer({ credit: '10.00' })).post('/vms', await app.given.vmInput())
    expect(refused.body.error).toBe('No capacity in fra1 for 1 GiB RAM and 25 GiB disk: 1 host checked, 1 unreachable. Try again later')
    await faults.returnHost()
    await heartbeat.runOnce(app.deps)
    await looks(2)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
    await looks(3)
    expect(await vm(id)).toMatchObject({ status: 'STOPPED' })
  })
})
