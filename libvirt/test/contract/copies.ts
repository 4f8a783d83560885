// Checkpoints, backups, block jobs and snapshots of a running domain; migration to nowhere.
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import { expectUnderstood } from './fixture.ts'
import type { Fixture } from './fixture.ts'

export async function provesCopies(fixture: Fixture): Promise<void> {
  const { sandbox, c, guest, kind } = fixture
  const path = `/var/lib/libvirt/images/${kind}`
  await sandbox.inside('qemu-img', 'create', '-q', '-f', 'qcow2', `${path}/second.qcow2`, '8M')
  const xml = `<disk type='file'><driver name='qemu' type='qcow2'/><source file='${path}/second.qcow2'/><target dev='vdb' bus='virtio'/></disk>`
  await c.domains.attachDevice({ domain: guest, xml, flags: ['live', 'config'] })
  const only = (inner: string) => `<disks><disk name='vda' ${inner}='no'/><disk name='vdb' ${inner}='bitmap'/></disks>`
  const checkpoint = await c.checkpoints.create({
    domain: guest,
    xml: `<domaincheckpoint><name>c1</name>${only('checkpoint')}</domaincheckpoint>`,
  })
  expect(await c.checkpoints.listAll({ domain: guest })).toEqual([checkpoint])
  expect(await c.checkpoints.lookupByName({ domain: guest, name: 'c1' })).toEqual(checkpoint)
  expect(await c.checkpoints.getXml({ checkpoint })).toContain('<name>c1</name>')
  expect(await sandbox.virsh('checkpoint-list', guest.name, '--name')).toContain('c1')
  const target = `<disks><disk name='vda' backup='no'/><disk name='vdb' backup='yes' type='file'><target file='${path}/backup.qcow2'/><driver type='qcow2'/></disk></disks>`
  await c.backups.begin({ domain: guest, xml: `<domainbackup mode='push'>${target}</domainbackup>` })
  await expectUnderstood(c.backups.getXml({ domain: guest }))
  await eventually('the backup', async () => (await c.domains.getJobStats({ domain: guest })).type === 0 || undefined)
  await c.checkpoints.delete({ checkpoint })
  const copy = `<disk type='file'><source file='${path}/mirror.qcow2'/><driver type='qcow2'/></disk>`
  await c.blockJobs.copy({ domain: guest, path: 'vdb', destinationXml: copy, flags: ['transientJob'] })
  await expectUnderstood(c.blockJobs.setSpeed({ domain: guest, disk: 'vdb', bandwidth: 100n }))
  expect((await c.blockJobs.getInfo({ domain: guest, disk: 'vdb' })).type).toBe(2)
  await c.blockJobs.abort({ domain: guest, disk: 'vdb' })
  await snapshotAndMerge(fixture, path)
}

async function snapshotAndMerge(fixture: Fixture, path: string): Promise<void> {
  const { sandbox, c, guest } = fixture
  const disks = `<disks><disk name='vda' snapshot='no'/><disk name='vdb' snapshot='external'><source file='${path}/overlay.qcow2'/></disk></disks>`
  const snapshot = await c.snapshots.create({
    domain: guest,
    xml: `<domainsnapshot><name>s1</name>${disks}</domainsnapshot>`,
    flags: ['diskOnly', 'atomic'],
  })
  expect(await c.snapshots.listAll({ domain: guest })).toEqual([snapshot])
  expect(await c.snapshots.lookupByName({ domain: guest, name: 's1' })).toEqual(snapshot)
  expect(await c.snapshots.getXml({ snapshot })).toContain('<name>s1</name>')
  expect(await sandbox.virsh('snapshot-list', guest.name, '--name')).toContain('s1')
  await expectUnderstood(c.snapshots.revert({ snapshot }))
  await c.snapshots.delete({ snapshot, flags: ['metadataOnly'] })
  await c.blockJobs.commit({ domain: guest, disk: 'vdb', flags: ['active'] })
  await eventually('the commit to be ready', async () =>
    c.blockJobs.abort({ domain: guest, disk: 'vdb', flags: ['pivot'] }).then(() => true),
  )
  expect(await sandbox.virsh('domblklist', guest.name)).toContain('second.qcow2')
  await expectUnderstood(c.blockJobs.rebase({ domain: guest, disk: 'vdb' }))
}

export async function provesMigrationSteps(fixture: Fixture): Promise<void> {
  const { c, guest } = fixture
  await c.migration.setMaxSpeed({ domain: guest, mibPerSecond: 100n })
  await expectUnderstood(c.migration.setMaxDowntime({ domain: guest, downtimeMs: 300n }))
  await expectUnderstood(c.migration.startPostCopy({ domain: guest }))
  await expectUnderstood(c.migration.perform({ domain: guest, destination: 'qemu+tls://127.0.0.1:1/system', flags: ['live', 'peer2peer'] }))
  expect((await c.migration.begin({ domain: guest, flags: ['live', 'unsafe'] })).xml).toContain(guest.uuid)
  await expectUnderstood(c.migration.confirm({ domain: guest, cancelled: 1 }))
  await expectUnderstood(c.migration.prepare({ flags: ['live'] }))
  await expectUnderstood(c.migration.finish({ cancelled: 1 }))
}
