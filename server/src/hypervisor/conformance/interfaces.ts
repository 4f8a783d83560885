import { expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import type { Driver } from '../driver.ts'
import type { NetworkSpec } from '../network-controller.ts'
import { create, ensurePorts, expectKind, soon, stop, unknownId, type ConformanceContract } from './fixture.ts'

export const interfaceContract: ConformanceContract = (fixture) => {
  const network = async (changes: Partial<NetworkSpec> = {}): Promise<NetworkSpec> => {
    const spec = {
      networkId: newId(),
      cidr: '10.120.0.0/24',
      gateway: '10.120.0.1',
      enableDhcp: true,
      dns: [],
      snat: null,
      routes: [],
      peers: [],
      ...changes,
    }
    await fixture().networks.ensureNetwork(spec, soon(fixture()))
    return spec
  }
  const macsOf = async (vmId: string) => (await fixture().driver.findMachine(vmId, soon(fixture())))?.nics.map((nic) => nic.mac).sort()

  test.each([true, false])('a machine is created with a second interface (DHCP %s)', async (enableDhcp) => {
    const nic = fixture().nicIn(await network({ enableDhcp }))
    const spec = fixture().spec()
    const both = { ...spec, nics: [...spec.nics, nic] }
    await create(fixture(), both)
    expect(await macsOf(spec.vmId)).toEqual(both.nics.map(({ mac }) => mac).sort())
  })

  test('an interface is attached to a running machine, survives a stop, and is detached', async () => {
    const spec = await create(fixture())
    const nic = fixture().nicIn(await network())
    const withNic = { ...spec, nics: [...spec.nics, nic] }
    const macs = withNic.nics.map((each) => each.mac).sort()
    await ensurePorts(fixture(), withNic)
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

  test('a guest has a floating address until it is taken away, however often either is asked for', async () => {
    const spec = await create(fixture())
    const address = { mac: spec.nics[0]!.mac, address: '10.77.200.9', gateway: spec.nics[0]!.ipv4!.gateway! }
    const has = () => fixture().guest.hasAddress(spec.vmId, address.address)
    await fixture().driver.ensureNoGuestAddress(spec.vmId, address, soon(fixture()))
    for (const driver of [fixture().driver, fixture().other]) await driver.ensureGuestAddress(spec.vmId, address, soon(fixture()))
    expect(await has()).toBe(true)
    for (const driver of [fixture().driver, fixture().other]) await driver.ensureNoGuestAddress(spec.vmId, address, soon(fixture()))
    expect(await has()).toBe(false)
    await stop(fixture(), spec)
    await expectKind(fixture().driver.ensureGuestAddress(spec.vmId, address, soon(fixture())), 'invalid_state')
    await expectKind(fixture().driver.ensureGuestAddress(unknownId(), address, soon(fixture())), 'not_found')
  })

  test('a guest has the routes that it was given last, until it boots again', async () => {
    const spec = await create(fixture())
    const { gateway } = spec.nics[0]!.ipv4!
    const give = (driver: Driver, ...ranges: string[]) =>
      driver.ensureGuestRoutes(spec.vmId, ranges.length > 0 ? [{ gateway: gateway!, ranges }] : [], soon(fixture()))
    const has = async () => (await fixture().guest.routes(spec.vmId)).sort()
    const via = (...ranges: string[]) => ranges.map((range) => `${range} via ${gateway}`).sort()
    const [near, far, one] = ['10.121.0.0/24', '172.20.0.0/14', '192.168.7.9/32']
    for (const driver of [fixture().driver, fixture().other]) await give(driver, near, one)
    expect(await has()).toEqual(via(near, one))
    await give(fixture().driver, near, far)
    expect(await has()).toEqual(via(near, far))
    for (const driver of [fixture().driver, fixture().other]) await give(driver)
    expect(await has()).toEqual([])
    await give(fixture().driver, near)
    await stop(fixture(), spec)
    await expectKind(give(fixture().driver, near), 'invalid_state')
    await expectKind(fixture().driver.ensureGuestRoutes(unknownId(), [], soon(fixture())), 'not_found')
    await fixture().driver.ensureRunning(spec, soon(fixture()))
    await fixture().driver.ensureReady(spec.vmId, { timeoutMs: fixture().patienceMs }, soon(fixture()))
    expect(await has()).toEqual([])
  })

  test('attaching fails for a machine that does not exist', async () => {
    const nic = fixture().nicIn(await network())
    await expectKind(fixture().driver.ensureInterface(unknownId(), nic, soon(fixture())), 'not_found')
    await fixture().driver.ensureNoInterface(unknownId(), '52:54:00:00:00:01', soon(fixture()))
  })
}
