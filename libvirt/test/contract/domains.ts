// The life of a domain: defined, started, looked at, ended.
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { MetadataType, Param } from '../../src/index.ts'
import { guestXml } from '../guest.ts'
import { expectUnderstood } from './fixture.ts'
import type { Fixture } from './fixture.ts'

export async function provesDefinition(fixture: Fixture): Promise<void> {
  const { sandbox, c, disk, kind } = fixture
  const defined = await c.domains.define({ xml: guestXml({ name: `g-${kind}`, disk: disk.key }), flags: ['validate'] })
  expect(await c.domains.lookupByName({ name: defined.name })).toEqual(defined)
  expect(await c.domains.lookupByUuid({ uuid: defined.uuid })).toEqual(defined)
  await c.domains.setAutostart({ domain: defined, autostart: 1 })
  await c.domains.setMetadata({ domain: defined, type: MetadataType.title, metadata: 'a title', flags: ['config'] })
  expect(await c.domains.getMetadata({ domain: defined, type: MetadataType.title, flags: ['config'] })).toBe('a title')
  expect(await sandbox.virsh('desc', '--title', defined.name)).toContain('a title')
  await c.domains.setVcpus({ domain: defined, vcpus: 2, flags: ['config'] })
  await c.domains.setMemory({ domain: defined, memoryKiB: 40960n, flags: ['config'] })
  expect(await sandbox.virsh('dominfo', defined.name)).toMatch(/CPU\(s\):\s+2[\s\S]*Used memory:\s+40960 KiB/)
  await c.domains.setVcpus({ domain: defined, vcpus: 1, flags: ['config'] })
  await expectUnderstood(c.domains.setScheduler({ domain: defined, parameters: { cpu_shares: Param.ullong(512n) }, flags: ['config'] }))
  const guest = await c.domains.create({ domain: defined })
  expect(await sandbox.virsh('domstate', guest.name)).toContain('running')
  expect(await c.domains.listAll({ flags: ['running'] })).toContainEqual(guest)
  fixture.guest = guest
}

export async function provesRunning(fixture: Fixture): Promise<void> {
  const { sandbox, c, guest } = fixture
  expect((await c.domains.getState({ domain: guest })).state).toBe(1)
  expect(await c.domains.getXml({ domain: guest, flags: ['inactive'] })).toContain(guest.uuid)
  expect((await c.domains.getInfo({ domain: guest })).memoryKiB).toBeGreaterThan(0n)
  const [stats] = await c.domains.getAllStats({ domains: [guest], groups: ['state', 'vcpu', 'block'], flags: ['nowait'] })
  expect(stats).toMatchObject({ domain: { uuid: guest.uuid }, stats: { 'state.state': 1, 'block.0.name': 'vda' } })
  await c.domains.suspend({ domain: guest })
  expect(await sandbox.virsh('domstate', guest.name)).toContain('paused')
  await c.domains.resume({ domain: guest })
  await expectUnderstood(c.domains.wakeUp({ domain: guest })) // it does not sleep
  await c.domains.reset({ domain: guest })
  await expectUnderstood(c.domains.pinVcpu({ domain: guest, vcpu: 0, map: Uint8Array.of(1), flags: ['live'] }))
  await expectUnderstood(c.domains.pinEmulator({ domain: guest, map: Uint8Array.of(1), flags: ['live'] }))
  await c.domains.setMemoryStatsPeriod({ domain: guest, periodSeconds: 5, flags: ['live'] })
  expect((await c.domains.getBlockInfo({ domain: guest, disk: 'vda' })).capacity).toBe(1n << 20n)
  const { count } = await c.domains.getBlockStats({ domain: guest, disk: 'vda' })
  expect((await c.domains.getBlockStats({ domain: guest, disk: 'vda', count })).parameters).toHaveProperty('rd_bytes')
  await c.domains.setBlockIoTune({ domain: guest, disk: 'vda', parameters: { total_iops_sec: Param.ullong(5000n) }, flags: ['live'] })
  const tune = await c.domains.getBlockIoTune({ domain: guest, disk: 'vda' })
  expect((await c.domains.getBlockIoTune({ domain: guest, disk: 'vda', count: tune.count })).parameters).toMatchObject({
    total_iops_sec: 5000n,
  })
  expect(await sandbox.virsh('blkdeviotune', guest.name, 'vda')).toMatch(/total_iops_sec\s*: 5000/)
  await c.domains.blockResize({ domain: guest, disk: 'vda', size: 2n << 20n, flags: ['bytes'] })
  expect((await c.domains.getJobStats({ domain: guest })).type).toBe(0)
  await expectUnderstood(c.domains.abortJob({ domain: guest }))
  await c.domains.sendKey({ domain: guest, codes: [28] })
  const picture = await c.domains.screenshot({ domain: guest })
  expect(picture.reply).toMatch(/^image\//)
  expect((await buffer(picture)).length).toBeGreaterThan(1000)
  for (const open of [
    () => c.domains.openConsole({ domain: guest, flags: ['force'] }),
    () => c.domains.openChannel({ domain: guest, name: 'berth.test' }),
  ]) {
    const stream = await open()
    stream.on('error', () => {}).destroy()
  }
  expect(await c.domains.getAddresses({ domain: guest })).toEqual([])
  await expectUnderstood(c.domains.shutdown({ domain: guest, flags: ['acpiPowerButton'] }))
  await expectUnderstood(c.domains.reboot({ domain: guest, flags: ['acpiPowerButton'] }))
}

export async function provesEnd(fixture: Fixture): Promise<void> {
  const { sandbox, c, disk, guest } = fixture
  await c.domains.managedSave({ domain: guest })
  await c.domains.removeManagedSave({ domain: guest })
  const again = await c.domains.create({ domain: guest, flags: ['paused'] })
  await c.domains.destroy({ domain: again })
  await c.domains.undefine({ domain: again, flags: ['managedSave', 'snapshotsMetadata', 'checkpointsMetadata'] })
  const brief = await c.domains.createXml({ xml: guestXml({ name: 'brief', disk: disk.key }), flags: ['autodestroy'] })
  await c.domains.destroy({ domain: brief })
  expect((await sandbox.virsh('list', '--all', '--name')).trim()).toBe('')
  expect(await c.connect.close()).toBeUndefined()
}
