// Traffic and speed of a VM that is resized: nothing is had by it that is not paid for.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { allowManyVms } from '../../../../test/snapshot-backup-fixture.ts'
import { GB, quietVm } from '../../../../test/traffic.ts'
import { sql } from '../../../kernel/database/db.ts'
import { meter } from '../../bandwidth/meter.reconciler.ts'
import { lockVmById } from '../model/sql.ts'
import { loseVm } from '../operator/lose.ts'
import { applyPorts } from '../reconcilers/apply-ports.reconciler.ts'

describe('the traffic of a VM that is resized', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update plans set bandwidth_gb = 0, network_mbps = 100 where slug = 'nano'`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const planId = (slug: string): string => plans.find((plan) => plan.slug === slug)!.id
  const balance = async (): Promise<number> => Math.round(Number((await customer.get('/wallet')).body.data.balance) * 100)
  const shown = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const cap = async (id: string): Promise<number | null> => {
    const usages = (await customer.get('/bandwidth')).body.data as { vmId: string; capBytes: string | null }[]
    const { capBytes } = usages.find(({ vmId }) => vmId === id)!
    return capBytes === null ? null : Number(capBytes) / GB
  }
  const use = async (vm: Awaited<ReturnType<typeof quietVm>>, gigabytes: number) => {
    await vm.receive(gigabytes * GB)
    await meter.runOnce(app.deps)
  }
  const settle = async (id: string) => {
    await app.settle({ subjectId: id })
    await applyPorts.runOnce(app.deps)
    await app.db.run(sql`update simulated.nics set bytes_per_second = 0`)
  }
  const resize = async (id: string, to: object) => {
    const { status, body } = await customer.post(`/vms/${id}/resize`, to)
    expect(status, body.error).toBe(202)
    await settle(id)
    return (await customer.get(`/vms/${id}/actions/${body.data.actionId}`)).body.data
  }
  const remove = async (id: string) => {
    await app.checkInvariants()
    await customer.delete(`/vms/${id}`)
    await settle(id)
    await app.checkInvariants()
  }

  test('and its speed are larger only when the resize has succeeded', async () => {
    const vm = await quietVm(app, customer, { planId: planId('medium') })
    await use(vm, 3000)
    await applyPorts.runOnce(app.deps)
    expect([await vm.limitMbps(), await cap(vm.id)]).toEqual([10, 3000])
    const before = await balance()
    const { body } = await customer.post(`/vms/${vm.id}/resize`, { planId: planId('large') })
    await applyPorts.runOnce(app.deps)
    expect([await vm.limitMbps(), await cap(vm.id)]).toEqual([10, 3000])
    await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent', times: 1 })
    await settle(vm.id)
    await app.simulated.faults.clear()
    expect((await customer.get(`/vms/${vm.id}/actions/${body.data.actionId}`)).body.data.status).toBe('FAILED')
    expect([await balance(), await vm.limitMbps(), await cap(vm.id)]).toEqual([before, 10, 3000])
    expect(await vm.events('bandwidth.%')).toEqual(['bandwidth.throttled'])
    expect(await resize(vm.id, { planId: planId('large') })).toMatchObject({ status: 'COMPLETED' })
    expect([await vm.limitMbps(), await cap(vm.id)]).toEqual([2000, 5000])
    expect(await shown(vm.id)).toMatchObject({ bandwidth: 5000, networkSpeed: 2000 })
    expect(await vm.events('bandwidth.%')).toEqual(['bandwidth.throttled', 'bandwidth.unthrottled'])
    await remove(vm.id)
  })

  test('is smaller, as is its speed, from the request on', async () => {
    const vm = await quietVm(app, customer, { customConfig: { vcpu: 2, ram: 4096, disk: 50 } })
    expect(await resize(vm.id, { planId: planId('large') })).toMatchObject({ status: 'COMPLETED' })
    await customer.post(`/vms/${vm.id}/resize`, { planId: planId('medium'), disk: 100 })
    expect([(await cap(vm.id))! < 3001, (await shown(vm.id)).networkSpeed]).toEqual([true, 1000])
    await settle(vm.id)
    expect([(await cap(vm.id))! < 3001, (await shown(vm.id)).networkSpeed]).toEqual([true, 1000])
    await remove(vm.id)
  })

  test('is not given back by a size without a cap', async () => {
    const before = await balance()
    const vm = await quietVm(app, customer, { planId: planId('large') })
    await use(vm, 5000)
    await resize(vm.id, { planId: planId('nano'), disk: 100 })
    expect(await cap(vm.id)).toBeNull()
    await remove(vm.id)
    expect(before - (await balance())).toBe(3600)
  })

  test('that is used before a size without a cap is there is not given back either', async () => {
    const before = await balance()
    const vm = await quietVm(app, customer, { planId: planId('large') })
    await customer.post(`/vms/${vm.id}/resize`, { planId: planId('nano'), disk: 100 })
    await use(vm, 5000)
    await settle(vm.id)
    const paid = before - (await balance())
    await remove(vm.id)
    expect(before - (await balance())).toBe(paid)
  })

  test('is that of the rest of the period after a time without a cap', async () => {
    app.clock.set(new Date('2027-04-01T00:00:00Z'))
    const vm = await quietVm(app, customer, { planId: planId('nano') })
    await use(vm, 700)
    app.clock.set(new Date('2027-04-28T00:00:00Z')) // 3 of 30 days are left
    await resize(vm.id, { planId: planId('large') })
    expect(await cap(vm.id)).toBeCloseTo(700 + 500, 0)
    await use(vm, 500)
    await resize(vm.id, { planId: planId('nano'), disk: 100 })
    expect(await cap(vm.id)).toBeNull()
    await use(vm, 300)
    await resize(vm.id, { planId: planId('large') })
    expect(await cap(vm.id)).toBeCloseTo(1500, 0)
    await applyPorts.runOnce(app.deps)
    expect(await vm.limitMbps()).toBe(20)
    await remove(vm.id)
  })

  test('that is left is kept over a time without a cap', async () => {
    app.clock.set(new Date('2027-06-01T00:00:00Z'))
    const vm = await quietVm(app, customer, { planId: planId('medium') })
    app.clock.set(new Date('2027-06-16T00:00:00Z'))
    await resize(vm.id, { planId: planId('nano'), disk: 50 })
    await use(vm, 100)
    await resize(vm.id, { planId: planId('medium') })
    expect(await cap(vm.id)).toBeCloseTo(3100, 0)
    await remove(vm.id)
  })

  test('begins anew with a VM that is rebuilt after it was lost', async () => {
    const vm = await quietVm(app, customer, { planId: planId('medium') })
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 100 })
    await resize(vm.id, { planId: planId('large') })
    app.clock.advance('10d')
    await resize(vm.id, { planId: planId('medium'), disk: 100 })
    expect(await cap(vm.id)).toBeGreaterThan(3600)
    await app.db.tx(async (tx) => loseVm(tx, app.deps, (await lockVmById(tx, vm.id))!, 'Its host was destroyed', () => Promise.resolve([])))
    const osTemplateId = ((await customer.get('/os-templates/debian-12')).body.data as { id: string }).id
    expect((await customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId })).status).toBe(202)
    await app.settle({ subjectId: vm.id })
    expect(await cap(vm.id)).toBe(3000)
  })
})
