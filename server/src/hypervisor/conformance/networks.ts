import { describe, expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import type { Filter, NetworkSpec } from '../driver.ts'
import { collect, create, expectKind, OPEN, soon, stop, unknownId, type ConformanceContract, type DriverFixture } from './fixture.ts'

function newNetwork(fixture: DriverFixture, changes: Partial<NetworkSpec> = {}): NetworkSpec {
  const { enableSnat = true, enableDhcp = true } = changes
  const { cidr, gateway } = fixture.range()
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

export const networkContract: ConformanceContract = (fixture) => {
  const listed = async (networkId: string) =>
    (await collect(fixture().driver.listNetworks(soon(fixture())))).find((network) => network.networkId === networkId)
  const macsOf = async (vmId: string) => (await fixture().driver.findMachine(vmId, soon(fixture())))?.nics.map((nic) => nic.mac).sort()

  describe.each(COMBINATIONS)('a private network with SNAT $enableSnat and DHCP $enableDhcp', (settings) => {
    test('is created once, connects a machine, and is removed', async () => {
      const network = newNetwork(fixture(), settings)
      await fixture().driver.ensureNetwork(network, soon(fixture()))
      await fixture().other.ensureNetwork(network, soon(fixture()))
      expect(await listed(network.networkId)).toEqual({ ...network, attachedMacs: [] })
      const nic = fixture().nicIn(network)
      const spec = fixture().spec()
      await create(fixture(), { ...spec, nics: [...spec.nics, nic] })
      expect(await listed(network.networkId)).toMatchObject({ attachedMacs: [nic.mac] })
      await expectKind(fixture().driver.ensureNoNetwork(network.networkId, soon(fixture())), 'in_use')
      await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
      await fixture().driver.ensureNoNetwork(network.networkId, soon(fixture()))
      await fixture().driver.ensureNoNetwork(network.networkId, soon(fixture()))
      expect(await listed(network.networkId)).toBeUndefined()
    })
  })

  test('ranges may overlap only where the host has no address in them', async () => {
    const network = newNetwork(fixture())
    await fixture().driver.ensureNetwork(network, soon(fixture()))
    await expectKind(fixture().driver.ensureNetwork({ ...network, networkId: newId() }, soon(fixture())), 'conflict')
    const isolated = newNetwork(fixture(), { enableSnat: false, enableDhcp: false, cidr: network.cidr })
    await fixture().driver.ensureNetwork(isolated, soon(fixture()))
    expect(await listed(isolated.networkId)).toMatchObject({ cidr: network.cidr })
  })

  test('a network changes while nothing is attached', async () => {
    const network = newNetwork(fixture())
    await fixture().driver.ensureNetwork(network, soon(fixture()))
    await fixture().driver.ensureNetwork({ ...network, enableSnat: false }, soon(fixture()))
    expect(await listed(network.networkId)).toMatchObject({ enableSnat: false })
    const { vmId } = await create(fixture())
    await fixture().driver.ensureInterface(vmId, fixture().nicIn(network), soon(fixture()))
    await expectKind(fixture().driver.ensureNetwork(network, soon(fixture())), 'in_use')
  })

  test('an interface is attached to a running machine, survives a stop, and is detached', async () => {
    const network = newNetwork(fixture())
    await fixture().driver.ensureNetwork(network, soon(fixture()))
    const spec = await create(fixture())
    const nic = fixture().nicIn(network)
    const withNic = { ...spec, nics: [...spec.nics, nic] }
    const macs = withNic.nics.map((each) => each.mac).sort()
    await fixture().driver.ensureInterface(spec.vmId, nic, soon(fixture()))
    await fixture().other.ensureInterface(spec.vmId, nic, soon(fixture()))
    expect(await macsOf(spec.vmId)).toEqual(macs)
    await stop(fixture(), spec)
    await fixture().driver.ensureRunning(withNic, soon(fixture()))
    expect(await macsOf(spec.vmId)).toEqual(macs)
    await fixture().driver.ensureNoInterface(spec.vmId, nic.mac, soon(fixture()))
    await fixture().driver.ensureNoInterface(spec.vmId, nic.mac, soon(fixture()))
    expect(await macsOf(spec.vmId)).toEqual(spec.nics.map((each) => each.mac))
  })

  test('attaching fails for a network or a machine that does not exist', async () => {
    const { vmId } = await create(fixture())
    await expectKind(fixture().driver.ensureInterface(vmId, fixture().nicIn(newNetwork(fixture())), soon(fixture())), 'not_found')
    const network = newNetwork(fixture())
    await fixture().driver.ensureNetwork(network, soon(fixture()))
    await expectKind(fixture().driver.ensureInterface(unknownId(), fixture().nicIn(network), soon(fixture())), 'not_found')
    await fixture().driver.ensureNoInterface(unknownId(), '52:54:00:00:00:01', soon(fixture()))
  })

  test('the bandwidth limit of an interface is set and lifted while it runs', async () => {
    const { vmId, nics } = await create(fixture())
    const mac = nics[0]!.mac
    const { canShapeTraffic } = await fixture().driver.facts(soon(fixture()))
    expect(await fixture().driver.ensureLimit(vmId, mac, 10, soon(fixture()))).toEqual({ limited: canShapeTraffic })
    expect(await fixture().driver.ensureLimit(vmId, mac, 10, soon(fixture()))).toEqual({ limited: canShapeTraffic })
    expect((await fixture().driver.findMachine(vmId, soon(fixture())))?.nics).toMatchObject([
      { mac, limitMbps: canShapeTraffic ? 10 : null },
    ])
    expect(await fixture().driver.ensureLimit(vmId, mac, null, soon(fixture()))).toEqual({ limited: false })
    await expectKind(fixture().driver.ensureLimit(vmId, '52:54:00:00:00:01', 10, soon(fixture())), 'not_found')
  })

  test('a filter is defined before the machine, replaced while it runs, and purged with it', async () => {
    const spec = fixture().spec()
    const hasFilter = async () => (await collect(fixture().driver.listFilters(soon(fixture())))).some((filter) => filter.vmId === spec.vmId)
    await fixture().driver.ensureFilter(spec.vmId, OPEN, soon(fixture()))
    expect(await hasFilter()).toBe(true)
    await create(fixture(), spec)
    await fixture().driver.ensureFilter(spec.vmId, SSH_ONLY, soon(fixture()))
    await fixture().driver.ensureFilter(spec.vmId, SSH_ONLY, soon(fixture()))
    expect(await hasFilter()).toBe(true)
    await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
    expect(await hasFilter()).toBe(false)
  })
}
