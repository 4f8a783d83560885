// Networks, filters and the binding of the two.
import { expect } from 'vitest'
import { NetworkUpdateCommand, NetworkUpdateSection } from '../../src/index.ts'
import type { Fixture } from './fixture.ts'

export async function provesNetworks(fixture: Fixture): Promise<void> {
  const { sandbox, c, kind } = fixture
  const third = kind === 'unix' ? 1 : 2
  const xml = `<network><name>${kind}</name><bridge name='br-${kind}'/><ip address='10.97.${third}.1' netmask='255.255.255.0'><dhcp><range start='10.97.${third}.100' end='10.97.${third}.200'/></dhcp></ip></network>`
  const network = await c.networks.define({ xml })
  await c.networks.create({ network })
  await c.networks.setAutostart({ network, autostart: 1 })
  expect(await c.networks.listAll()).toContainEqual(network)
  expect(await c.networks.lookupByName({ name: kind })).toEqual(network)
  expect(await c.networks.lookupByUuid({ uuid: network.uuid })).toEqual(network)
  expect(await c.networks.isActive({ network })).toBe(1)
  expect(await c.networks.getBridgeName({ network })).toBe(`br-${kind}`)
  const lease = {
    command: NetworkUpdateCommand.addLast,
    section: NetworkUpdateSection.dhcpHost,
    xml: `<host mac='52:54:00:00:00:01' ip='10.97.${third}.50'/>`,
  }
  await c.networks.update({ network, ...lease, flags: ['live', 'config'] })
  expect(await sandbox.virsh('net-dumpxml', kind)).toContain(`ip='10.97.${third}.50'`)
  expect(await c.networks.getXml({ network })).toContain(`ip='10.97.${third}.50'`)
  expect(await c.networks.getDhcpLeases({ network })).toEqual([])
  expect(await c.networks.listAllPorts({ network })).toEqual([])
  const filter = await c.filters.define({
    xml: `<filter name='f-${kind}' chain='root'><rule action='accept' direction='inout'/></filter>`,
  })
  expect(await c.filters.lookupByName({ name: `f-${kind}` })).toEqual(filter)
  expect(await c.filters.listAll()).toContainEqual(filter)
  expect(await c.filters.getXml({ filter })).toContain("action='accept'")
  await c.filters.defineFlags({ xml: `<filter name='f2-${kind}'><rule action='drop' direction='in'/></filter>`, flags: ['validate'] })
  expect(await sandbox.virsh('nwfilter-list')).toContain(`f2-${kind}`)
  await bindFilter(fixture, `f-${kind}`)
  await c.filters.undefine({ filter })
  await c.networks.destroy({ network })
  await c.networks.undefine({ network })
  expect(await sandbox.virsh('net-list', '--all', '--name')).not.toContain(kind)
}

/** A filter on an interface of the sandbox that no guest has. */
async function bindFilter(fixture: Fixture, filter: string): Promise<void> {
  const { sandbox, c, kind } = fixture
  await sandbox.inside('ip', 'link', 'add', `tap-${kind}`, 'type', 'veth', 'peer', 'name', `peer-${kind}`)
  const xml = `<filterbinding><owner><name>none</name><uuid>00000000-0000-4000-8000-000000000001</uuid></owner><portdev name='tap-${kind}'/><mac address='52:54:00:00:00:02'/><filterref filter='${filter}'/></filterbinding>`
  const binding = await c.filters.createBinding({ xml })
  expect(binding).toEqual({ portDevice: `tap-${kind}`, filter })
  expect(await c.filters.lookupBinding({ portDevice: `tap-${kind}` })).toEqual(binding)
  expect(await c.filters.listAllBindings()).toContainEqual(binding)
  expect(await c.filters.getBindingXml({ binding })).toContain(filter)
  expect(await sandbox.virsh('nwfilter-binding-list')).toContain(`tap-${kind}`)
  await c.filters.deleteBinding({ binding })
}
