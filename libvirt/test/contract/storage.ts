// Pools, volumes and secrets. The disk of the guest is made here.
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { bootSector } from '../guest.ts'
import type { Fixture } from './fixture.ts'

export async function provesStorage(fixture: Fixture): Promise<void> {
  const { sandbox, c, kind } = fixture
  const path = `/var/lib/libvirt/images/${kind}`
  const pool = await c.pools.define({ xml: `<pool type='dir'><name>${kind}</name><target><path>${path}</path></target></pool>` })
  await c.pools.build({ pool })
  await c.pools.create({ pool })
  await c.pools.setAutostart({ pool, autostart: 1 })
  expect(await sandbox.virsh('pool-info', kind)).toMatch(/State:\s+running[\s\S]*Autostart:\s+yes/)
  expect(await c.pools.lookupByName({ name: kind })).toEqual(pool)
  expect(await c.pools.listAll({ flags: ['active'] })).toContainEqual(pool)
  expect((await c.pools.getInfo({ pool })).state).toBe(2)
  expect(await c.pools.getXml({ pool })).toContain(path)
  const disk = await c.volumes.create({ pool, xml: volumeXml('disk', 'raw', 1 << 20) })
  const upload = await c.volumes.upload({ volume: disk, length: 512n })
  await new Promise((resolve, reject) => upload.once('error', reject).end(bootSector(), () => resolve(undefined)))
  const download = await c.volumes.download({ volume: disk, length: 512n })
  expect((await buffer(download)).equals(bootSector())).toBe(true)
  expect(await c.volumes.lookupByName({ pool, name: 'disk' })).toEqual(disk)
  expect(await c.volumes.lookupByPath({ path: disk.key })).toEqual(disk)
  expect(await c.volumes.getPath({ volume: disk })).toBe(`${path}/disk`)
  expect(await c.volumes.getXml({ volume: disk })).toContain('<capacity')
  const copy = await c.volumes.createFrom({ pool, xml: volumeXml('copy', 'qcow2', 1 << 20), from: disk })
  await c.volumes.resize({ volume: copy, capacity: 2n << 20n })
  expect((await c.volumes.getInfo({ volume: copy })).capacity).toBe(2n << 20n)
  expect(await sandbox.virsh('vol-info', 'copy', kind)).toMatch(/Capacity:\s+2.00 MiB/)
  await c.pools.refresh({ pool })
  expect((await c.pools.listAllVolumes({ pool })).map(({ name }) => name).toSorted()).toEqual(['copy', 'disk'])
  const wiped = await c.volumes.create({ pool, xml: volumeXml('wiped', 'raw', 4096) })
  await c.volumes.wipe({ volume: wiped })
  await c.volumes.delete({ volume: wiped })
  const brief = await c.pools.createXml({ xml: `<pool type='dir'><name>brief-${kind}</name><target><path>/tmp</path></target></pool>` })
  await c.pools.destroy({ pool: brief })
  const gone = await c.pools.define({ xml: `<pool type='dir'><name>gone-${kind}</name><target><path>/tmp</path></target></pool>` })
  await c.pools.undefine({ pool: gone })
  expect(await sandbox.virsh('pool-list', '--all', '--name')).not.toContain('brief')
  const secret = await c.secrets.define({
    xml: `<secret ephemeral='yes' private='yes'><usage type='ceph'><name>client.${kind}</name></usage></secret>`,
  })
  await c.secrets.setValue({ secret, value: Buffer.from('of a pool') })
  expect(await sandbox.virsh('secret-list')).toContain(`client.${kind}`)
  await c.secrets.undefine({ secret })
  expect(await sandbox.virsh('secret-list')).not.toContain(`client.${kind}`)
  Object.assign(fixture, { pool, disk })
}

function volumeXml(name: string, format: string, bytes: number): string {
  return `<volume><name>${name}</name><capacity>${bytes}</capacity><target><format type='${format}'/></target></volume>`
}
