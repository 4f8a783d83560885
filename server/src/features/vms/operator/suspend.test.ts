import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { adopt, suspendByOperator, unmanage } from '../service.ts'

describe('operator adopts a VM', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '100.00' })
  const statusOf = async (id: string) => (await customer.get(`/vms/${id}`)).body.data.status

  test('and it keeps its observed power state', async () => {
    const { id } = await app.given.vm(customer)
    await app.db.tx((tx) => unmanage(tx, app.deps, id))
    await app.simulated.drift.stopMachine(id, 'guest')
    expect(await statusOf(id)).toBe('UNMANAGED')
    await adopt(app.deps, id)
    expect(await statusOf(id)).toBe('STOPPED')
  })

  test('and gets an error when it is managed, failed to provision, or is deleted', async () => {
    const { id } = await app.given.vm(customer)
    await expect(adopt(app.deps, id)).rejects.toThrow('VM must be UNMANAGED to adopt; it is RUNNING')
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id: failed } = await app.given.vm(customer)
    await expect(adopt(app.deps, failed)).rejects.toThrow('VM must be UNMANAGED to adopt; it is ERROR')
    await expect(adopt(app.deps, 'cnowhere1')).rejects.toThrow('VM not found')
  })
})

describe('operator suspends a VM', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '100.00' })

  test('and gets an error when it failed to provision', async () => {
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id } = await app.given.vm(customer)
    await expect(suspendByOperator(app.deps, id)).rejects.toThrow('VM has no disk, so there is nothing to suspend')
  })
})
