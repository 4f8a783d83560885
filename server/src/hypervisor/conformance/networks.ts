import { describe, expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import type { Filter, NetworkSpec } from '../driver.ts'
import { collect, create, expectKind, OPEN, soon, stop, unknownId, type ConformanceContract, type Rig } from './fixture.ts'

function newNetwork(rig: Rig, changes: Partial<NetworkSpec> = {}): NetworkSpec {
  const { enableSnat = true, enableDhcp = true } = changes
  const { cidr, gateway } = rig.range()
  return { networkId: newId(), cidr, gateway: enableSnat || enableDhcp ? gateway : null, enableSnat, enableDhcp, ...changes }
}

const SSH_ONLY: Filter = {
  rules: [{ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', ports: [{ from: 22, to: 22 }], sources: ['10.0.0.0/8'], destinations: [] }],
  defaultInbound: 'DROP',
  defaultOutbound: 'ACCEPT',
}

const COMBINATIONS = [
  { enableSnat: true, enableDhcp: true },
  { enableSnat: true, enableDhcp: false },
  { enableSnat: false, enableDhcp: true },
  { enableSnat: false, enableDhcp: false },
]

export const networkContract: ConformanceContract = (rig) => {
  const listed = async (networkId: string) =>
    (await collect(rig().driver.listNetworks(soon(rig())))).find((network) => network.networkId === networkId)
  const macsOf = async (vmId: string) => (await rig().driver.findMachine(vmId, soon(rig())))?.nics.map((nic) => nic.mac).sort()

  describe.each(COMBINATIONS)('a private network with SNAT $enableSnat and DHCP $enableDhcp', (settings) => {
    test('is created once, connects a machine, and is removed', async () => {
      const network = newNetwork(rig(), settings)
      await rig().driver.ensureNetwork(network, soon(rig()))
      await rig().other.ensureNetwork(network, soon(rig()))
      expect(await listed(network.networkId)).toEqual({ ...network, attachedMacs: [] })
      const nic = rig().nicIn(network)
      const spec = rig().spec()
      await create(rig(), { ...spec, nics: [...spec.nics, nic] })
      expect(await listed(network.networkId)).toMatchObject({ attachedMacs: [nic.mac] })
      await expectKind(rig().driver.ensureNoNetwork(network.networkId, soon(rig())), 'in_use')
      await rig().driver.ensurePurged(spec.vmId, soon(rig()))
      await rig().driver.ensureNoNetwork(network.networkId, soon(rig()))
      await rig().driver.ensureNoNetwork(network.networkId, soon(rig()))
      expect(await listed(network.networkId)).toBeUndefined()
    })
  })

  test('ranges may overlap only where the host has no address in them', async () => {
    const network = newNetwork(rig())
    await rig().driver.ensureNetwork(network, soon(rig()))
    await expectKind(rig().driver.ensureNetwork({ ...network, networkId: newId() }, soon(rig())), 'conflict')
    const isolated = newNetwork(rig(), { enableSnat: false, enableDhcp: false, cidr: network.cidr })
    await rig().driver.ensureNetwork(isolated, soon(rig()))
    expect(await listed(isolated.networkId)).toMatchObject({ cidr: network.cidr })
  })

  test('a network changes while nothing is attached', async () => {
    const network = newNetwork(rig())
    await rig().driver.ensureNetwork(network, soon(rig()))
    await rig().driver.ensureNetwork({ ...network, enableSnat: false }, soon(rig()))
    expect(await listed(network.networkId)).toMatchObject({ enableSnat: false })
    const { vmId } = await create(rig())
    await rig().driver.ensureInterface(vmId, rig().nicIn(network), soon(rig()))
    await expectKind(rig().driver.ensureNetwork(network, soon(rig())), 'in_use')
  })

  test('an interface is attached to a running machine, survives a stop, and is detached', async () => {
    const network = newNetwork(rig())
    await rig().driver.ensureNetwork(network, soon(rig()))
    const spec = await create(rig())
    const nic = rig().nicIn(network)
    const withNic = { ...spec, nics: [...spec.nics, nic] }
    const macs = withNic.nics.map((each) => each.mac).sort()
    await rig().driver.ensureInterface(spec.vmId, nic, soon(rig()))
    await rig().other.ensureInterface(spec.vmId, nic, soon(rig()))
    expect(await macsOf(spec.vmId)).toEqual(macs)
    await stop(rig(), spec)
    await rig().driver.ensureRunning(withNic, soon(rig()))
    expect(await macsOf(spec.vmId)).toEqual(macs)
    await rig().driver.ensureNoInterface(spec.vmId, nic.mac, soon(rig()))
    await rig().driver.ensureNoInterface(spec.vmId, nic.mac, soon(rig()))
    expect(await macsOf(spec.vmId)).toEqual(spec.nics.map((each) => each.mac))
  })

  test('attaching fails for a network or a machine that does not exist', async () => {
    const { vmId } = await create(rig())
    await expectKind(rig().driver.ensureInterface(vmId, rig().nicIn(newNetwork(rig())), soon(rig())), 'not_found')
    const network = newNetwork(rig())
    await rig().driver.ensureNetwork(network, soon(rig()))
    await expectKind(rig().driver.ensureInterface(unknownId(), rig().nicIn(network), soon(rig())), 'not_found')
    await rig().driver.ensureNoInterface(unknownId(), '52:54:00:00:00:01', soon(rig()))
  })

  test('the bandwidth limit of an interface is set and lifted while it runs', async () => {
    const { vmId, nics } = await create(rig())
    const mac = nics[0]!.mac
    const { canShapeTraffic } = await rig().driver.facts(soon(rig()))
    expect(await rig().driver.ensureLimit(vmId, mac, 10, soon(rig()))).toEqual({ limited: canShapeTraffic })
    expect(await rig().driver.ensureLimit(vmId, mac, 10, soon(rig()))).toEqual({ limited: canShapeTraffic })
    expect((await rig().driver.findMachine(vmId, soon(rig())))?.nics).toMatchObject([{ mac, limitMbps: canShapeTraffic ? 10 : null }])
    expect(await rig().driver.ensureLimit(vmId, mac, null, soon(rig()))).toEqual({ limited: false })
    await expectKind(rig().driver.ensureLimit(vmId, '52:54:00:00:00:01', 10, soon(rig())), 'not_found')
  })

  test('a filter is defined before the machine, replaced while it runs, and purged with it', async () => {
    const spec = rig().spec()
    const hasFilter = async () => (await collect(rig().driver.listFilters(soon(rig())))).some((filter) => filter.vmId === spec.vmId)
    await rig().driver.ensureFilter(spec.vmId, OPEN, soon(rig()))
    expect(await hasFilter()).toBe(true)
    await create(rig(), spec)
    await rig().driver.ensureFilter(spec.vmId, SSH_ONLY, soon(rig()))
    await rig().driver.ensureFilter(spec.vmId, SSH_ONLY, soon(rig()))
    expect(await hasFilter()).toBe(true)
    await rig().driver.ensurePurged(spec.vmId, soon(rig()))
    expect(await hasFilter()).toBe(false)
  })
}
