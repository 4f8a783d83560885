import { describe, expect, test } from 'vitest'
import { volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { getVmRow, machineSpec } from '../vms/service.ts'
import { listOrphanVolumes } from './orphan-volumes.ts'
import { sweepOrphanVolumes } from './orphan-volumes.reconciler.ts'

describe('the orphan volume reconciler', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const driver = await app.deps.hypervisors.get(app.host.id)
  const signal = AbortSignal.timeout(60_000)
  const { id: vmId } = await app.given.vm(customer)
  const specOf = async () => machineSpec(app.deps, await getVmRow(app.db, vmId))
  const sweep = () => sweepOrphanVolumes.runOnce(app.deps)
  const strays = async () => (await listOrphanVolumes(app.db)).map(({ kind, generation }) => `${kind} ${generation}`).toSorted()

  test('keeps volumes that have a row', async () => {
    await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })
    await app.settle()
    await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
    await app.settle()
    const before = await volumesOf(app, vmId)
    for (let i = 0; i < 3; i++) {
      await sweep()
      app.clock.advance('25h')
    }
    expect(await strays()).toEqual([])
    expect(await volumesOf(app, vmId)).toEqual(before)
  })

  test('removes a stale disk at the second check after ten minutes while the VM is idle', async () => {
    await driver.ensureDisk({ ...(await specOf()), generation: 99 }, { from: 'template' }, signal)
    await sweep()
    expect(await strays()).toEqual(['disk 99', 'seed 99'])
    app.clock.advance('9m')
    await sweep()
    expect(await volumesOf(app, vmId)).toContain('disk 99')
    app.clock.advance('1m')
    await customer.post(`/vms/${vmId}/restart`)
    await sweep()
    expect(await volumesOf(app, vmId)).toContain('disk 99')
    await app.settle()
    await sweep()
    app.clock.advance('10m')
    await sweep()
    expect(await volumesOf(app, vmId)).toEqual(['backup', 'disk 1', 'seed 1', 'snapshot'])
    expect(await strays()).toEqual([])
  })

  test('fails a snapshot or backup that is missing on its host at the second check', async () => {
    const { id } = await app.given.vm(customer)
    const { snapshot } = (await customer.post(`/vms/${id}/snapshots`, { name: 'x' })).body.data
    await app.settle()
    const { backup } = (await customer.post(`/vms/${id}/backups`, { name: 'x' })).body.data
    await app.settle()
    const copies = async () => {
      const [[first], [second]] = [
        (await customer.get(`/vms/${id}/snapshots`)).body.data,
        (await customer.get(`/vms/${id}/backups`)).body.data,
      ]
      return [first.status, second.status, second.error]
    }
    await driver.ensureNoSnapshot(id, snapshot.id, signal)
    await driver.ensureNoBackup(id, backup.id, signal)
    await sweep()
    expect(await copies()).toEqual(['AVAILABLE', 'AVAILABLE', null])
    app.clock.advance('10m')
    await sweep()
    expect(await copies()).toEqual(['FAILED', 'FAILED', 'Its data is no longer on the host'])
  })

  test('quarantines snapshots and backups without a row for a day', async () => {
    const [parentId, backupId] = [newId(), newId()]
    await driver.ensureSnapshot(vmId, newId(), signal)
    await driver.ensureBackup(vmId, { backupId: parentId, parentId: null }, signal)
    await driver.ensureBackup(vmId, { backupId, parentId }, signal)
    const before = await volumesOf(app, vmId)
    await sweep()
    expect(await listOrphanVolumes(app.db)).toMatchObject(
      Array(3).fill({ host_name: 'local', vm_id: vmId, first_seen_at: app.clock.now() }),
    )
    app.clock.advance('23h')
    await sweep()
    expect(await volumesOf(app, vmId)).toEqual(before)
    app.clock.advance('1h')
    await sweep()
    await sweep()
    expect(await volumesOf(app, vmId)).toEqual(['backup', 'disk 1', 'seed 1', 'snapshot'])
    expect(await strays()).toEqual([])
  })

  test('removes the data of a failed snapshot', async () => {
    const { snapshot } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data
    await app.settle()
    await app.db.run(sql`update snapshots set status = 'FAILED' where id = ${snapshot.id}`)
    await sweep()
    app.clock.advance('24h')
    await sweep()
    expect((await volumesOf(app, vmId)).filter((each) => each === 'snapshot')).toHaveLength(1)
  })

  test('removes volumes of an unknown VM unless its machine is running', async () => {
    const spec = { ...(await specOf()), vmId: newId(), uuid: crypto.randomUUID() }
    const ghost = { ...spec, nics: spec.nics.map((nic) => ({ ...nic, mac: '52:54:00:00:00:01' })) }
    await driver.ensureDisk(ghost, { from: 'template' }, signal)
    await driver.ensureRunning(ghost, signal)
    await sweep()
    app.clock.advance('24h')
    await sweep()
    expect(await volumesOf(app, ghost.vmId)).toEqual(['disk 1', 'seed 1'])
    expect(await strays()).toEqual(['disk 1', 'seed 1'])
    await driver.ensureStopped(ghost.vmId, { graceMs: 0 }, signal)
    await sweep()
    expect(await volumesOf(app, ghost.vmId)).toEqual([])
    expect(await driver.findMachine(ghost.vmId, signal)).toBeNull()
    await sweep()
    expect(await strays()).toEqual([])
  })

  test('clears the record of an orphan that has disappeared, but not while the host is unreachable', async () => {
    const snapshotId = newId()
    await driver.ensureSnapshot(vmId, snapshotId, signal)
    await sweep()
    await app.simulated.faults.loseHost()
    await sweep()
    expect(await strays()).toEqual(['snapshot 0'])
    await app.simulated.faults.returnHost()
    await driver.ensureNoSnapshot(vmId, snapshotId, signal)
    app.clock.advance('10m')
    await sweep()
    expect(await strays()).toEqual([])
  })

  test('skips the volumes of an unmanaged VM', async () => {
    await driver.ensureDisk({ ...(await specOf()), generation: 98 }, { from: 'template' }, signal)
    await app.db.run(sql`update vms set status = 'UNMANAGED' where id = ${vmId}`)
    await sweep()
    expect(await strays()).toEqual([])
    await app.db.run(sql`update vms set status = 'RUNNING' where id = ${vmId}`)
    await driver.ensureNoDisk(vmId, 98, signal)
  })
})
