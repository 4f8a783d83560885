// An action that fails while its host is unreachable cannot be compensated there. The stale machine is repaired when the host answers
// again.
import { describe, expect, test } from 'vitest'
import { allowManyVms, diskOf, givenSecondHost, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { loseHostAt, strand } from '../../../test/lose-host.ts'
import { sql } from '../../kernel/database/db.ts'
import { listHosts } from '../hosts/service.ts'
import { getVmRow, machineSpec } from './model/machine-spec.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'

describe('stale state on the host after an action whose cleanup failed', async () => {
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
    await reconcileStaleMachines.runOnce(app.deps)
    await app.checkInvariants()
    expect(await app.db.many(sql`select from stale_machines`)).toEqual([])
    expect(await app.db.many(sql`select name from workflow_runs where cleanup_failed`)).toEqual([])
  }
  /** Puts all hosts but this one into maintenance. */
  const closeOthers = (name: string | null) => app.db.run(sql`update hosts set maintenance = ${name}::text is not null and name <> ${name}`)

  const later = async () => {
    app.clock.advance('11m')
    await app.reconcile()
    await app.settle()
  }
  const post = async (path: string, body?: unknown): Promise<string> => {
    const answer = await customer.post(path, body)
    expect(answer.status, answer.body.error).toBe(202)
    return answer.body.data.actionId
  }

  describe('of a create', () => {
    const strandedCreate = async () => {
      const { id, actionId } = await app.given.vm(customer, {}, { settled: false })
      await strand(app, actionId, 'boot saved')
      expect(await vmOf(id)).toMatchObject({ status: 'ERROR', ipAddress: null })
      expect(await machinesOf(id)).toMatchObject([{ host: 'local', power: 'running' }])
      return id
    }

    test('is purged', async () => {
      const id = await strandedCreate()
      await restsWell()
      expect([await machinesOf(id), await volumesOf(app, id)]).toEqual([[], []])
    })

    test('is purged when the VM was deleted in the meantime', async () => {
      const id = await strandedCreate()
      expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
      await app.settle()
      await restsWell()
      expect([await machinesOf(id), await volumesOf(app, id)]).toEqual([[], []])
    })

    test('is purged when the host did the work long after it was given up, and the VM was deleted', async () => {
      const { id } = await app.given.vm(customer, {}, { settled: false })
      const spec = await machineSpec(app.deps, await getVmRow(app.db, id))
      await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'lost_answer', times: 5 })
      await app.settle({ subjectId: id })
      expect([await machinesOf(id), (await vmOf(id)).status]).toEqual([[], 'ERROR'])
      expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
      await app.settle()
      app.clock.advance('2m')
      await reconcileStaleMachines.runOnce(app.deps)
      const driver = await app.deps.hypervisors.get(app.host.id)
      await driver.ensureDisk(spec, { from: 'template' }, AbortSignal.timeout(5_000))
      await driver.ensureRunning(spec, AbortSignal.timeout(5_000))
      await reconcileStaleMachines.runOnce(app.deps)
      expect([await machinesOf(id), await volumesOf(app, id)]).toEqual([[], []])
      app.clock.advance('10m')
      await restsWell()
    })

    test.each(['local', 'second'])('does not block a rebuild of the VM on the host %s', async (name) => {
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

    test('stays recorded when the rebuild on that host fails', async () => {
      const id = await strandedCreate()
      await closeOthers('local')
      const { actionId } = (await customer.post(`/vms/${id}/rebuild`, { osTemplateId })).body.data
      await closeOthers(null)
      await loseHostAt(app, actionId, 'networks begun')
      expect(await machinesOf(id)).toMatchObject([{ generation: 1 }])
      await restsWell()
      expect([await machinesOf(id), await volumesOf(app, id)]).toEqual([[], []])
    })
  })

  describe('of an upgrade', async () => {
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    const planId = plans.find(({ slug }) => slug === 'large')!.id
    const SMALL = { generation: 1, vcpu: 1, ramMiB: 1024 }

    test('is shrunk back to the paid size', async () => {
      const { id } = await app.given.vm(customer)
      await strand(app, await post(`/vms/${id}/upgrade`, { planId }), 'boot saved')
      expect(await machinesOf(id)).toMatchObject([{ vcpu: 4, ramMiB: 8192 }])
      await restsWell()
      expect(await machinesOf(id)).toMatchObject([{ power: 'running', ...SMALL }])
      expect(await vmOf(id)).toMatchObject({ status: 'RUNNING', statusReason: expect.stringMatching(/^The upgrade failed/) })
      expect((await customer.get(`/vms/${id}/actions`)).body.data[0]).toMatchObject({ action: 'RESTART', status: 'COMPLETED' })
    })

    test('is started again when the upgrade had stopped it', async () => {
      const { id } = await app.given.vm(customer)
      await strand(app, await post(`/vms/${id}/upgrade`, { planId }), 'stop saved')
      expect(await machinesOf(id)).toMatchObject([{ power: 'stopped', ...SMALL }])
      await restsWell()
      expect(await machinesOf(id)).toMatchObject([{ power: 'running', ...SMALL }])
      expect(await vmOf(id)).toMatchObject({ status: 'RUNNING' })
    })

    test('stays off when it was off before', async () => {
      const { id } = await app.given.vm(customer)
      await post(`/vms/${id}/stop`)
      await app.settle()
      await strand(app, await post(`/vms/${id}/upgrade`, { planId }), 'resize saved')
      expect(await machinesOf(id)).toMatchObject([{ power: 'stopped', vcpu: 4 }])
      await restsWell()
      expect(await machinesOf(id)).toMatchObject([{ power: 'stopped', ...SMALL }])
      expect(await vmOf(id)).toMatchObject({ status: 'STOPPED' })
    })

    test.each([
      ['with a restart', 'begun', { planId }, { vcpu: 4, ramMiB: 8192 }, 100],
      ['with a restart', 'run', { planId }, { vcpu: 4, ramMiB: 8192 }, 100],
      ['of the disk alone', 'begun', { disk: 60 }, { vcpu: 1, ramMiB: 1024 }, 60],
      ['of the disk alone', 'run', { disk: 60 }, { vcpu: 1, ramMiB: 1024 }, 60],
    ])('%s is kept, and paid, when nobody knows whether its disk has grown: %s', async (_what, where, to, size, gib) => {
      const { id } = await app.given.vm(customer)
      const { balanceAfter } = (await customer.post(`/vms/${id}/resize?dryRun=true`, to)).body.data
      await strand(app, await post(`/vms/${id}/resize`, to), `grow ${where}`)
      const booked = { status: 'RUNNING', disk: gib, vcpu: size.vcpu, ram: size.ramMiB }
      expect(await vmOf(id)).toMatchObject({ ...booked, statusReason: expect.stringContaining('its host stopped answering') })
      await restsWell()
      expect([await machinesOf(id), await vmOf(id)]).toMatchObject([[{ power: 'running', ...size }], booked])
      const { disk } = await app.db.one<{ disk: number }>(
        sql`select (capacity_bytes >> 30)::int as disk from simulated.volumes where vm_id = ${id} and kind = 'disk'`,
      )
      expect([disk, (await customer.get('/wallet')).body.data.balance]).toEqual([gib, balanceAfter])
    })

    test('is retried after a delay when the repair fails', async () => {
      const { id } = await app.given.vm(customer)
      await strand(app, await post(`/vms/${id}/upgrade`, { planId }), 'boot saved')
      await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
      app.clock.advance('31s')
      await reconcileStaleMachines.runOnce(app.deps)
      await app.settle()
      expect(await vmOf(id)).toMatchObject({ statusReason: expect.stringContaining('could not be put right yet: The host rejected this') })
      await reconcileStaleMachines.runOnce(app.deps)
      expect((await vmOf(id)).currentAction).toBeNull()
      await later()
      await restsWell()
      expect(await machinesOf(id)).toMatchObject([{ power: 'running', ...SMALL }])
    })

    test('sets ERROR when the host has lost the disk in the meantime', async () => {
      const { id } = await app.given.vm(customer)
      await strand(app, await post(`/vms/${id}/upgrade`, { planId }), 'boot saved')
      await (await app.deps.hypervisors.get(app.host.id)).ensurePurgedKeepBackups(id, AbortSignal.timeout(5_000))
      await restsWell()
      expect(await vmOf(id)).toMatchObject({ status: 'ERROR', statusReason: expect.stringContaining('no longer has the disk') })
      await post(`/vms/${id}/rebuild`, { osTemplateId })
      await restsWell()
      expect(await vmOf(id)).toMatchObject({ status: 'RUNNING' })
    })
  })

  describe('of a new disk', () => {
    /** Data written from now on must survive. */
    const lastsFromNowOn = async (id: string) => {
      await diskOf(app, id).write('since')
      await post(`/vms/${id}/stop`)
      await app.settle()
      await post(`/vms/${id}/start`)
      await app.settle()
      for (let i = 0; i < 3; i++) await later()
      expect(await diskOf(app, id).read()).toBe('since')
      expect(await vmOf(id)).toMatchObject({ status: 'RUNNING' })
      return volumesOf(app, id)
    }

    test('is removed after a rebuild, and the VM keeps its old disk', async () => {
      const { id } = await app.given.vm(customer)
      await diskOf(app, id).write('old')
      await strand(app, await post(`/vms/${id}/rebuild`, { osTemplateId }), 'boot saved')
      expect(await machinesOf(id)).toMatchObject([{ generation: 2 }])
      for (const kind of ['snapshots', 'backups'])
        expect(await customer.post(`/vms/${id}/${kind}`, { name: 'x' })).toMatchObject({ status: 409, headers: { 'x-error-code': 'busy' } })
      await restsWell()
      expect([await machinesOf(id), await diskOf(app, id).read()]).toMatchObject([[{ power: 'running', generation: 1 }], 'old'])
      expect(await vmOf(id)).toMatchObject({ statusReason: expect.stringMatching(/^The rebuild failed and the old disk was kept/) })
      expect(await lastsFromNowOn(id)).toEqual(['disk 1', 'seed 1'])
    })

    test('is removed after a restore, and the VM keeps its old disk', async () => {
      const { id } = await app.given.vm(customer)
      await diskOf(app, id).write('old')
      const snapshot = (await customer.post(`/vms/${id}/snapshots`, { name: 'x' })).body.data.snapshot
      await app.settle()
      await diskOf(app, id).write('newer')
      await strand(app, await post(`/vms/${id}/snapshots/${snapshot.id}/restore`), 'boot saved')
      await restsWell()
      expect([await machinesOf(id), await diskOf(app, id).read()]).toMatchObject([[{ power: 'running', generation: 1 }], 'newer'])
      expect(await lastsFromNowOn(id)).toEqual(['disk 1', 'seed 1', 'snapshot'])
    })

    test('does not block the next rebuild', async () => {
      const { id } = await app.given.vm(customer)
      await strand(app, await post(`/vms/${id}/rebuild`, { osTemplateId }), 'boot saved')
      await post(`/vms/${id}/rebuild`, { osTemplateId })
      await app.settle()
      expect(await lastsFromNowOn(id)).toEqual(['disk 3', 'seed 3'])
      await restsWell()
    })
  })

  describe('of a network', () => {
    let networks = 0
    const givenNetwork = async (): Promise<string> => {
      const network = { name: 'lan', nodeId: app.host.id, cidr: `10.9.${networks++}.0/29` }
      const { id } = (await customer.post('/networks', network)).body.data
      await app.reconcile()
      return id
    }
    const pluggedInto = async (vmId: string) => {
      const machine = await (await app.deps.hypervisors.get(app.host.id)).findMachine(vmId, AbortSignal.timeout(5_000))
      const networks = await app.db.many<{ network_id: string; mac: string }>(
        sql`select network_id, mac from simulated.ports where vm_id = ${vmId} and network_id is not null`,
      )
      return machine!.nics.flatMap(({ mac }) => networks.find((each) => each.mac === mac)?.network_id ?? [])
    }

    test('detaches the interface when attaching failed, and the network can be deleted', async () => {
      const networkId = await givenNetwork()
      const { id } = await app.given.vm(customer)
      await strand(app, await post(`/vms/${id}/networks`, { networkId }), 'attach run')
      expect([await pluggedInto(id), (await vmOf(id)).privateNetworks]).toEqual([[networkId], []])
      await restsWell()
      expect(await pluggedInto(id)).toEqual([])
      expect((await customer.delete(`/networks/${networkId}`)).status).toBe(200)
      await restsWell()
      expect(await app.db.many(sql`select from networks where id = ${networkId}`)).toEqual([])
    })

    test('attaches the interface again when detaching failed', async () => {
      const networkId = await givenNetwork()
      const { id } = await app.given.vm(customer, { privateNetworkIds: [networkId] })
      const { actionId } = (await customer.delete(`/vms/${id}/networks/${networkId}`)).body.data
      await strand(app, actionId, 'detach run')
      expect([await pluggedInto(id), (await vmOf(id)).privateNetworks]).toMatchObject([[], [{ id: networkId }]])
      await restsWell()
      expect(await pluggedInto(id)).toEqual([networkId])
      expect(await vmOf(id)).toMatchObject({ status: 'RUNNING' })
    })
  })
})
