// Devices that come and go, an agent that is not there, a monitor that is.
import { expect } from 'vitest'
import { Param, RemoteError } from '../../src/index.ts'
import { expectUnderstood } from './fixture.ts'
import type { Fixture } from './fixture.ts'

export async function provesDevices(fixture: Fixture): Promise<void> {
  const { sandbox, c, guest } = fixture
  const nic = "<interface type='ethernet'><target dev='vnet-test'/><mac address='52:54:00:00:00:03'/><model type='virtio'/></interface>"
  await c.domains.attachDevice({ domain: guest, xml: nic, flags: ['live', 'config'] })
  expect(await sandbox.virsh('domiflist', guest.name)).toContain('52:54:00:00:00:03')
  expect((await c.domains.getInterfaceStats({ domain: guest, device: '52:54:00:00:00:03' })).rxBytes).toBeGreaterThanOrEqual(0n)
  await expectUnderstood(
    c.domains.setInterfaceParameters({
      domain: guest,
      device: '52:54:00:00:00:03',
      parameters: { 'inbound.average': Param.uint(1000) },
      flags: ['config'],
    }),
  )
  const { count } = await c.domains.getInterfaceParameters({ domain: guest, device: '52:54:00:00:00:03', flags: ['config'] })
  const limits = await c.domains.getInterfaceParameters({ domain: guest, device: '52:54:00:00:00:03', count, flags: ['config'] })
  expect(limits.parameters).toHaveProperty('inbound.average')
  await expectUnderstood(c.domains.updateDevice({ domain: guest, xml: nic.replace('<mac', "<link state='down'/><mac"), flags: ['live'] }))
  await expectUnderstood(c.domains.detachDevice({ domain: guest, xml: nic, flags: ['config'] }))
  await c.domains.attachDevice({
    domain: guest,
    xml: "<input type='tablet' bus='usb'><alias name='ua-tablet'/></input>",
    flags: ['live'],
  })
  await c.domains.detachDeviceByAlias({ domain: guest, alias: 'ua-tablet', flags: ['live'] })
}

export async function provesAgent(fixture: Fixture): Promise<void> {
  const { c, guest } = fixture
  await expectUnderstood(c.guests.setAgentTimeout({ domain: guest, timeoutSeconds: 1 }))
  expect(await c.guests.monitorCommand({ domain: guest, command: 'info status', flags: ['hmp'] })).toContain('running')
  const calls = [
    c.guests.agentCommand({ domain: guest, command: '{"execute":"guest-ping"}', timeoutSeconds: 1 }),
    c.guests.setPassword({ domain: guest, user: 'root', password: 'x' }),
    c.guests.getSshKeys({ domain: guest, user: 'root' }),
    c.guests.setSshKeys({ domain: guest, user: 'root', keys: ['ssh-ed25519 AAAA'] }),
    c.guests.getInfo({ domain: guest, groups: ['os'] }),
    c.guests.trim({ domain: guest }),
    c.guests.setTime({ domain: guest, seconds: 1n }),
  ]
  const outcomes = await Promise.allSettled(calls)
  expect(outcomes.map((one) => one.status === 'rejected' && one.reason instanceof RemoteError)).toEqual(calls.map(() => true))
}
