// Kills each process while a VM is created or changed on a real host: the action ends, the invariants hold, and other guests keep running.
import { describe, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS, realProduct, type RealProduct } from './real-product.ts'

/** The victims. Those that are not part of the product are restarted as an administrator would. */
const VICTIMS: Record<string, (product: RealProduct, vmId: string) => Promise<unknown>> = {
  libvirtd: async ({ sandbox }) => {
    await sandbox.signalDaemon('KILL')
    await sandbox.startDaemon()
  },
  QEMU: ({ sandbox }, vmId) => sandbox.inside('sh', '-c', `kill -9 $(cat /run/libvirt/qemu/berth-${vmId}.pid)`),
  worker: async (product) => {
    await product.processes.worker.kill('SIGKILL')
    product.processes.worker = await product.start('worker')
  },
  API: async (product) => {
    await product.processes.api.kill('SIGKILL')
    product.processes.api = await product.start('api')
  },
}

describeIf(missingForRealHost())('a real host', { timeout: 6 * TIMEOUT_MS }, async () => {
  const product = await realProduct()
  const { customer, ssh, db, sandbox, broken, ended } = product
  const key = await customer.send('POST', '/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
  const create = async (hostname: string) => ({
    ...(await customer.tiny()),
    planId: await customer.plan('nano'),
    sshKeyIds: [key.data.id],
    hostname,
  })
  const witnessId = await customer.order('POST', '/vms', await create('witness'))
  const { ipAddress: witness } = await customer.get(`/vms/${witnessId}`)
  const bootId = () => ssh.reached(witness, 'cat /proc/sys/kernel/random/boot_id')
  const bornAs = await bootId()

  const inStep = (actionId: string, step: string) =>
    eventually(
      () => db.maybe(sql`select 1 from workflow_steps where run_id = ${actionId} and name = ${step} and status = 'RUNNING'`),
      TIMEOUT_MS,
    )
  const isRunning = (vmId: string) => eventually(async () => (await sandbox.virsh('list', '--name')).includes(vmId), TIMEOUT_MS)

  const afterwards = async (vmId: string) => {
    await ended(TIMEOUT_MS)
    expect(await bootId()).toBe(bornAs)
    expect(await broken()).toBe('')
    const { status } = await customer.get(`/vms/${vmId}`)
    const machines = (await sandbox.virsh('list', '--all', '--name')).split('\n').filter((name) => name.includes(vmId))
    return { status, machines: machines.length }
  }

  describe.each(Object.keys(VICTIMS))('when %s is killed', (victim) => {
    test('while a VM is created', async () => {
      const { data } = await customer.send('POST', '/vms', await create('victim'))
      const vmId = data.vm.id
      await inStep(data.actionId, 'ready')
      await isRunning(vmId)
      await VICTIMS[victim]!(product, vmId)
      const { status, machines } = await afterwards(vmId)
      const outcome = { RUNNING: 1, ERROR: 0 }[status]
      expect([status, machines]).toEqual([status, outcome])
      await customer.order('DELETE', `/vms/${vmId}`)
    })

    test('while a VM is changed', async () => {
      const vmId = await customer.order('POST', '/vms', await create('grown'))
      const { data } = await customer.send('POST', `/vms/${vmId}/upgrade`, { planId: await customer.plan('small') })
      await inStep(data.actionId, victim === 'QEMU' ? 'stop' : 'ready')
      await VICTIMS[victim]!(product, vmId)
      expect(await afterwards(vmId)).toEqual({ status: 'RUNNING', machines: 1 })
      await customer.order('DELETE', `/vms/${vmId}`)
    })
  })
})
