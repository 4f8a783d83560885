import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { changePlan, getPlan } from '../catalog/service.ts'

test('a VM has the disk limits of its plan, and those of the larger plan after an upgrade', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const driver = await app.deps.hypervisors.get(app.host.id)
  const limitsOf = async (vmId: string) => (await driver.findMachine(vmId, AbortSignal.timeout(5_000)))?.diskLimits
  const change = (slug: string, limits: { diskIops?: number | null; diskMiBPerSecond?: number | null }) =>
    app.db.tx((tx) => changePlan(tx, slug, limits))
  await change('small', { diskIops: 500, diskMiBPerSecond: 50 })
  await change('medium', { diskMiBPerSecond: 100 })
  const plans = (await customer.get('/plans')).body.data as { slug: string }[]
  expect(plans.find(({ slug }) => slug === 'small')).toMatchObject({ diskIops: 500, diskMiBPerSecond: 50 })

  const { id: vmId } = await app.given.vm(customer, { planId: (await getPlan(app.db, 'small')).id })
  expect(await limitsOf(vmId)).toEqual({ iops: 500, miBPerSecond: 50 })
  await change('small', { diskIops: null, diskMiBPerSecond: null })
  await customer.post(`/vms/${vmId}/restart`)
  await app.settle({ subjectId: vmId })
  expect(await limitsOf(vmId)).toEqual({ iops: 500, miBPerSecond: 50 }) // a VM keeps what it was sold with

  const upgrade = async () => {
    const { status } = await customer.post(`/vms/${vmId}/upgrade`, { planId: (await getPlan(app.db, 'medium')).id })
    await app.settle({ subjectId: vmId })
    return status
  }
  await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
  expect(await upgrade()).toBe(202)
  expect(await limitsOf(vmId)).toEqual({ iops: 500, miBPerSecond: 50 })
  expect(await upgrade()).toBe(202)
  expect(await limitsOf(vmId)).toEqual({ iops: null, miBPerSecond: 100 })
  const free = await app.given.vm(customer, { customConfig: { vcpu: 1, ram: 1024, disk: 10 } })
  expect(await limitsOf(free.id)).toEqual({ iops: null, miBPerSecond: null })
  await expect(change('small', { diskIops: 0 })).rejects.toThrow('positive')
})
