import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { controlOf, givenHost, givenRegion } from '../../../../test/hosts.ts'
import { testRunner } from '../../../../test/run-workflows.ts'
import { sellReplicated } from '../../../../test/replicated-storage.ts'
import { allowManyVms } from '../../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../../kernel/database/db.ts'
import { checkInvariants, formatFailures } from '../../../invariants/check.ts'
import { resumeRun } from '../../../workflow/executor.ts'
import { AttemptLostError } from '../../../workflow/run-store.ts'
import { suspendAccount, unsuspendAccount } from '../../operator/customers.ts'
import { cancelMigration, planMigration, startMigration, suspendByOperator } from '../service.ts'
import { applyPorts } from '../reconcilers/apply-ports.reconciler.ts'
import { enforceSuspension } from '../reconcilers/enforce-suspension.reconciler.ts'
import { reconcileStaleMachines } from '../reconcilers/stale-machines.reconciler.ts'

const soon = () => AbortSignal.timeout(10_000)

describe('operator migrates a VM', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const other = await givenHost(app, 'other')
  const customer = await app.given.customer({ credit: '1000.00' })
  const [here, there] = [controlOf(app, app.host.id), controlOf(app, other.id)]
  const used = async (hostId: string) =>
    app.db.one(sql`select vcpu_used as vcpu, ram_used_mib as ram, disk_used_gib as disk from hosts where id = ${hostId}`)
  const hostOf = async (vmId: string) => (await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)).host_id
  const powerOn = async (hostId: string, vmId: string) => (await (await app.deps.hypervisors.get(hostId)).findMachine(vmId, soon()))?.power
  const start = (vmId: string, to?: string) => app.db.tx((tx) => startMigration(tx, app.deps, vmId, { to }))
  const boot = async (owner = customer) => {
    await app.db.run(sql`update hosts set maintenance = true where id = ${other.id}`)
    const { id } = await app.given.vm(owner)
    await app.db.run(sql`update hosts set maintenance = false`)
    return id
  }
  const broken = async () => {
    await applyPorts.runOnce(app.deps)
    return formatFailures(await checkInvariants(app.deps))
  }
  const migrate = async (vmId: string, to?: string) => {
    const { actionId } = await start(vmId, to)
    await app.settle({ subjectId: vmId })
    return (await customer.get(`/vms/${vmId}/actions/${actionId}`)).body.data
  }

  test('which runs on the other host, with its disk, and both hosts count what they have', async () => {
    const id = await boot()
    await here.drift.writeFile(id, 'proof', 'kept')
    const before = [await used(app.host.id), await used(other.id)]
    expect(await planMigration(app.deps, id, {})).toEqual({ from: app.host.name, to: 'other', note: null })
    expect(await migrate(id)).toMatchObject({ action: 'MIGRATE', status: 'COMPLETED', error: null })
    expect([await hostOf(id), await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([other.id, undefined, 'running'])
    expect(await there.drift.readFile(id, 'proof')).toBe('kept')
    expect([await used(app.host.id), await used(other.id)]).toEqual(before.toReversed())
    const { data: events } = (await customer.get('/events')).body
    expect(events.find(({ type }: { type: string }) => type === 'vm.migrated')).toMatchObject({ data: { vm: { id, status: 'RUNNING' } } })
    const ports = await app.db.many(sql`select host from simulated.ports where vm_id = ${id}`)
    expect(ports).toEqual([{ host: 'other' }])
    expect(await broken()).toBe('')
    expect(await migrate(id, app.host.name)).toMatchObject({ status: 'COMPLETED' })
    expect([await hostOf(id), await here.drift.readFile(id, 'proof')]).toEqual([app.host.id, 'kept'])
    expect(await broken()).toBe('')
  })

  test.each(['STOPPED', 'SUSPENDED'])('that is %s, and stays so', async (status) => {
    const id = await boot()
    await customer.post(`/vms/${id}/stop`)
    await app.settle({ subjectId: id })
    if (status === 'SUSPENDED') await app.db.run(sql`update vms set status = 'SUSPENDED', suspended_at = now() where id = ${id}`)
    expect(await migrate(id, 'other')).toMatchObject({ status: 'COMPLETED' })
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe(status)
    expect([await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([undefined, 'stopped'])
  })

  test('while its firewall changes, and its ports end where it is', async () => {
    const id = await boot()
    const { actionId } = await start(id, 'other')
    const firewall = (await customer.post('/firewalls', { name: 'late' })).body.data
    expect((await customer.post(`/firewalls/${firewall.id}/bindings`, { vmId: id })).status).toBe(201)
    await applyPorts.runOnce(app.deps)
    expect(await app.db.many(sql`select host from simulated.ports where vm_id = ${id}`)).toEqual([{ host: `${app.host.hostname},other` }])
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data.status).toBe('COMPLETED')
    await applyPorts.runOnce(app.deps)
    expect(await app.db.many(sql`select host from simulated.ports where vm_id = ${id}`)).toEqual([{ host: 'other' }])
  })

  test('and 10G is not sold meanwhile where the host it goes to has no such card', async () => {
    const id = await boot()
    await app.db.run(sql`update hosts set uplink_mbps = case when id = ${other.id} then 1000 else 10000 end`)
    await start(id, 'other')
    const { headers, body } = await customer.patch(`/vms/${id}`, { network10gEnabled: true })
    expect([headers['x-error-code'], body.error]).toEqual(['unavailable', expect.stringContaining('being moved to a host that has no 10G')])
    await app.settle({ subjectId: id })
    await app.db.run(sql`update hosts set uplink_mbps = null`)
    expect([await hostOf(id), await broken()]).toEqual([other.id, ''])
  })

  test.each(['ensureReceiver', 'ensureReceived'] as const)('and it stays where it is when %s fails for good', async (verb) => {
    const id = await boot()
    await here.drift.writeFile(id, 'proof', 'kept')
    const before = [await used(app.host.id), await used(other.id)]
    await there.faults.plant({ verb, kind: 'permanent' })
    expect(await migrate(id, 'other')).toMatchObject({ status: 'FAILED' })
    expect([await hostOf(id), await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([app.host.id, 'running', undefined])
    expect(await here.drift.readFile(id, 'proof')).toBe('kept')
    expect([await used(app.host.id), await used(other.id)]).toEqual(before)
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('RUNNING')
    await applyPorts.runOnce(app.deps)
    expect(await app.db.many(sql`select host from simulated.ports where vm_id = ${id}`)).toEqual([{ host: app.host.hostname }])
    expect(await broken()).toBe('')
  })

  test('and the remains on a destination that died are removed when it is back', async () => {
    const id = await boot()
    await there.faults.plant({ verb: 'ensureTemplate', kind: 'lost_answer' })
    await here.faults.plant({ verb: 'ensureMigrated', kind: 'permanent' })
    await there.faults.plant({ verb: 'ensurePurgedKeepBackups', kind: 'lost_answer' })
    expect(await migrate(id, 'other')).toMatchObject({ status: 'FAILED' })
    const left = () => app.db.many(sql`select host_id from stale_machines where vm_id = ${id}`)
    expect(await left()).toEqual([{ host_id: other.id }])
    await expect(start(id, 'other')).rejects.toThrow('still has remains of this VM')
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await left()).toEqual([])
    expect(await migrate(id, 'other')).toMatchObject({ status: 'COMPLETED' })
  })

  test('and a run that is cancelled after that leaves it there', async () => {
    const id = await boot()
    await here.faults.plant({ verb: 'ensurePurgedKeepBackups', kind: 'transient' })
    const { actionId } = await start(id, 'other')
    const stopping = new AbortController().signal
    await resumeRun({ ...testRunner(app.deps), stopping, enqueue: async () => {} }, actionId)
    expect(await hostOf(id)).toBe(other.id)
    await app.db.tx((tx) => app.deps.workflows.cancel(tx, actionId, 'No longer wanted'))
    await app.settle({ subjectId: id })
    expect([await hostOf(id), await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([other.id, undefined, 'running'])
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await broken()).toBe('')
  })

  test('which is stopped for it and started again, where the operator says so', async () => {
    const id = await boot()
    await here.drift.writeFile(id, 'proof', 'kept')
    const { actionId } = await app.db.tx((tx) => startMigration(tx, app.deps, id, { to: 'other', restarts: true }))
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data).toMatchObject({ status: 'COMPLETED' })
    expect([await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([undefined, 'running'])
    expect([await there.drift.readFile(id, 'proof'), (await customer.get(`/vms/${id}`)).body.data.status]).toEqual(['kept', 'RUNNING'])
    const events = await app.db.many(sql`select type from events where data ->> 'actionId' = ${actionId} order by type`)
    expect(events).toEqual([{ type: 'vm.migrated' }, { type: 'vm.restarted' }])
    expect(await broken()).toBe('')
  })

  test('which is off afterwards, with the reason, when it does not start at the other host', async () => {
    const id = await boot()
    await there.faults.plant({ verb: 'ensureRunning', kind: 'permanent' })
    await app.db.tx((tx) => startMigration(tx, app.deps, id, { to: 'other', restarts: true }))
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({
      status: 'STOPPED',
      statusReason: expect.stringContaining('start it'),
    })
    expect([await hostOf(id), await powerOn(other.id, id)]).toEqual([other.id, 'stopped'])
    expect(await broken()).toBe('')
  })

  /** Its worker dies when the machine has left, or before. */
  const interrupted = async (at: string, owner = customer) => {
    const id = await boot(owner)
    await here.drift.writeFile(id, 'proof', 'kept')
    const before = [await used(app.host.id), await used(other.id)]
    const { actionId } = await start(id, 'other')
    const checkpoint = (where: string): void => {
      if (where === at) throw new AttemptLostError(`lost at ${at}`)
    }
    await expect(resumeRun({ ...testRunner(app.deps), checkpoint }, actionId)).rejects.toThrow(`lost at ${at}`)
    return { id, actionId, before }
  }
  const cancel = (id: string) => app.db.tx((tx) => cancelMigration(tx, app.deps, id))

  test.each(['filter saved', 'move begun', 'move run'])('and cancels that at "%s": it is as it was, and nothing is left', async (at) => {
    const { id, actionId, before } = await interrupted(at)
    expect(await cancel(id)).toEqual({ actionId })
    await expect(cancel(id)).rejects.toThrow('is being undone already')
    expect((await customer.post(`/vms/${id}/stop`)).body.error).toContain('VM is busy')
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data).toMatchObject({
      status: 'CANCELLED',
      error: 'The operator has cancelled it',
    })
    expect([await hostOf(id), await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([app.host.id, 'running', undefined])
    expect([await used(app.host.id), await used(other.id), await here.drift.readFile(id, 'proof')]).toEqual([...before, 'kept'])
    expect(await broken()).toBe('')
    await expect(cancel(id)).rejects.toThrow('VM is not being moved')
  })

  test('and it is suspended without waiting for that', async () => {
    const { id } = await interrupted('move begun')
    expect(await suspendByOperator(app.deps, id)).toEqual({ actionId: null, waitsFor: 'MIGRATE' })
    await app.settle({ subjectId: id })
    await expect(start(id, 'other')).rejects.toThrow('VM is being suspended')
    await enforceSuspension.runOnce(app.deps)
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('SUSPENDED')
    expect([await hostOf(id), await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([app.host.id, 'stopped', undefined])
    expect(await migrate(id, 'other')).toMatchObject({ status: 'COMPLETED' })
  })

  test('and its account is suspended without waiting for that', async () => {
    const spammer = await app.given.customer({ credit: '100.00' })
    const { id } = await interrupted('move begun', spammer)
    const { skipped } = await app.db.tx((tx) => suspendAccount(tx, app.deps, spammer.accountId, 'Spam'))
    expect(skipped).toEqual([{ vmId: id, reason: expect.stringContaining('action MIGRATE') }])
    await app.settle({ subjectId: id })
    await enforceSuspension.runOnce(app.deps)
    await app.settle({ subjectId: id })
    expect([await hostOf(id), await powerOn(app.host.id, id), await powerOn(other.id, id)]).toEqual([app.host.id, 'stopped', undefined])
    await app.db.tx((tx) => unsuspendAccount(tx, app.deps, spammer.accountId))
    await app.settle({ subjectId: id })
    expect([(await spammer.get(`/vms/${id}`)).body.data.status, await broken()]).toEqual(['RUNNING', ''])
  })

  test('to the host that has its backups only where there is no other', async () => {
    const id = await boot()
    await customer.post(`/vms/${id}/backups`, { name: 'x' })
    await app.settle({ subjectId: id })
    expect(await app.db.many(sql`select host_id from backups where vm_id = ${id}`)).toEqual([{ host_id: other.id }])
    expect(await planMigration(app.deps, id, {})).toMatchObject({
      to: 'other',
      note: expect.stringContaining('other holds backups of this VM'),
    })
    const third = await givenHost(app, 'third')
    await app.db.run(sql`update hosts set ram_used_mib = ram_total_mib - 4096 where id = ${third.id}`)
    expect(await planMigration(app.deps, id, {})).toMatchObject({ to: 'third', note: null })
    await app.db.run(sql`delete from hosts where id = ${third.id}`)
  })

  test('and gets a sentence when that cannot be', async () => {
    const id = await boot()
    await expect(start(id, app.host.name)).rejects.toThrow(`VM is on ${app.host.name} already`)
    await expect(start(id, 'nowhere')).rejects.toThrow('Host not found')
    await givenRegion(app, 'ber1')
    await expect(start(id, 'host-ber1')).rejects.toThrow('host-ber1 is in another region')
    await app.db.run(sql`update hosts set maintenance = true where id = ${other.id}`)
    await expect(start(id, 'other')).rejects.toThrow('1 in maintenance')
    await app.db.run(sql`update hosts set maintenance = false, arch = 'x86_64' where id = ${other.id}`)
    await expect(start(id, 'other')).rejects.toThrow('other runs machines of another kind')
    await app.db.run(sql`update hosts set arch = null, ram_total_mib = ram_used_mib where id = ${other.id}`)
    await expect(start(id, 'other')).rejects.toThrow('1 full')
    await app.db.run(sql`update hosts set ram_total_mib = 131072 where id = ${other.id}`)
    await app.db.run(sql`update address_pools set host_id = ${app.host.id}`)
    await expect(start(id, 'other')).rejects.toThrow(`is an address of ${app.host.name} alone, so VM would lose it on any other host`)
    await app.db.run(sql`update address_pools set host_id = null`)
    await app.db.run(sql`update hosts set arch = 'x86_64' where id = ${other.id}`)
    await expect(start(id)).rejects.toThrow('No other host of fra1 can take this VM')
    await app.db.run(sql`update hosts set arch = null where id = ${other.id}`)
    await customer.post(`/vms/${id}/snapshots`, { name: 'before' })
    await expect(start(id, 'other')).rejects.toThrow('VM is busy')
    await app.settle({ subjectId: id })
    await expect(start(id, 'other')).rejects.toThrow('VM has a snapshot, which is a file on its host and does not move')
    await expect(app.db.tx((tx) => startMigration(tx, app.deps, 'cnowhere', {}))).rejects.toThrow('VM not found')
    expect(await broken()).toBe('')
  })

  test('that has a local volume only after it was detached', async () => {
    const id = await boot()
    const { regionId } = await app.given.vmInput()
    const attached = await customer.post('/volumes', { name: 'data', sizeGiB: 10, regionId, vmId: id })
    expect(attached.status, attached.body.error).toBe(201)
    await app.settle({ subjectId: id })
    await expect(start(id, 'other')).rejects.toThrow('VM has volumes on its host, which do not move: data. Ask its owner to detach them')
  })
})

describe('operator migrates a VM whose disk is in a storage backend', async () => {
  const app = await testApp()
  await sellReplicated(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '1000.00' })

  test('which takes its snapshots with it', async () => {
    const { id } = await app.given.vm(customer)
    const other = await givenHost(app, 'other')
    await customer.post(`/vms/${id}/snapshots`, { name: 'before' })
    await app.settle({ subjectId: id })
    const disk = async (hostId: string) =>
      (await app.db.one<{ disk: number }>(sql`select disk_used_gib as disk from hosts where id = ${hostId}`)).disk
    await app.db.tx((tx) => startMigration(tx, app.deps, id, {}))
    await app.settle({ subjectId: id })
    expect([await disk(app.host.id), await disk(other.id)]).toEqual([0, 0])
    const snapshots = (await customer.get(`/vms/${id}/snapshots`)).body.data
    expect((await customer.post(`/vms/${id}/snapshots/${snapshots[0].id}/restore`)).status).toBe(202)
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('RUNNING')
    expect(formatFailures(await checkInvariants(app.deps))).toBe('')
  })
})
