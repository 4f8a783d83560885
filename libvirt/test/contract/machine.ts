// The connection itself, the machine behind it, and asking for events.
import { expect } from 'vitest'
import { CpuComparison } from '@berth/libvirt'
import { expectUnderstood } from './fixture.ts'
import type { Fixture } from './fixture.ts'

export async function provesMachine(fixture: Fixture): Promise<void> {
  const { sandbox, c } = fixture
  expect(await c.connect.getHostname()).toBe('h1')
  expect(await c.connect.getUri()).toMatch(/^qemu.*\/system$/)
  expect(await c.connect.getLibVersion()).toBeGreaterThanOrEqual(9_000_000n)
  // Of the emulator for this machine's own processor, which need not be installed.
  await expectUnderstood(c.connect.getVersion())
  expect(await c.connect.getCapabilities()).toContain("<arch name='x86_64'>")
  expect(await c.connect.getDomainCapabilities({ arch: 'x86_64', machine: 'q35', virtType: 'qemu' })).toContain('<domainCapabilities>')
  // What every x86 processor has; other architectures are not compared with.
  const compared = c.connect.compareCpu({ xml: '<cpu><arch>x86_64</arch><model>486</model><feature name="sse2"/></cpu>' })
  if (process.arch === 'x64') expect(await compared).toBe(CpuComparison.superset)
  else await expectUnderstood(compared)
  const node = await c.connect.getNodeInfo()
  expect((await sandbox.virsh('nodeinfo')).replaceAll(/\s+/g, ' ')).toContain(`CPU(s): ${node.cpus} `)
  const { count } = await c.connect.getCpuStats()
  expect((await c.connect.getCpuStats({ count })).counters.map(({ field }) => field)).toContain('idle')
  const memory = await c.connect.getMemoryStats({ count: (await c.connect.getMemoryStats()).count })
  expect(memory.counters.map(({ field }) => field)).toContain('total')
  expect(await c.connect.getFreeMemory()).toBeGreaterThan(0n)
  await expectUnderstood(c.devices.listAll({ flags: ['net'] }))
  await expectUnderstood(c.devices.getXml({ name: 'computer' }))
  await c.connect.registerCloseCallback()
  await c.connect.unregisterCloseCallback()
  await expectUnderstood(c.connect.authPolkit())
}

export async function provesRegistrations(fixture: Fixture): Promise<void> {
  const { c, guest, pool } = fixture
  const { registration } = c
  await registration.deregisterDomainEvent({ callback: await registration.registerDomainEvent({ event: 0, domain: guest }) })
  await registration.deregisterPoolEvent({ callback: await registration.registerPoolEvent({ event: 0, pool }) })
  await registration.deregisterNetworkEvent({ callback: await registration.registerNetworkEvent({ event: 0 }) })
}
