// An action that fails while its host is away cannot be taken back. What it left there is put right when the host answers again.
import { describe, expect, test } from 'vitest'
import { allowManyVms, givenSecondHost, volumesOf } from '../../../test/copies.ts'
import { testApp } from '../../../test/harness.ts'
import { strand } from '../../../test/strand.ts'
import { sql } from '../../kernel/db.ts'
import { listHosts } from '../hosts/service.ts'

describe('what a stranded action left on its host', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '1000.00' })
  await givenSecondHost(app)
  const { osTemplateId } = await app.given.vmInput()

  const vmOf = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const machinesOf = async (vmId: string) => {
    const hosts = await listHosts(app.db)
    const drivers = await Promise.all(hosts.map(({ id }) => app.deps.hypervisors.get(id)))
    const machines = await Promise.all(drivers.map((driver) => driver.findMachine(vmId, AbortSignal.timeout(5_000))))
    return hosts.flatMap(({ name }, index) => {
      const found = machines[index]
      return found ? [{ host: name, power: found.power, generation: found.generation, vcpu: found.vcpu, ramMiB: found.ramMiB }] : []
    })
  }
  const restsWell = async () => {
    await app.rest()
    await app.checkInvariants()
    expect(await app.db.many(sql`select from left_machines`)).toEqual([])
  }
  /** Only the host with this name takes new VMs. */
  const closeOthers = (name: string | null) => app.db.run(sql`update hosts set maintenance = ${name}::text is not null and name <> ${name}`)

  describe('of a create', () => {
    const strandedCreate = async () => {
      const { id, actionId } = await app.given.vm(customer, {}, { settled: false })
      await strand(app, actionId, 'boot saved')
      expect(await vmOf(id)).toMatchObject({ status: 'ERROR', ipAddress: null })
      expect(await machinesOf(id)).toMatchObject([{ host: 'local', power: 'running' }])
      return id
    }

    test('is removed', async () => {
      const id = await strandedCreate()
      await restsWell()
      expect([await machinesOf(id), await volumesOf(app, id)]).toEqual([[], []])
    })

    test('is removed when its VM was deleted meanwhile', async () => {
      const id = await strandedCreate()
      expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
      await app.settle()
      await restsWell()
      expect([await machinesOf(id), await volumesOf(app, id)]).toEqual([[], []])
    })

    test.each(['local', 'second'])('makes way for the same VM on the host %s', async (name) => {
      const id = await strandedCreate()
      await closeOthers(name)
      expect((await customer.post(`/vms/${id}/rebuild`, { osTemplateId })).status).toBe(202)
      await app.settle()
      await closeOthers(null)
      expect(await vmOf(id)).toMatchObject({ status: 'RUNNING' })
      await restsWell()
      expect(await machinesOf(id)).toMatchObject([{ host: name, power: 'running', generation: 2 }])
      expect(await vmOf(id)).toMatchObject({ status: 'RUNNING' })
    })

    test('is remembered when the VM cannot be built there again', async () => {
      const id = await strandedCreate()
      await closeOthers('local')
      const { actionId } = (await customer.post(`/vms/${id}/rebuild`, { osTemplateId })).body.data
      await closeOthers(null)
      await strand(app, actionId, 'networks begun')
      expect(await machinesOf(id)).toMatchObject([{ generation: 1 }])
      await restsWell()
      expect([await machinesOf(id), await volumesOf(app, id)]).toEqual([[], []])
    })
  })
})
